// SPDX-License-Identifier: Apache-2.0
// The cases of Collage's table (TVM RFC 62; plan/search.cpp has their covers as values) as deployments of types: two
// backends of a user's own, one of which takes all ops and the other relu and add; the more ops a kernel has, the less
// it costs. The units are the published partition, and results are those of `reference`.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include <levada/backend/detail/chain_region.hpp>
#include <levada/backend/reference.hpp>
#include <levada/backend/reference/ops.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>
#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>

#include <backend/interpreter.hpp>

namespace run_collage_cases {

namespace lv = levada;

using item = lv::tensor<float, 5>;

/// Runs of a backend that is asked of regions.
template <class Backend, class In, class... Ops>
struct chain_kernel;
template <class Backend, class In, class First, class... Rest>
  requires lv::detail::all_tensors<In> && lv::detail::run_takes<In, First, Rest...> &&
           (Backend::takes(
               lv::region_info(lv::detail::infos_of_region<lv::detail::chain_region_t<In, First, Rest...>>::value)))
struct chain_kernel<Backend, In, First, Rest...>
    : lv::prepared_region_kernel<Backend, lv::detail::chain_region_t<In, First, Rest...>> {
  using lv::prepared_region_kernel<Backend, lv::detail::chain_region_t<In, First, Rest...>>::prepared_region_kernel;
};

/// L takes every op, H relu and add: all regions whose longest path has at most `Depth` ops.
template <bool Everything, std::size_t Depth>
struct collage : lv::test::interpreter<collage<Everything, Depth>> {
  static constexpr std::string_view name = Everything ? "L" : "H";
  static constexpr std::size_t longest_run = Depth, longest_region = 4;

