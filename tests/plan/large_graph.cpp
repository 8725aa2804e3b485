// SPDX-License-Identifier: Apache-2.0
// Plans of hundreds of ops: while compiling within the limits that compilers have, and as good as a shortest path found
// otherwise.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <vector>

#include <levada/plan/detail/combine.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>

#include <plan/residual_blocks.hpp>

namespace lv = levada;

namespace {

constexpr lv::device_info devices[] = {{lv::cpu<2>::id, 2}, {lv::vulkan<0>::id}};
constexpr lv::backend_info backs[] = {{"simd"}, {"onednn"}, {"spirv", lv::device_kind::vulkan}};
constexpr lv::roofline rooflines[] = {
    {"simd", 50e9, 20e9, 1e-7}, {"onednn", 80e9, 15e9, 1e-6}, {"spirv", 1e12, 1e11, 5e-6}};
constexpr lv::cost_table table{"", {}, {}, rooflines};
/// Nothing is known of the device.
constexpr lv::cost_table of_the_processor{"", {}, {}, std::span(rooflines).first<2>()};

/// Every chain of up to six ops on each backend.
template <std::size_t N>
constexpr lv::bounded<lv::candidate, 18 * N> chains_of(const lv::graph_info<N>& graph) {
  const auto feeds = lv::feeds_only_the_next(graph);
  lv::bounded<lv::candidate, 18 * N> found;
  for (std::size_t first = 0; first < N; ++first)
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t count = 1; count <= 6 && first + count <= N; ++count) {
        found.push_back({first, count, b});
        if (!feeds[first + count - 1]) break;
      }
  return found;
}

template <std::size_t N>
constexpr auto plan_of(const lv::cost_table& costs = table) {
  const auto graph = levada::test::residual_blocks<N>(1e5);
  const auto candidates = chains_of(graph);
  return lv::choose_partition(graph, devices, std::span<const lv::candidate>(candidates.data(), candidates.size()),
                              backs, costs);
}

// clang evaluates a million steps where it is not told otherwise, enough for some 90 ops.
#ifdef __clang__
constexpr std::size_t largest = 80;
#else
constexpr std::size_t largest = 300;
#endif
constexpr auto compiled = plan_of<largest>();
static_assert(lv::covered_nodes(compiled) == largest);
// Costs that are unknown do not make the search longer.
constexpr auto half_known = plan_of<largest>(of_the_processor);
static_assert(lv::covered_nodes(half_known) == largest);

}  // namespace

TEST_CASE("a large plan made while compiling is the one made while running") { CHECK(compiled == plan_of<largest>()); }

TEST_CASE(
    "128 ops with residuals by any region of up to six ops have an exact plan, the same from any order of offers") {
  const auto graph = levada::test::residual_blocks<128>(1e5);
  const lv::rule_graph rules(graph);
  const auto any = [](const lv::node_info&) { return true; };
  const auto regions = lv::regions_of(lv::combine(lv::single(any), {6, 1, true}, lv::unconditionally), rules);
  auto problem = lv::make_problem(graph);
  problem.devices = {{2}, {}};
  problem.places = {{0, 1e-7}, {0, 1e-6}, {1, 5e-6}};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      if (a != b) problem.crossings[a][b] = {a == 2 || b == 2 ? 4e-6 : 1e-6, 1e-10};
  problem.host = 0;
  std::mt19937 random(3);
  for (std::size_t p = 0; p < 3; ++p)
    for (const auto& r : regions)
      problem.offers.push_back({r.nodes, p, p, lv::cost::measured(1e-9 * static_cast<double>(random() % 9000))});
  const auto best = lv::cheapest_latency(problem);
  REQUIRE((best.complete && best.exact));
  CHECK(best.gap() == 0);

  auto shuffled = problem;
  std::shuffle(shuffled.offers.begin(), shuffled.offers.end(), random);
  const auto again = lv::cheapest_latency(shuffled);
  REQUIRE(again.chosen.size() == best.chosen.size());
  for (std::size_t i = 0; i < best.chosen.size(); ++i) {
    const auto &a = problem.offers[best.chosen[i]], &b = shuffled.offers[again.chosen[i]];
    CHECK((a.nodes == b.nodes && a.place == b.place));
  }

  const auto narrow = lv::cheapest_latency(problem, 4);
  REQUIRE(narrow.complete);
  CHECK_FALSE(narrow.exact);
  CHECK(narrow.seconds >= best.seconds);
  CHECK(narrow.bound <= best.seconds);
  CHECK(narrow.seconds < 1.2 * best.seconds);  // a beam of 4 is narrow, but looks ahead

  const auto spread = lv::smallest_bottleneck(problem, 64);
  REQUIRE(spread.complete);
  CHECK(spread.seconds < best.seconds);  // three workers
  CHECK(spread.bound <= spread.seconds);
  CHECK(spread.gap() < 1);
}

TEST_CASE("a line of 300 ops has the length of its shortest path") {
  constexpr std::size_t count = 300, places = 3, depth = 6;
  for (unsigned seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seed);
    lv::graph_info<count> graph = levada::test::residual_blocks<count>(1e5);
    for (lv::node_info& node : graph.nodes) node.more = {};
    auto problem = lv::make_problem(graph);
    problem.devices = {{}, {}, {}};
    problem.places = {{0}, {1}, {2}};
    std::array<std::array<double, places>, places> move{};
    for (std::size_t a = 0; a < places; ++a)
      for (std::size_t b = 0; b < places; ++b)
        if (a != b) problem.crossings[a][b].seconds = move[a][b] = 1e-6 * static_cast<double>(random() % 8);
    problem.host = 0;
    std::vector<std::array<std::array<double, depth + 1>, places>> price(count);
    for (std::size_t first = 0; first < count; ++first)
      for (std::size_t p = 0; p < places; ++p)
        for (std::size_t n = 1; n <= depth && first + n <= count; ++n) {
          price[first][p][n] = 1e-6 * static_cast<double>(1 + random() % (8 * n));
          problem.offers.push_back({lv::node_set<count>::run(first, n), p, p, lv::cost::measured(price[first][p][n])});
        }
    // The least from the input to behind each node, the value lying at each place.
    const double never = std::numeric_limits<double>::infinity();
    std::vector<std::array<double, places>> least(count + 1);
    for (auto& l : least) l.fill(never);
    least[0][0] = 0;
    for (std::size_t at = 0; at < count; ++at)
      for (std::size_t from = 0; from < places; ++from)
        for (std::size_t p = 0; p < places; ++p)
          for (std::size_t n = 1; n <= depth && at + n <= count; ++n)
            least[at + n][p] = std::min(least[at + n][p], least[at][from] + move[from][p] + price[at][p][n]);
    double expected = never;
    for (std::size_t p = 0; p < places; ++p) expected = std::min(expected, least[count][p] + move[p][0]);

    const auto found = lv::cheapest_latency(problem);
    REQUIRE((found.complete && found.exact));
    CHECK(found.seconds == doctest::Approx(expected));
  }
}
