// SPDX-License-Identifier: Apache-2.0
// Which branches of an item a plan runs at once, why not the others, and what memory they have.

#include <doctest/doctest.h>

#include <string>

#include <levada/plan/detail/json_report.hpp>
#include <levada/plan/detail/plan.hpp>
#include <levada/plan/detail/text_report.hpp>

#include <plan/plan_checker.hpp>
#include <plan/priced_graph.hpp>

namespace lv = levada;
using lv::branch_order;
using lv::form;
using lv::reuse;
using lv::test::priced_graph;

namespace {

constexpr double us = 1e-6;

/// A stem, two branches of two ops each, and what joins them.
constexpr priced_graph two_branches(double first, double second) {
  priced_graph g;
  const auto stem = g.op(50 * us, {0});
  const auto a = g.op(first, {g.op(us, {stem})});
  const auto b = g.op(second, {g.op(us, {stem})});
  g.op(us, {a, b});
  return g;
}
constexpr branch_order only_order(const auto& plan) {
  return plan.fork.size() == 1 ? plan.fork[0].order : branch_order{99};
}

constexpr auto both = two_branches(40 * us, 30 * us).plan();
static_assert(only_order(both) == branch_order::at_once);
static_assert(both.fork[0].first == 1 && both.fork[0].count == 4 && both.fork[0].branches == 2);
static_assert(both.fork[0].longest > 40.9 * us && both.fork[0].longest < 41.1 * us &&
              both.fork[0].shortest < 31.1 * us);
static_assert(both.unit[1].branch.branch == 0 && both.unit[2].branch.branch == 0 && both.unit[3].branch.branch == 1);
static_assert(!both.unit[0].branch && !both.unit[5].branch);
// One after the other the second op of each branch could lie where the first of the other does.
constexpr auto in_a_row = [] {
  priced_graph g = two_branches(40 * us, 30 * us);
  g.threads = 1;
  return g.plan();
}();
static_assert(only_order(in_a_row) == branch_order::one_thread);
static_assert(in_a_row.segment[0].item_bytes + in_a_row.segment[0].kernel_offset == 3 * 64);
static_assert(both.segment[0].item_bytes + both.segment[0].kernel_offset == 5 * 64);

static_assert(only_order(two_branches(40 * us, 10 * us).plan()) == branch_order::too_short);
static_assert(only_order(two_branches(40 * us, 30 * us).plan(false)) == branch_order::no_workers);

/// Kernels that may run at once have scratch of their own.
constexpr auto with_scratch = [] {
  priced_graph g = two_branches(40 * us, 30 * us);
  g.scratch = 100;
  return g.plan();
}();
static_assert(with_scratch.segment[0].shared_bytes == with_scratch.segment[0].kernel_offset + 2 * 128);
static_assert(with_scratch.unit[2].scratch_offset == 0 && with_scratch.unit[3].scratch_offset == 128);

// ---- callables ----

constexpr auto with_callables(lv::cost price, form how = form::map, lv::concurrency order = lv::concurrency::parallel) {
  priced_graph g;
  const auto stem = g.op(us, {0});
  const auto a = g.callable(price, {stem}), b = g.callable(price, {stem}, how, order);
  g.op(us, {a, b});
  return g.plan();
}
static_assert(only_order(with_callables(lv::cost::measured(90 * us))) == branch_order::at_once);
static_assert(only_order(with_callables({})) == branch_order::unknown);
static_assert(only_order(with_callables(lv::cost::measured(90 * us), form::map, lv::concurrency::serial)) ==
              branch_order::serial);
// It changes what the other takes, and so waits for it: the two are no branches.
static_assert(with_callables(lv::cost::measured(90 * us), form::in_place).fork.empty());

// ---- shapes ----

/// Of nested forks the outer one, where both are worth it; else the inner one.
constexpr auto nested(double outer) {
  priced_graph g;
  const auto a = g.op(us, {0}), x = g.op(60 * us, {a}), y = g.op(60 * us, {a}), xy = g.op(us, {x, y});
  g.op(us, {xy, g.op(outer, {0})});
  return g.plan();
}
static_assert(only_order(nested(50 * us)) == branch_order::at_once && nested(50 * us).fork[0].count == 5);
static_assert(only_order(nested(us)) == branch_order::at_once && nested(us).fork[0].first == 1 &&
              nested(us).fork[0].count == 2);

/// Written node by node in turn; a short one goes with the shorter of the others.
constexpr auto three = [] {
  priced_graph g;
  const auto a = g.op(30 * us, {0}), b = g.op(25 * us, {0}), c = g.op(us, {0});
  const auto a2 = g.op(30 * us, {a}), b2 = g.op(25 * us, {b});
  g.op(us, {a2, b2, c});
  return g.plan();
}();
static_assert(only_order(three) == branch_order::at_once && three.fork[0].count == 5 && three.fork[0].branches == 2);
static_assert(three.unit[2].branch == three.unit[1].branch && three.unit[4].branch == three.unit[1].branch);
static_assert(three.unit[3].branch == three.unit[0].branch);

/// The last to take the stem may not work in it while the other branch reads it; what is made in a branch it may
/// change.
constexpr auto element_wise = [] {
  priced_graph g;
  const auto stem = g.op(us, {0});
  const auto a = g.op(50 * us, {stem}), a2 = g.op(us, {a}, 16, reuse::in_place);
  const auto b = g.op(50 * us, {stem}, 16, reuse::in_place);
  g.op(us, {a2, b}, 32, reuse::joins);
  return g.plan();
}();
static_assert(only_order(element_wise) == branch_order::at_once);
static_assert(element_wise.value[3].storage == element_wise.value[2].storage);
static_assert(element_wise.value[4].storage != element_wise.value[1].storage);

/// Both branches write into what joins them.
constexpr auto joined = [] {
  priced_graph g;
  const auto stem = g.op(us, {0});
  const auto a = g.op(50 * us, {g.op(us, {stem})}), b = g.op(50 * us, {g.op(us, {stem})});
  g.op(us, {g.op(us, {a, b}, 32, reuse::joins)});
  return g.plan();
}();
static_assert(joined.value[3].storage == 6 && joined.value[5].storage == 6 && joined.value[5].within == 64);

static_assert([] {
  priced_graph g;
  g.op(90 * us, {g.op(90 * us, {0})});
  return g.plan();
}()
                  .fork.empty());

}  // namespace

