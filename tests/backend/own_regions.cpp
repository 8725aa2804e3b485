// SPDX-License-Identifier: Apache-2.0
// Regions of a user's backend whose ops do not stand in a row: found by a pattern or asked of a predicate, chosen by
// preference or by cost, and computed as one.

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <levada/backend/prepared.hpp>
#include <levada/backend/reference.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/rules.hpp>
#include <levada/run/simulated.hpp>

#include "interpreter.hpp"

namespace lv = levada;

struct signs {
  static constexpr std::string_view name = "signs";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 0;
  static constexpr std::size_t longest_region = 2, most_outputs = 2;

  /// The negative and the absolute value of the same, in one pass.
  static constexpr bool takes(const lv::region_info& region) {
    return region.outputs() == 2 && region[0].kind == "neg" && region[1].kind == "abs" &&
           region[0].from[0] == region[1].from[0] && region.gives().type == lv::element::f32;
  }

  struct ready {
    std::size_t elements;
  };
  static ready prepare(const lv::region_info& region, lv::parameter_values) {
    return {region.gives().extents.elements()};
  }
  static void run(const ready& r, const void* const* inputs, void* const* outputs, std::byte*) {
    const auto* in = static_cast<const float*>(inputs[0]);
    auto *negative = static_cast<float*>(outputs[0]), *absolute = static_cast<float*>(outputs[1]);
    for (std::size_t i = 0; i < r.elements; ++i) {
      negative[i] = -in[i];
      absolute[i] = std::abs(in[i]);
    }
  }

  template <class Region>
  using region_kernel = lv::prepared_region_kernel<signs, Region>;
};

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

struct ends : lv::test::interpreter<ends> {
  static constexpr std::string_view name = "ends";
  static constexpr std::size_t longest_region = 2, most_outputs = 2;
  /// A relu and what is made of it, where that is taken elsewhere, too.
  static constexpr bool takes(const lv::region_info& region) {
    return region.size() == 2 && region.outputs() == 2 && knows(region) && region[0].kind == "relu" &&
           region.producer(1, 0) == 0;
  }
};

/// The same two ops by a kernel of its own.
struct own_kernel {
  static constexpr std::string_view name = "own_kernel";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 0, longest_region = 2, most_outputs = 2;
  static constexpr bool takes(const lv::region_info& region) { return two_outputs_of(region); }
  static constexpr bool two_outputs_of(const lv::region_info& region) {
    return region.size() == 2 && region.outputs() == 2 && region[0].kind == "neg" && region[1].kind == "abs" &&
           region[0].from[0] == region[1].from[0];
  }

  template <class Region>
  struct region_kernel;
};
template <class In, class Neg, class Abs>
struct own_kernel::region_kernel<lv::op_region_of_outputs<lv::type_list<In>, std::index_sequence<0, 1>, Neg, Abs>> {
  using out_type = typename lv::op_region_of_outputs<lv::type_list<In>, std::index_sequence<0, 1>, Neg, Abs>::out_type;
  static constexpr std::size_t scratch_bytes = 0;
  region_kernel(const typename Neg::op_type&, const typename Abs::op_type&, lv::parameter_values) {}
  void operator()(const In& in, out_type& out, std::byte*) const {
    for (std::size_t i = 0; i < In::elements; ++i) {
      out.template at<0>()[i] = -in[i];
      out.template at<1>()[i] = in[i] < 0 ? -in[i] : in[i];
    }
  }
};

struct two_outputs : lv::test::interpreter<two_outputs> {
  static constexpr std::string_view name = "two_outputs";
  static constexpr std::size_t longest_region = 3, most_outputs = 2;
  /// A negative and an absolute value of the same, both of which are taken elsewhere; or of a relu that is its own.
  static constexpr bool takes(const lv::region_info& region) {
    const std::size_t last = region.size() - 1;
    return region.outputs() == 2 && knows(region) && region[last - 1].kind == "neg" && region[last].kind == "abs" &&
           region[last].from[0] == region[last - 1].from[0] &&
           (region.size() == 2 || (region[0].kind == "relu" && region.producer(1, 0) == 0));
  }
};

