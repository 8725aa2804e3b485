// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/numbers_by_name.hpp: weights of any pipeline, and items of it, for tests that compare its results.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/levada.hpp>

namespace levada::testing {

/// Numbers between -1 and 1, the same for the same name: weights of any stage without a list of them.
class numbers_by_name {
 public:
  std::optional<stored_tensor> find(std::string_view name) const {
    const shape* const extents = shape_of(name);
    if (extents == nullptr) return std::nullopt;
    auto& values = values_[std::string(name)];
    if (values.empty()) {
      std::minstd_rand random(static_cast<unsigned>(std::hash<std::string_view>{}(name)));
      values.resize(extents->elements());
      const float scale = name.ends_with("weight") && extents->rank > 1 ? 0.3f : 0.5f;
      for (float& v : values) v = scale * (static_cast<float>(random()) * 0x1p-30f - 1);
      if (name.ends_with("running_var"))
        for (float& v : values) v = 1 + v;
    }
    return stored_tensor{element::f32, *extents, reinterpret_cast<const std::byte*>(values.data())};
  }
  void set(std::string name, shape extents) { shapes_.insert_or_assign(std::move(name), extents); }

 private:
  const shape* shape_of(std::string_view name) const {
    const auto at = shapes_.find(std::string(name));
    return at == shapes_.end() ? nullptr : &at->second;
  }
  std::map<std::string, shape> shapes_;
  mutable std::map<std::string, std::vector<float>> values_;
};

/// All parameters that the ops of a pipeline ask for, by the names that they are asked by first.
template <class Pipeline>
void set_all(numbers_by_name& to, const Pipeline&) {
  using flat = detail::flat<Pipeline>;
  [&]<std::size_t... Node>(std::index_sequence<Node...>) {
    const auto add = [&]<class Place>(type_tag<Place>) {
      if constexpr (requires { typename Place::part::op_type; })
        for (const parameter_info& p :
             Place::part::op_type::template parameters<detail::op_input_t<typename Place::in>>)
          to.set(std::string(Place::part::name) + "." + std::string(p.name), p.extents);
    };
    (add(type_tag<typename flat::template node_place<Node>>{}), ...);
  }(std::make_index_sequence<flat::nodes>());
}

template <class T>
std::unique_ptr<T> random_item(unsigned seed) {
  auto item = std::make_unique<T>();
  std::minstd_rand random(seed);
  for (float& v : *item) v = 2 * (static_cast<float>(random()) * 0x1p-30f - 1);
  return item;
}

}  // namespace levada::testing
