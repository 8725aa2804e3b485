// SPDX-License-Identifier: Apache-2.0
// Values in each other's memory: small graphs worked out by hand. Any graph: plan.cpp, with plan_checker.hpp.

#include <doctest/doctest.h>

#include <levada/plan/arena.hpp>
#include <levada/plan/detail/plan.hpp>

#include "plan_checker.hpp"
#include "random_graph.hpp"

namespace lv = levada;
using lv::form, lv::placement, lv::reuse;

namespace {

/// A graph of ops on floats that is written node by node.
struct written_graph {
  lv::graph_info<8> info;

  constexpr explicit written_graph(std::size_t floats) { add_value(floats, lv::value_info::nobody); }

  /// A node that takes these values; gives the one it makes.
  constexpr std::size_t op(std::size_t floats, reuse how, std::initializer_list<std::size_t> from,
                           std::size_t view_floats = 0) {
    lv::node_info node;
    node.name = "op";
    node.how = form::op;
    node.reuses = how;
    node.view_offset = 4 * view_floats;
    node.in = *from.begin();
    for (auto more = from.begin() + 1; more != from.end(); ++more)
      node.more.push_back(static_cast<std::uint16_t>(*more));
    return give(node, floats);
  }
  constexpr std::size_t change(std::size_t from) {
    lv::node_info node;
    node.name = "stage";
    node.how = form::in_place;
    node.in = from;
    return give(node, info.values[from].bytes / 4);
  }

  constexpr auto plan(std::size_t slots = 64, std::size_t l2_bytes = 1 << 20) const {
    const lv::device_info devices[] = {{lv::cpu<2>::id, 2, 32 << 10, l2_bytes}};
    constexpr lv::backend_info backends[] = {{"simd"}};
    lv::bounded<lv::candidate, 8> each;
    for (std::size_t n = 0; n < info.nodes.size(); ++n)
      if (is_op(info.nodes[n])) each.push_back({n, 1, 0, 0, 0});
    const std::span<const lv::candidate> candidates(each.data(), each.size());
    return lv::make_plan(info, lv::choose_partition(info, std::span(devices), candidates, std::span(backends)), {slots},
                         devices, candidates, backends);
  }

