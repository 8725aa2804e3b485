// SPDX-License-Identifier: Apache-2.0
// Regions of a user's backend whose ops do not stand in a row: found by a pattern or asked of a predicate, chosen by
// preference or by cost, and computed as one.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <levada/backend/reference.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/rules.hpp>
#include <levada/run/simulated.hpp>

#include "interpreter.hpp"

namespace lv = levada;

namespace {

using box = lv::target<lv::cpu<2>>;
using item = lv::tensor<float, 6>;

item some_item(unsigned seed = 0) {
  item in;
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(static_cast<int>((i * 7 + seed * 5) % 11)) / 4 - 1.25f;
  return in;
}

/// The app gives what the pipeline gives by `reference`, called and streamed.
template <class App, class Pipeline>
void gives_what_reference_gives(const App& app, const Pipeline& pipeline) {
  const auto expected = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>, lv::backends<lv::reference>>(pipeline);
  std::vector<item> items;
  for (unsigned i = 0; i < 20; ++i) items.push_back(some_item(i));
  std::size_t next = 0;
  for (auto&& r : app.stream(items)) CHECK(r.value() == expected(items[next++]));
  CHECK(next == items.size());
  CHECK(app(items[3]) == expected(items[3]));
}

/// The kinds of the ops of a unit, in the order in which they run.
template <class App>
constexpr bool unit_is(std::size_t unit, std::initializer_list<std::string_view> kinds) {
  const auto& plan = App::plan;
  if (unit >= plan.unit.size() || plan.unit[unit].count != kinds.size()) return false;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (plan.graph.nodes[plan.unit[unit].first + i].kind != kinds.begin()[i]) return false;
  return true;
}

struct by_pattern : lv::test::interpreter<by_pattern> {
  static constexpr std::string_view name = "by_pattern";
  /// A difference, with the negative from which something is taken: no other order of the two.
  static constexpr auto rules = lv::matching(lv::is("sub")(lv::is("neg"), lv::anything));
  static constexpr bool takes(const lv::region_info& region) { return knows(region); }
};

struct by_predicate : lv::test::interpreter<by_predicate> {
  static constexpr std::string_view name = "by_predicate";
  static constexpr std::size_t longest_region = 4;
  /// x -> (neg, abs) -> product.
  static constexpr bool takes(const lv::region_info& region) {
    return region.size() == 3 && region[0].kind == "neg" && region[1].kind == "abs" && region[2].kind == "mul" &&
           region[0].from[0] == region[1].from[0] && region.operands_from(2, 0) == 1 && region.operands_from(2, 1) == 1;
  }
};

/// The region {neg, sub} is written around two other ops.
constexpr auto around_others =
    lv::input<item> | lv::nn::relu | lv::fork(lv::nn::neg, lv::nn::abs | lv::nn::relu) | lv::nn::sub | lv::nn::abs;

/// neg, abs and mul with others between each two of them.
constexpr auto scattered =
    lv::input<item> | lv::graph(lv::port<"in", item>, lv::node<"a", "in">(lv::nn::neg),
                                lv::node<"b", "in">(lv::nn::relu), lv::node<"c", "in">(lv::nn::abs),
                                lv::node<"d", "b", "in">(lv::nn::add), lv::node<"e", "a", "c">(lv::nn::mul),
                                lv::node<"f", "d", "e">(lv::nn::sub), lv::output<"out", "f">);

constexpr lv::roofline fast[] = {{"reference", 1e8, 1e9, 0}, {"by_pattern", 1e9, 1e10, 0}};
constexpr lv::roofline slow[] = {{"reference", 1e8, 1e9, 0}, {"by_pattern", 1e7, 1e8, 0}};
constexpr lv::cost_table fast_patterns{.machine = "nobody measured", .rooflines = fast};
constexpr lv::cost_table slow_patterns{.machine = "nobody measured", .rooflines = slow};

}  // namespace

TEST_CASE("a pattern finds a region whose ops have others between them") {
  const auto app = lv::deploy<box, lv::backends<by_pattern, lv::reference>>(around_others);
  static_assert(decltype(app)::plan.units == 5 && unit_is<decltype(app)>(3, {"neg", "sub"}));
  gives_what_reference_gives(app, around_others);
}

TEST_CASE("a predicate is asked of regions wherever their ops stand") {
  const auto app = lv::deploy<box, lv::backends<by_predicate, lv::reference>>(scattered);
  static_assert(decltype(app)::plan.units == 4 && unit_is<decltype(app)>(0, {"neg", "abs", "mul"}));
  gives_what_reference_gives(app, scattered);
  const auto later = lv::deploy<box, lv::backends<lv::reference, by_predicate>>(scattered);
  static_assert(decltype(later)::plan.units == 6, "who is named first has all ops");
  gives_what_reference_gives(later, scattered);
}

TEST_CASE("a region whose ops have others between them is chosen by its cost") {
  using both = lv::backends<lv::reference, by_pattern>;
  const auto taken = lv::deploy<box, both, lv::costs<fast_patterns>>(around_others);
  static_assert(decltype(taken)::plan.units == 5 && unit_is<decltype(taken)>(3, {"neg", "sub"}));
  gives_what_reference_gives(taken, around_others);
  const auto left = lv::deploy<box, both, lv::costs<slow_patterns>>(around_others);
  static_assert(decltype(left)::plan.units == 6 && unit_is<decltype(left)>(1, {"neg"}));
  gives_what_reference_gives(left, around_others);
  const auto streamed = lv::deploy<box, both, lv::costs<fast_patterns, lv::objective::throughput>>(around_others);
  static_assert(decltype(streamed)::plan.units == 5);
}

TEST_CASE("callables keep their order, and who changes an item comes behind all that take it") {
  std::vector<std::string> called;
  const auto note = [&called](const char* name) {
    return [&called, name](const item& in) {
      called.push_back(name);
      return in;
    };
  };
  const auto pipeline = lv::input<item> | lv::nn::relu |
                        lv::fork(lv::nn::neg | lv::identity, lv::stage<"first">(note("first")) | lv::nn::abs,
                                 lv::stage<"second">(note("second"))) |
                        lv::join<"both">([](const item& a, const item& b, const item& c) {
                          item sum;
                          for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i] + c[i];
                          return sum;
                        }) |
                        lv::fork(lv::nn::neg, lv::nn::abs | lv::nn::relu) | lv::nn::sub;
  const auto app = lv::deploy<box, lv::backends<by_pattern, lv::reference>>(pipeline);
  static_assert(unit_is<decltype(app)>(8, {"neg", "sub"}));
  CHECK(app(some_item()) == lv::deploy<box, lv::backends<lv::reference>>(pipeline)(some_item()));
  CHECK(called == std::vector<std::string>{"first", "second", "first", "second"});
}

TEST_CASE("a region whose ops have others between them runs on a device") {
  using with_device = lv::target<lv::simulated<0>, lv::cpu<2>>;
  const auto app = lv::deploy<with_device, lv::backends<by_pattern, lv::reference>>(around_others);
  static_assert(decltype(app)::plan.units == 5 && unit_is<decltype(app)>(3, {"neg", "sub"}));
  gives_what_reference_gives(app, around_others);
}
