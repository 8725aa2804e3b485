// SPDX-License-Identifier: Apache-2.0
// Regions of nodes in a row: which there are, what they take, how they are named in costs and saved plans, and that the
// chosen ones are those of the best cover.

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/detail/plan.hpp>
#include <levada/plan/detail/region_runs.hpp>
#include <levada/plan/detail/saved.hpp>

#include "random_graph.hpp"
#include "small_graph.hpp"
#include "soak.hpp"

namespace lv = levada;

namespace {

/// A block of ResNet: conv, relu, conv, sum with what enters, relu.
constexpr auto block = lv::test::graph_of({{"conv"}, {"relu", {0}}, {"conv", {1}}, {"sum", {2, 1}}, {"relu", {3}}});
constexpr lv::region_runs runs(block);

static_assert(runs.has_joins());
static_assert(runs.is_region(0, 2) && lv::is_chain(block, 0, 2));
static_assert(runs.is_region(2, 2) && !lv::is_chain(block, 2, 2), "a convolution and the sum behind it");
static_assert(runs.is_region(2, 3) && runs.is_region(1, 4) && runs.is_region(0, 5));
static_assert(!runs.is_region(1, 2) && !runs.is_region(0, 3), "the sum takes what the relu gives, too");

constexpr auto side_branch = lv::test::graph_of({{"a"}, {"b"}, {"join", {0, 1}}});
static_assert(lv::region_runs(side_branch).is_region(0, 3), "two ops that meet");
static_assert(!lv::region_runs(side_branch).is_region(0, 2), "they give two values");

template <std::size_t N>
constexpr bool takes(const lv::graph_info<N>& graph, std::size_t first, std::size_t count,
                     std::initializer_list<std::size_t> values) {
  const auto inputs = lv::inputs_of_run(graph, first, count);
  return std::equal(inputs.begin(), inputs.end(), values.begin(), values.end());
}
static_assert(takes(block, 2, 3, {2}), "the convolution and the sum take one value");
static_assert(takes(block, 3, 2, {3, 2}), "operands as they are");
static_assert(takes(side_branch, 0, 3, {0}));

constexpr lv::device_info processor{lv::cpu<2>::id, 2};
constexpr lv::backend_info fast{"fast"};
constexpr std::array<lv::candidate, 7> kernels{
    {{0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {3, 1, 0}, {4, 1, 0}, {0, 2, 0}, {2, 3, 0}}};

constexpr auto parts = lv::choose_partition(block, std::span(&processor, 1), kernels, std::span(&fast, 1));
static_assert(parts.size() == 2 && parts[0].count == 2 && parts[1].count == 3, "the longest regions");

constexpr auto plan = lv::make_plan(block, parts, {}, std::span(&processor, 1), kernels, std::span(&fast, 1));
static_assert(plan.unit[1].in == 2 && plan.unit[1].more.empty() && plan.unit[1].out == 5);
static_assert(plan.value[3].where == lv::placement::none && plan.value[4].where == lv::placement::none,
              "what is taken inside alone lies nowhere");

}  // namespace

TEST_CASE("the ops of a region are numbered in its signature") {
  std::string text;
  lv::append_signature(text, block, 2, 3);
  CHECK(text == "conv(float[]) -> float[] + sum(#1, float[]) -> float[] + relu(#2) -> float[]");
  text.clear();
  lv::append_signature(text, block, 0, 2);
  CHECK(text == "conv(64 bytes) -> float[] + relu(float[]) -> float[]");
}

TEST_CASE("a region has its own cost, and is chosen where it is cheaper") {
  const lv::kernel_cost rows[] = {
      {"fast", "conv(64 bytes) -> float[]", 10e-6},
      {"fast", "conv(float[]) -> float[]", 10e-6},
      {"fast", "relu(float[]) -> float[]", 2e-6},
      {"fast", "sum(float[], float[]) -> float[]", 3e-6},
      {"fast", "conv(64 bytes) -> float[] + relu(float[]) -> float[]", 11e-6},
      {"fast", "conv(float[]) -> float[] + sum(#1, float[]) -> float[] + relu(#2) -> float[]", 12e-6}};
  lv::cost_table table{.machine = "a test", .kernels = rows};
  const auto by_costs = [&] {
    return lv::choose_partition(block, std::span(&processor, 1), kernels, std::span(&fast, 1), table);
  };
  REQUIRE(by_costs().size() == 2);
  CHECK(by_costs()[1].count == 3);
  const lv::graph_costs<16> costs(block, std::span(&fast, 1), table);
  CHECK(costs.of_run(0, 2, 3).seconds == 12e-6);

  lv::kernel_cost dear[6];
  std::copy(std::begin(rows), std::end(rows), dear);
  dear[5].seconds = 30e-6;
  table.kernels = dear;
  CHECK(by_costs().size() == 4);
}

TEST_CASE("a plan with regions is saved as a line and read back") {
  const std::string line = lv::save(plan);
  CHECK(line.ends_with(R"(cpu: fast("conv" "relu") fast("conv" "sum" "relu"))"));
  const auto read = lv::read_plan(line, block, std::span(&processor, 1), kernels, std::span(&fast, 1));
  REQUIRE(read);
  CHECK(std::equal(read.parts.begin(), read.parts.end(), parts.begin(), parts.end()));
}

TEST_CASE("the units of any graph are the best cover by its regions") {
  // Dynamic programming over the nodes in their order: what the search has to equal, since all regions are runs.
  std::size_t with_joins = 0;
  const unsigned count = 1000u * static_cast<unsigned>(lv::test::soak_scale());
  for (unsigned seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    lv::test::random_source random(seed);
    lv::graph_info<lv::test::largest_line> graph = lv::test::random_graph(random);
    for (lv::node_info& node : graph.nodes) node.pin = {}, node.split_after = false;
    const std::size_t nodes = graph.nodes.size();
    const lv::region_runs regions(graph);
    std::vector<lv::candidate> candidates;
    std::vector<double> seconds(nodes + 1, 0), prices;
    std::vector<lv::kernel_cost> rows;
    std::vector<std::string> texts;
    for (std::size_t n = 0; n < nodes; ++n)
      for (std::size_t length = 1; n + length <= nodes && length <= 8; ++length)
        if (regions.is_region(n, length) && (length == 1 || !random.once_in(3))) {
          candidates.push_back({n, length, 0});
          std::string text;
          lv::append_signature(text, graph, n, length);
          texts.push_back(std::move(text));
          prices.push_back(1e-6 * static_cast<double>(1 + random.below(20)) * static_cast<double>(length));
        }
    for (std::size_t c = 0; c < texts.size(); ++c) {
      for (std::size_t other = 0; other < c; ++other)  // the same computation has one price
        if (texts[other] == texts[c]) prices[c] = prices[other];
      rows.push_back({"fast", texts[c], prices[c], 0});
    }
    const lv::cost_table table{.machine = "a test", .kernels = rows};
    const auto chosen = lv::choose_partition(graph, std::span(&processor, 1), candidates, std::span(&fast, 1), table);
    REQUIRE(lv::covered_nodes(chosen) == nodes);
    double taken = 0;
    for (const lv::partition_unit& unit : chosen)
      if (unit.candidate != lv::partition_unit::callable) {
        taken += prices[unit.candidate];
        with_joins += !lv::is_chain(graph, unit.first, unit.count);
      }
    for (std::size_t n = nodes; n-- > 0;) {
      seconds[n] = lv::is_op(graph.nodes[n]) ? 1e9 : seconds[n + 1];
      for (std::size_t c = 0; c < candidates.size(); ++c)
        if (candidates[c].first == n) seconds[n] = std::min(seconds[n], prices[c] + seconds[n + candidates[c].count]);
    }
    REQUIRE(taken == doctest::Approx(seconds[0]));
    // The plan of it has a place for what units take and give, and none for what is taken inside alone.
    const auto planned = lv::make_plan(graph, chosen, {}, std::span(&processor, 1), candidates, std::span(&fast, 1));
    for (const lv::planned_unit& unit : planned.unit) {
      lv::for_each_input(unit, [&](std::size_t v) { REQUIRE(planned.value[v].where != lv::placement::none); });
      for (std::size_t n = unit.first; n + 1 < unit.first + unit.count; ++n)
        REQUIRE(planned.value[graph.nodes[n].out].where == lv::placement::none);
    }
  }
  CHECK(with_joins > count / 20);
}
