// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/random_weights.hpp: parameters of the types and shapes that a pipeline's ops ask for, random, and scaled so
// that numbers stay of one magnitude from layer to layer (He and others, 2015).

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/graph/parameter_map.hpp>

namespace example::models {

/// The same numbers for the same seed on every machine.
class random_numbers {
 public:
  explicit random_numbers(std::uint32_t seed) : engine_(seed) {}
  float between(float low, float high) { return low + (high - low) * static_cast<float>(engine_() >> 8) * 0x1p-24f; }

 private:
  std::mt19937 engine_;
};

namespace random_detail {

/// The bounds of the numbers of one parameter, by what it is.
inline std::pair<float, float> bounds_of(const levada::parameter_info& p) {
  if (p.name == "scale") return {0.5f, 1.0f};
  if (p.name == "variance") return {0.5f, 1.5f};
  if (p.name != "weight") return {-0.1f, 0.1f};
  // A variance of 2 / inputs, where relu leaves half of them.
  const float bound = std::sqrt(6.0f * static_cast<float>(p.extents[0]) / static_cast<float>(p.extents.elements()));
  return {-bound, bound};
}

template <class Part, class In>
void add_parameters(levada::parameter_map& to, random_numbers& random) {
  if constexpr (requires { typename Part::op_type; })
    for (const levada::parameter_info& p : Part::op_type::template parameters<levada::detail::op_input_t<In>>) {
      std::vector<float> values(p.extents.elements());
      const auto [low, high] = bounds_of(p);
      for (float& v : values) v = random.between(low, high);
      to.set(std::string(Part::name) + "." + std::string(p.name), p.type, p.extents, values.data());
    }
}

}  // namespace random_detail

/// Sets all parameters, of float, that the ops of `make(weights)` ask for.
template <class Make>
void set_randomly(levada::parameter_map& weights, const Make&, std::uint32_t seed) {
  using flat = levada::detail::flat<std::invoke_result_t<const Make&, const levada::parameter_map&>>;
  random_numbers random(seed);
  [&]<std::size_t... Node>(std::index_sequence<Node...>) {
    (random_detail::add_parameters<typename flat::template node_place<Node>::part,
                                   typename flat::template node_place<Node>::in>(weights, random),
     ...);
  }(std::make_index_sequence<flat::nodes>());
}

/// A tensor of numbers between -1 and 1.
template <class Tensor>
void fill_randomly(Tensor& t, std::uint32_t seed) {
  random_numbers random(seed);
  for (auto& v : t) v = random.between(-1, 1);
}

}  // namespace example::models