 private:
  constexpr void add_value(std::size_t floats, std::size_t producer) {
    const std::size_t bytes = (4 * floats + 63) / 64 * 64;
    info.values.push_back({bytes, 64, lv::element::f32, lv::shape(floats), true, producer});
  }
  constexpr std::size_t give(lv::node_info& node, std::size_t floats) {
    add_value(floats, info.nodes.size());
    node.out = info.result = info.values.size() - 1;
    info.nodes.push_back(node);
    return node.out;
  }
};

// ---- a residual block: the sum lies where the body's output does, relu there too ----
constexpr auto residual = [] {
  written_graph g(16);
  const auto x = g.op(64, reuse::none, {0}), a = g.op(64, reuse::none, {x}), b = g.op(64, reuse::none, {a});
  const auto sum = g.op(64, reuse::in_place, {b, x}), relu = g.op(64, reuse::in_place, {sum});
  g.op(16, reuse::none, {relu});
  return g.plan();
}();
static_assert(residual.value[4].storage == 3 && residual.value[5].storage == 3);
static_assert(residual.segment[0].item_bytes == 3 * 256, "what comes in, and both of the body");
static_assert(lv::scratchpad_bound(residual, 0) == 3 * 256);

// ---- an input that somebody takes later stays; the other one gives its place, if of the same size ----
constexpr auto later = [] {
  written_graph g(64);
  const auto a = g.op(64, reuse::none, {0}), b = g.op(64, reuse::none, {0});
  const auto sum = g.op(64, reuse::in_place, {a, b});
  const auto both = g.op(64, reuse::in_place, {a, sum});
  g.op(16, reuse::none, {both});
  return g.plan();
}();
static_assert(later.value[3].storage == 2, "a is taken again");
static_assert(later.value[4].storage == 1, "and then no more");
constexpr auto smaller = [] {
  written_graph g(64);
  const auto a = g.op(16, reuse::none, {0});
  const auto sum = g.op(64, reuse::in_place, {a, 0});
  g.op(16, reuse::none, {sum});
  return g.plan();
}();
static_assert(smaller.value[2].storage == 2, "one is smaller, the other is the caller's");

// ---- concatenated where they are made, whatever works on them in place ----
constexpr auto joined = [] {
  written_graph g(64);
  const auto s = g.op(32, reuse::none, {0}), a = g.op(16, reuse::none, {s}), b = g.op(48, reuse::none, {s});
  const auto relu = g.op(48, reuse::in_place, {b});
  const auto all = g.op(64, reuse::joins, {a, relu});
  g.op(16, reuse::none, {all});
  return g.plan();
}();
static_assert(joined.value[2].storage == 5 && joined.value[2].within == 0);
static_assert(joined.value[3].storage == 5 && joined.value[3].within == 64 && joined.value[4].within == 64);
static_assert(joined.value[3].offset == joined.value[5].offset + 64);
static_assert(joined.segment[0].item_bytes == 128 + 256 && lv::scratchpad_bound(joined, 0) == 128 + 256);
static_assert(joined.value[5].first == 2, "there from the first of them on");
// What a stage changes is joined as well.
constexpr auto changed_part = [] {
  written_graph g(64);
  const auto a = g.op(16, reuse::none, {0}), b = g.op(16, reuse::none, {0});
  const auto all = g.op(32, reuse::joins, {a, g.change(b)});
  g.op(16, reuse::none, {all});
  return g.plan();
}();
static_assert(changed_part.value[1].storage == 4 && changed_part.value[2].within == 64 &&
              changed_part.value[3].within == 64);
// In a concatenation of concatenations all lie in the last; what two of them take lies in one and is copied into the
// other.
constexpr auto nested = [] {
  written_graph g(16);
  const auto a = g.op(16, reuse::none, {0}), b = g.op(16, reuse::none, {0});
  const auto ab = g.op(32, reuse::joins, {a, b}), abab = g.op(64, reuse::joins, {ab, ab});
  g.op(16, reuse::none, {abab, a});
  return g.plan();
}();
static_assert(nested.value[1].storage == 4 && nested.value[2].within == 64 && nested.value[3].storage == 4);
// Neighbours of a part that begins in the middle of a cache line would write over it.
constexpr auto unaligned = [] {
  written_graph g(16);
  const auto a = g.op(10, reuse::none, {0}), b = g.op(16, reuse::none, {0});
  g.op(16, reuse::none, {g.op(26, reuse::joins, {a, b})});
  return g.plan();
}();
static_assert(unaligned.value[1].storage == 1 && unaligned.value[2].storage == 2);

// One of them is made long before: the others would keep their place while larger values need it.
constexpr auto skipping = [] {
  written_graph g(64);
  const auto early = g.op(16, reuse::none, {0}), a = g.op(256, reuse::none, {early}), b = g.op(256, reuse::none, {a});
  const auto late = g.op(112, reuse::none, {b});
  g.op(16, reuse::none, {g.op(128, reuse::joins, {early, late})});
  return g.plan();
}();
static_assert(skipping.value[1].storage == 1 && skipping.value[4].storage == 4);
static_assert(skipping.segment[0].item_bytes == 64 + 2 * 1024);

// ---- views ----
constexpr auto views = [] {
  written_graph g(64);
  const auto a = g.op(64, reuse::none, {0});
  const auto flat = g.op(64, reuse::view, {a}), back = g.op(32, reuse::view, {flat}, 32);
  const auto odd = g.op(16, reuse::view, {flat}, 8);
  g.op(16, reuse::none, {back, odd, flat});
  return g.plan();
}();
static_assert(views.value[2].storage == 1 && views.value[3].storage == 1 && views.value[3].within == 128);
static_assert(views.value[4].storage == 4, "it would begin in the middle of a cache line");
constexpr auto changed_view = [] {
  written_graph g(64);
  const auto a = g.op(64, reuse::none, {0});
  const auto flat = g.op(64, reuse::view, {a}), changed = g.change(flat);
  g.op(16, reuse::none, {a, changed});
  return g.plan();
}();
static_assert(changed_view.value[2].storage == 2 && changed_view.value[3].storage == 2,
              "a stage changes the view only");

// What a stage makes of the result in place lies where the result does: in the caller's memory, if it gives some.
constexpr auto changed_result = [] {
  written_graph g(64);
  const auto a = g.op(64, reuse::none, {0}), half = g.op(32, reuse::view, {a}, 32);
  g.change(half);
  return g.plan();
}();
static_assert(changed_result.value[2].storage == 2 && changed_result.value[3].storage == 2);

// ---- the pipeline's input is the caller's, its result in the slot; few slots hold all values of large items ----
constexpr auto in_slots = [](std::size_t slots, std::size_t l2_bytes = 512) {
  written_graph g(64);
  const auto view = g.op(64, reuse::view, {0}), a = g.op(64, reuse::none, {view});
  g.op(64, reuse::in_place, {a});
  return g.plan(slots, l2_bytes);
};
static_assert(in_slots(64).value[1].storage == 1 && in_slots(64).value[3].storage == 3 &&
              in_slots(64).slot_bytes == 256);
static_assert(in_slots(4).value[1].storage == 1 && in_slots(4).value[3].storage == 3 && in_slots(4).slot_bytes == 512);
static_assert(in_slots(4).segment[0].in_slots && in_slots(4).bytes_scratch == 0 &&
              in_slots(4).value[2].where == placement::slot);
static_assert(!in_slots(4, 1026).segment[0].in_slots && in_slots(4, 1026).bytes_scratch != 0,
              "what fits in the cache stays there");
constexpr auto no_less = [] {
  written_graph g(64);
  const auto a = g.op(64, reuse::none, {0}), b = g.op(64, reuse::none, {a});
  const auto sum = g.op(64, reuse::in_place, {b, 0});
  g.op(64, reuse::none, {sum});
  return g.plan(4, 512);
}();
static_assert(!no_less.segment[0].in_slots && lv::arena_size(no_less) == lv::arena_bound(no_less));
static_assert(lv::arena_size(in_slots(4)) == 512 && lv::arena_bound(in_slots(4)) == 512);

}  // namespace