  static constexpr bool takes(const lv::region_info& region) {
    if (!collage::knows(region)) return false;
    std::array<std::size_t, 16> depth{};
    for (std::size_t op = 0; op < region.size(); ++op) {
      if (!Everything && region[op].kind != "relu" && region[op].kind != "add") return false;
      for (std::size_t k = 0; k < region[op].from.size(); ++k)
        if (const std::size_t from = region.producer(op, k); from != lv::region_info::outside)
          depth[op] = std::max(depth[op], depth[from]);
      if (++depth[op] > Depth) return false;
    }
    return true;
  }
  template <class In, class... Ops>
  using kernel = chain_kernel<collage, In, Ops...>;
};
template <std::size_t Depth>
using low = collage<true, Depth>;
template <std::size_t Depth>
using high = collage<false, Depth>;
constexpr std::size_t L = 0, H = 1;

/// Seconds of an op of each; n as one take 1, 1.9, 2.71, ... times that.
template <int OfL, int OfH>
struct table {
  static constexpr lv::kernel_cost kernels[] = {
      {"L", "relu(float[5]) -> float[5], 5 FLOP", OfL},
      {"H", "relu(float[5]) -> float[5], 5 FLOP", OfH},
      {"L", "abs(float[5]) -> float[5], 5 FLOP", OfL},
      {"L", "add(float[5], float[5]) -> float[5], 5 FLOP", OfL},
      {"H", "add(float[5], float[5]) -> float[5], 5 FLOP", OfH},
      {"L", "relu(float[5]) -> float[5], 5 FLOP + relu(float[5]) -> float[5], 5 FLOP", 1.9 * OfL},
      {"H", "relu(float[5]) -> float[5], 5 FLOP + relu(float[5]) -> float[5], 5 FLOP", 1.9 * OfH},
      {"L",
       "relu(float[5]) -> float[5], 5 FLOP + relu(float[5]) -> float[5], 5 FLOP + relu(float[5]) -> float[5], 5 FLOP",
       2.71 * OfL},
      {"H", "relu(float[5]) -> float[5], 5 FLOP + add(float[5], #1) -> float[5], 5 FLOP", 1.9 * OfH}};
  static constexpr lv::cost_table costs{.machine = "Collage's", .kernels = kernels};
};

struct expected_unit {
  std::size_t first, count, backend;
};
template <class Plan>
constexpr bool has_units(const Plan& plan, std::initializer_list<expected_unit> expected) {
  if (plan.units != expected.size()) return false;
  std::size_t u = 0;
  for (const expected_unit& e : expected) {
    const auto& unit = plan.unit[u++];
    if (unit.first != e.first || unit.count != e.count || unit.backend != e.backend) return false;
  }
  return true;
}

template <class Costs, std::size_t DepthOfL, std::size_t DepthOfH, class Pipeline>
auto deployed(const Pipeline& pipeline) {
  return lv::deploy<lv::target<lv::cpu<2>>, lv::backends<low<DepthOfL>, high<DepthOfH>>, lv::costs<Costs::costs>>(
      pipeline);
}

constexpr item given{-2, -0.5f, 0, 1, 3};
/// As `reference` has it.
template <class App, class Pipeline>
void gives_the_same(const App& app, const Pipeline& pipeline) {
  const auto expected = lv::deploy<lv::target<lv::cpu<2>>, lv::backends<lv::reference>>(pipeline);
  const auto got = app(given), wanted = expected(given);
  if constexpr (lv::any_tensor<std::remove_cvref_t<decltype(got)>>)
    CHECK(got == wanted);
  else
    CHECK((got.template at<0>() == wanted.template at<0>() && got.template at<1>() == wanted.template at<1>() &&
           got.template at<2>() == wanted.template at<2>()));
}

TEST_CASE("Collage: one op goes to the cheaper backend") {
  const auto relu = lv::input<item> | lv::nn::relu;
  static_assert(has_units(decltype(deployed<table<1, 2>, 8, 8>(relu))::plan, {{0, 1, L}}));
  static_assert(has_units(decltype(deployed<table<2, 1>, 8, 8>(relu))::plan, {{0, 1, H}}));
  gives_the_same(deployed<table<2, 1>, 8, 8>(relu), relu);
}

TEST_CASE("Collage: of a diamond the backends compute what each can, and two ops as one where that may be") {
  const auto diamond = lv::input<item> | lv::nn::relu | lv::fork(lv::nn::abs, lv::nn::relu) | lv::nn::add;
  const auto one_by_one = deployed<table<2, 1>, 1, 1>(diamond);
  static_assert(has_units(one_by_one.plan, {{0, 1, H}, {1, 1, L}, {2, 1, H}, {3, 1, H}}));
  gives_the_same(one_by_one, diamond);
  const auto joined = deployed<table<2, 1>, 1, 3>(diamond);
  static_assert(has_units(joined.plan, {{0, 1, H}, {1, 1, L}, {2, 2, H}}));
  gives_the_same(joined, diamond);
}

TEST_CASE("Collage: of three in a line the longest run that its backend may take as one is the cheapest") {
  const auto three = lv::input<item> | lv::nn::relu | lv::nn::relu | lv::nn::relu;
  static_assert(has_units(decltype(deployed<table<100, 99>, 1, 1>(three))::plan, {{0, 1, H}, {1, 1, H}, {2, 1, H}}));
  const auto two = deployed<table<100, 99>, 2, 1>(three);
  static_assert(has_units(two.plan, {{0, 1, H}, {1, 2, L}}));
  gives_the_same(two, three);
  static_assert(has_units(decltype(deployed<table<100, 99>, 3, 1>(three))::plan, {{0, 3, L}}));
  static_assert(has_units(decltype(deployed<table<99, 100>, 1, 2>(three))::plan, {{0, 1, L}, {1, 2, H}}));
}

TEST_CASE("Collage: what each op gives is a result, too") {
  const auto outputs = lv::input<item> | lv::graph(lv::port<"in", item>, lv::node<"a", "in">(lv::nn::relu),
                                                   lv::node<"b", "a">(lv::nn::relu), lv::node<"c", "b">(lv::nn::abs),
                                                   lv::output<"x", "a">, lv::output<"y", "b">, lv::output<"z", "c">);
  const auto app = deployed<table<2, 1>, 2, 2>(outputs);
  static_assert(has_units(app.plan, {{0, 1, H}, {1, 1, H}, {2, 1, L}}));
  gives_the_same(app, outputs);
}

}  // namespace run_collage_cases
