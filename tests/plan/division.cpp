// SPDX-License-Identifier: Apache-2.0
// Which units a plan divides among threads, in how many parts, and what scratch these have.

#include <doctest/doctest.h>

#include <string>

#include <levada/plan/detail/json_report.hpp>
#include <levada/plan/detail/plan.hpp>
#include <levada/plan/detail/text_report.hpp>

#include <plan/priced_graph.hpp>

namespace lv = levada;
using lv::test::priced_graph;

namespace {

constexpr double us = 1e-6;

/// A line of three ops, of which the second is worth it.
constexpr priced_graph line(std::size_t tiles, int threads) {
  priced_graph g;
  g.tiles = tiles;
  g.threads = threads;
  g.scratch = 100;
  g.op(3 * us, {g.op(200 * us, {g.op(4 * us, {0})})});
  return g;
}

constexpr auto two = line(8, 2).plan();
static_assert(two.unit[0].parts == 1 && two.unit[1].parts == 2 && two.unit[2].parts == 1);
static_assert(line(8, 4).plan().unit[1].parts == 4 && line(3, 4).plan().unit[1].parts == 3);
static_assert(line(1, 4).plan().unit[1].parts == 1, "its kernel has no tiles");

/// Each thread but the item's own has a scratch for the largest part; a scratchpad has that of one.
constexpr auto one = line(8, 1).plan();
static_assert(one.unit[1].parts == 1 && one.part_bytes == 0);
static_assert(two.part_bytes == 100 && two.bytes_scratch == one.bytes_scratch + 128);
static_assert(line(8, 4).plan().bytes_scratch - 3 * 128 == line(1, 4).plan().bytes_scratch);
static_assert(two.bytes_total == two.bytes_in_flight + two.bytes_scratch);

static_assert(line(8, 2).plan(false).unit[1].parts == 1, "nobody but the caller computes");

/// Two branches between two ops.
constexpr auto branches(std::size_t tiles, double first, double second) {
  priced_graph g;
  g.tiles = tiles;
  const auto stem = g.op(150 * us, {0});
  g.op(150 * us, {g.op(first, {stem}), g.op(second, {stem})});
  return g.plan();
}
constexpr auto equal = branches(8, 300 * us, 300 * us), unequal = branches(8, 300 * us, 100 * us);
static_assert(equal.fork.size() == 1 && equal.fork[0].order == lv::branch_order::at_once);
static_assert(equal.unit[0].parts == 2 && equal.unit[1].parts == 2 && equal.unit[2].parts == 2 &&
              equal.unit[3].parts == 2);

/// Branches of a lone item are divided where that is sooner than the longest of them.
static_assert(!equal.fork[0].divided && unequal.fork[0].divided);
static_assert(unequal.fork[0].order == lv::branch_order::at_once, "of items that are not alone");
static_assert(!branches(1, 300 * us, 100 * us).fork[0].divided, "their kernels have no tiles");

/// Nobody knows how to divide a callable.
constexpr auto with_a_callable = [] {
  priced_graph g;
  g.tiles = 8;
  g.callable(lv::cost::measured(500 * us), {g.op(200 * us, {0})});
  return g.plan();
}();
static_assert(with_a_callable.unit[0].parts == 2 && with_a_callable.unit[1].parts == 1);

TEST_CASE("reports say which units are divided") {
  const std::string text = lv::text_report(two);
  CHECK(text.find("units of 5.0 us or more, of a lone item where threads are idle: op in 2 parts\n") !=
        std::string::npos);
  CHECK(lv::text_report(one).find("parts") == std::string::npos);
  CHECK(lv::json_report(two).find("\"parts\":2") != std::string::npos);
  CHECK(lv::json_report(one).find("\"parts\":2") == std::string::npos);
  CHECK(lv::text_report(unequal).find("at once where threads are idle, or divided, of a lone item: 300.0 us and") !=
        std::string::npos);
  CHECK(lv::json_report(unequal).find("\"divided\":true") != std::string::npos);
  CHECK(lv::json_report(equal).find("\"divided\"") == std::string::npos);
}

}  // namespace