TEST_CASE("the shared buffers worked out by hand lose no value") {
  for (const auto& plan : {residual, later, smaller, joined, changed_part, nested, skipping, unaligned, views,
                           changed_view, changed_result, in_slots(64), in_slots(4), in_slots(1)})
    CHECK(lv::test::first_fault(plan) == "");
}

TEST_CASE("random graphs share in every way, in scratchpads and in slots, beside branches that run at once") {
  std::size_t in_place = 0, pieces = 0, parts = 0, slots_shared = 0, at_once = 0, shared_at_once = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const auto plan = lv::test::make_random_deployment(seed).plan();
    for (const lv::planned_fork& f : plan.fork) at_once += f.order == lv::branch_order::at_once ? 1 : 0;
    for (std::size_t u = 0; u < plan.units; ++u) {
      const lv::planned_unit& unit = plan.unit[u];
      if (unit.how != form::op) continue;
      const auto shares = [&](std::size_t v) { return plan.value[v].storage == plan.value[unit.out].storage; };
      bool some = false;
      lv::for_each_input(unit, [&](std::size_t v) { some = some || shares(v); });
      if (!some) continue;
      const reuse how = lv::detail::reuse_of(plan, u);
      shared_at_once += unit.branch ? 1 : 0;
      (how == reuse::in_place ? in_place : how == reuse::view ? pieces : parts) += 1;
      slots_shared += plan.segment[unit.segment].in_slots ? 1 : 0;
    }
    CHECK(lv::arena_size(plan) >= lv::arena_bound(plan));
  }
  CHECK(in_place > 300);
  CHECK(pieces > 100);
  CHECK(parts > 100);
  CHECK(slots_shared > 100);
  CHECK(at_once > 150);
  CHECK(shared_at_once > 60);
}

TEST_CASE("the checker sees values that are overwritten where they are shared") {
  auto plan = later;
  plan.value[3].offset = plan.value[1].offset;
  CHECK(lv::test::first_fault(plan) != "");
  plan = joined;
  plan.value[3].offset = plan.value[2].offset;
  CHECK(lv::test::first_fault(plan) != "");
  plan = changed_view;
  plan.value[2].offset = plan.value[3].offset = plan.value[1].offset;
  CHECK(lv::test::first_fault(plan) != "");
}