constexpr lv::roofline fast[] = {
    {"reference", 1e8, 1e9, 0}, {"by_pattern", 1e9, 1e10, 0}, {"two_outputs", 1e9, 1e10, 0}};
constexpr lv::roofline slow[] = {{"reference", 1e8, 1e9, 0}, {"by_pattern", 1e7, 1e8, 0}, {"two_outputs", 1e7, 1e8, 0}};
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

TEST_CASE("a region of two outputs is one unit, and what takes them takes parts of what it gives") {
  const auto app = lv::deploy<box, lv::backends<two_outputs, lv::reference>>(scattered);
  static_assert(decltype(app)::plan.units == 5 && unit_is<decltype(app)>(0, {"neg", "abs"}));
  gives_what_reference_gives(app, scattered);

  constexpr auto behind_its_own = lv::input<item> | lv::nn::abs | lv::nn::relu |
                                  lv::fork(lv::nn::neg | lv::nn::relu, lv::nn::abs | lv::nn::neg) | lv::nn::sub;
  const auto with_relu = lv::deploy<box, lv::backends<two_outputs, lv::reference>>(behind_its_own);
  static_assert(decltype(with_relu)::plan.units == 5 && unit_is<decltype(with_relu)>(1, {"relu", "neg", "abs"}));
  gives_what_reference_gives(with_relu, behind_its_own);
}

TEST_CASE("an output is taken inside its region, too") {
  constexpr auto taken_twice =
      lv::input<item> | lv::nn::neg | lv::nn::relu | lv::fork(lv::nn::abs, lv::nn::neg) | lv::nn::sub;
  const auto app = lv::deploy<box, lv::backends<ends, lv::reference>>(taken_twice);
  static_assert(decltype(app)::plan.units == 4 && unit_is<decltype(app)>(1, {"relu", "abs"}));
  gives_what_reference_gives(app, taken_twice);
}

TEST_CASE("a kernel writes each output") {
  const auto by_values = lv::deploy<box, lv::backends<signs, lv::reference>>(scattered);
  static_assert(decltype(by_values)::plan.units == 5 && unit_is<decltype(by_values)>(0, {"neg", "abs"}));
  gives_what_reference_gives(by_values, scattered);
  const auto app = lv::deploy<box, lv::backends<own_kernel, lv::reference>>(scattered);
  static_assert(decltype(app)::plan.units == 5 && unit_is<decltype(app)>(0, {"neg", "abs"}));
  gives_what_reference_gives(app, scattered);
}

TEST_CASE("a region of two outputs is chosen by its cost, and its outputs go where they are taken") {
  using both = lv::backends<lv::reference, two_outputs>;
  const auto taken = lv::deploy<box, both, lv::costs<fast_patterns>>(scattered);
  static_assert(decltype(taken)::plan.units == 5);
  gives_what_reference_gives(taken, scattered);
  const auto left = lv::deploy<box, both, lv::costs<slow_patterns>>(scattered);
  static_assert(decltype(left)::plan.units == 6);
  gives_what_reference_gives(left, scattered);

  using with_device = lv::target<lv::cpu<2>, lv::simulated<0>>;
  constexpr auto on_device =
      lv::input<item> | lv::nn::relu |
      lv::fork(lv::on<lv::simulated<0>>(lv::nn::neg) | lv::nn::relu, lv::on<lv::simulated<0>>(lv::nn::abs)) |
      lv::nn::sub;
  const auto moved = lv::deploy<with_device, lv::backends<two_outputs, lv::reference>>(on_device);
  static_assert(decltype(moved)::plan.units == 4 && unit_is<decltype(moved)>(1, {"neg", "abs"}));
  static_assert(decltype(moved)::plan.segments == 3);
  gives_what_reference_gives(moved, on_device);
}
