// SPDX-License-Identifier: Apache-2.0
#pragma once
// placement/models.hpp: a network with random weights and items for it, and the backends that it may be spread over.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/backend/eigen.hpp>
#include <levada/backend/onednn.hpp>
#include <levada/backend/spirv/ops.hpp>
#include <levada/levada.hpp>

#include "../../examples/models/random_weights.hpp"

namespace placement {

namespace lv = levada;

/// One worker: what is compared is what an item takes.
using box = lv::target<lv::cpu<1>, lv::vulkan<0>>;
/// Costs that cannot be told apart go to the first.
using all_backends = lv::backends<lv::simd, lv::onednn, lv::eigen, lv::spirv>;

/// `make(weights)` is the pipeline.
template <class Make>
class model {
 public:
  using pipeline_type = decltype(std::declval<Make>()(std::declval<const lv::parameter_map&>()));
  using item = typename lv::detail::pipeline_types<lv::detail::flat<pipeline_type>>::input_item;

  explicit model(Make make) : make_(make) { example::models::set_randomly(weights_, make_, 2026); }

  auto pipeline() const { return make_(weights_); }

  static std::vector<item> samples() {
    std::vector<item> items(2);
    std::uint32_t n = 0;
    for (item& i : items)
      if constexpr (std::is_integral_v<typename item::value_type>)
        for (auto& v : i) v = static_cast<typename item::value_type>(n++ * 37 % 251);
      else
        example::models::fill_randomly(i, ++n);
    return items;
  }

 private:
  Make make_;
  lv::parameter_map weights_;
};

}  // namespace placement