TEST_CASE("the branches worked out by hand lose no value in whatever order they run") {
  for (const auto& plan : {both, in_a_row, with_scratch, nested(50 * us), nested(us), three, element_wise, joined})
    CHECK(lv::test::first_fault(plan) == "");
}

TEST_CASE("the checker sees branches that share bytes") {
  auto plan = both;
  plan.value[4].offset = plan.value[2].offset;
  CHECK(lv::test::first_fault(plan) != "");
  plan = with_scratch;
  plan.unit[3].scratch_offset = 0;
  CHECK(lv::test::first_fault(plan) != "");
  plan = element_wise;
  plan.value[4].offset = plan.value[1].offset;
  CHECK(lv::test::first_fault(plan) != "");
}

TEST_CASE("reports say which branches run at once, and why others do not") {
  const auto says = [](const auto& plan, const char* line) {
    return lv::text_report(plan).find(line) != std::string::npos;
  };
  CHECK(says(both, "2 branches, op to op: at once where threads are idle: 41.0 us and 31.0 us, measured\n"));
  CHECK(says(in_a_row, "2 branches, op to op: one after the other, since the processor has one thread\n"));
  CHECK(says(two_branches(40 * us, 10 * us).plan(), "since no two take 20.0 us: 41.0 us and 11.0 us, measured\n"));
  CHECK(says(with_callables({}), "2 branches, stage to stage: one after the other, since nobody knows"));
  CHECK(lv::json_report(both).find("\"forks\":[{\"first_unit\":1,\"units\":4,\"branches\":2,\"order\":\"at once\"") !=
        std::string::npos);
  CHECK(lv::json_report(both).find("\"fork\":0,\"branch\":1,") != std::string::npos);
  CHECK(lv::json_report(in_a_row).find("\"order\":\"one thread\"") != std::string::npos);
}
