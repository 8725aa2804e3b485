// SPDX-License-Identifier: Apache-2.0
// The search against trying every cover, on random graphs of up to 10 ops: always legal, never worse, and among equals
// the one that its rules say.

#include <doctest/doctest.h>

#include <levada/plan/detail/search.hpp>

#include "random_placement.hpp"
#include "soak.hpp"

namespace lv = levada;

namespace {

const unsigned graphs = 200u * static_cast<unsigned>(lv::test::soak_scale());

std::vector<std::size_t> sorted(const lv::cover<16>& c) {
  std::vector<std::size_t> chosen(c.chosen.begin(), c.chosen.end());
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

TEST_CASE("the search chooses what trying every cover chooses") {
  std::size_t covers = 0, uncovered = 0;
  for (unsigned seed = 0; seed < graphs; ++seed) {
    const auto problem = lv::test::random_placement(seed).make();
    for (const lv::objective goal : {lv::objective::latency, lv::objective::throughput}) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(goal));
      const auto tried = lv::test::try_all(problem, goal);
      const auto found = lv::best_cover(problem, goal);
      covers += tried.covers;
      uncovered += !tried.best;
      REQUIRE(found.complete == tried.best.has_value());
      REQUIRE(found.exact);
      if (!found.complete) continue;
      const std::vector<std::size_t> in_order(found.chosen.begin(), found.chosen.end());
      REQUIRE(lv::test::can_run(problem, in_order, true));
      const auto judged = lv::test::judge(problem, goal, in_order);
      REQUIRE(judged);
      REQUIRE(judged->objective == tried.best->objective);
      auto expected = tried.chosen;
      std::sort(expected.begin(), expected.end());
      REQUIRE(sorted(found) == expected);
      REQUIRE(found.seconds == doctest::Approx(lv::detail::to_seconds(judged->objective)));
      REQUIRE(found.bound == found.seconds);
    }
  }
  MESSAGE(graphs << " graphs, " << covers << " covers tried, " << uncovered << " times there is none");
  CHECK(covers > 20 * graphs);
  CHECK(uncovered < graphs / 2);
}

TEST_CASE("a beam gives legal covers and bounds that hold") {
  std::size_t pruned = 0, worse = 0;
  for (unsigned seed = 0; seed < graphs; ++seed) {
    const auto problem = lv::test::random_placement(seed).make();
    const lv::objective goal = seed % 2 == 0 ? lv::objective::latency : lv::objective::throughput;
    CAPTURE(seed);
    const auto best = lv::best_cover(problem, goal), found = lv::best_cover(problem, goal, 1 + seed % 5);
    pruned += !found.exact;
    if (!found.complete) {
      REQUIRE((!found.exact || !best.complete));
      continue;
    }
    const std::vector<std::size_t> in_order(found.chosen.begin(), found.chosen.end());
    REQUIRE(lv::test::can_run(problem, in_order, true));
    const auto judged = lv::test::judge(problem, goal, in_order);
    REQUIRE(judged);
    REQUIRE(found.seconds == doctest::Approx(lv::detail::to_seconds(judged->objective)));
    REQUIRE(found.bound <= best.seconds + 1e-9);
    worse += sorted(found) != sorted(best);
    if (found.exact) REQUIRE(sorted(found) == sorted(best));
  }
  MESSAGE(pruned << " of " << graphs << " searches were cut short, " << worse << " of them to another cover");
  CHECK(pruned > graphs / 10);
}
