// SPDX-License-Identifier: Apache-2.0
// The arenas of the example models, of the sizes in their papers: at most a tenth more than what is alive together, and
// not more where regions are units than where chains alone are.

#include <doctest/doctest.h>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/plan/arena.hpp>

#include "../../examples/models/mobilenet_v1.hpp"
#include "../../examples/models/resnet18.hpp"
#include "../../examples/models/squeezenet.hpp"
#include "plan/simd_of_chains.hpp"

namespace lv = levada;

namespace {

namespace models = example::models;

using box = lv::target<lv::cpu<2>>;
using weights = const lv::parameter_map&;

/// In the scratchpad where many slots wait for few that are at work; where few slots hold all values, in the slot.
template <class Model>
constexpr bool lies_tight() {
  constexpr const auto& many = lv::detail::planned<lv::detail::flat<Model>, box>::plan;
  constexpr const auto& few = lv::detail::planned<lv::detail::flat<Model>, box, lv::slots<4>>::plan;
  static_assert(many.segments == 1 && !many.segment[0].in_slots && few.segment[0].in_slots);
  return 10 * (many.segment[0].item_bytes + many.segment[0].kernel_offset) <= 11 * lv::scratchpad_bound(many, 0) &&
         10 * lv::arena_size(few) <= 11 * lv::arena_bound(few);
}

}  // namespace

TEST_CASE("ResNet-18 is its convolutions, the first pool and the head, in the memory of the plan by chains") {
  using model = lv::detail::flat<decltype(models::resnet18(std::declval<weights>()))>;
  constexpr const auto& regions = lv::detail::planned<model, box, lv::slots<4>>::plan;
  using of_chains = lv::backends<lv::testing::simd_of_chains>;
  constexpr const auto& chains = lv::detail::planned<model, box, lv::slots<4>, of_chains>::plan;
  static_assert(regions.units == 22 && chains.units == 38);
  static_assert(lv::arena_size(regions) <= lv::arena_size(chains));
}

TEST_CASE("the values of one picture lie as tight as they can, or a tenth less so") {
  static_assert(lies_tight<decltype(models::resnet18(std::declval<weights>()))>());
  static_assert(lies_tight<decltype(models::mobilenet_v1(std::declval<weights>()))>());
  static_assert(lies_tight<decltype(models::squeezenet(std::declval<weights>()))>());
}
