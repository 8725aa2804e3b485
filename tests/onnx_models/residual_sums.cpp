// SPDX-License-Identifier: Apache-2.0
// Networks with residuals, as onnx_to_levada writes them: every sum is in the epilogue of a convolution, and an item
// takes no more memory than where chains alone are units.

#if __has_include(<blazeface_front.onnx.hpp>) && __has_include(<blazeface_back.onnx.hpp>)
#define LEVADA_HAS_BLAZEFACE 1
#include <blazeface_back.onnx.hpp>
#include <blazeface_front.onnx.hpp>
#else
#define LEVADA_HAS_BLAZEFACE 0
#endif
#include <mobilenet_v2.onnx.hpp>

#include <cstddef>
#include <utility>

#include <doctest/doctest.h>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/plan/arena.hpp>

#include "plan/simd_of_chains.hpp"

namespace lv = levada;

namespace {

using box = lv::target<lv::cpu<2>>;
using few = lv::slots<4>;
using weights = const lv::parameter_map&;

/// How many units there would be if none had two convolutions, which depends on the instruction set; and how many of
/// the sums are behind a convolution in its unit, or elsewhere.
struct census {
  std::size_t units = 0, in_epilogues = 0, elsewhere = 0;

  friend constexpr bool operator==(const census&, const census&) = default;
};

template <std::size_t N>
constexpr census census_of(const lv::plan_info<N>& plan) {
  census all{.units = plan.units};
  for (const lv::planned_unit& unit : plan.unit) {
    std::size_t convolutions = 0;
    for (std::size_t n = unit.first; n < unit.first + unit.count; ++n) {
      const lv::node_info& node = plan.graph.nodes[n];
      if (node.kind == "conv2d") ++convolutions;
      if (node.kind == "add") ++(convolutions != 0 ? all.in_epilogues : all.elsewhere);
    }
    if (convolutions > 1) all.units += convolutions - 1;
  }
  return all;
}

template <class Graph, class... Options>
constexpr const auto& plan_of = lv::detail::planned<lv::detail::flat<Graph>, box, few, Options...>::plan;

/// Its values, and all of the memory of its run.
template <class Graph>
constexpr bool takes_no_more_than_chains() {
  constexpr const auto& regions = plan_of<Graph>;
  constexpr const auto& chains = plan_of<Graph, lv::backends<lv::testing::simd_of_chains>>;
  static_assert(regions.units < chains.units && census_of(chains).in_epilogues == 0);
  return lv::arena_size(regions) <= lv::arena_size(chains) && regions.bytes_total <= chains.bytes_total;
}

}  // namespace

TEST_CASE("MobileNet-V2: ten sums") {
  using network = decltype(mobilenet_v2::graph(std::declval<weights>()));
  static_assert(census_of(plan_of<network>) == census{.units = 55, .in_epilogues = 10});
  static_assert(takes_no_more_than_chains<network>());
}

TEST_CASE("BlazeFace: sixteen and thirty-one sums") {
#if LEVADA_HAS_BLAZEFACE
  using front = decltype(blazeface_front::graph(std::declval<weights>()));
  static_assert(census_of(plan_of<front>) == census{.units = 60, .in_epilogues = 16});
  static_assert(takes_no_more_than_chains<front>());
  using back = decltype(blazeface_back::graph(std::declval<weights>()));
  static_assert(census_of(plan_of<back>) == census{.units = 83, .in_epilogues = 31});
  static_assert(takes_no_more_than_chains<back>());
#else
  MESSAGE("not tested: its networks are not here, which ./run fetches by npm");
#endif
}
