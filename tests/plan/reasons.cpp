// SPDX-License-Identifier: Apache-2.0
// Why a plan is as it is: its price is that of the search, no alternative is better where the search was exact, and
// each reason has its case.

#include <doctest/doctest.h>

#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <levada/plan/detail/plan.hpp>
#include <levada/plan/detail/reasons.hpp>

#include "random_graph.hpp"
#include "small_graph.hpp"
#include "soak.hpp"

namespace lv = levada;
using doctest::Approx;

namespace {

constexpr lv::device_info processor[] = {{lv::cpu<1>::id}};
constexpr lv::backend_info backs[] = {{"a"}, {"b"}};
constexpr lv::candidate candidates[] = {{0, 1, 0}, {0, 2, 0}, {1, 1, 0}, {0, 1, 1}, {1, 1, 1}};

const lv::graph_info<16> graph = lv::test::graph_of({{"conv"}, {"relu", {0}}});

lv::plan_reasons explained(const lv::plan_choice& choice) {
  const auto parts =
      choice.costs != nullptr
          ? lv::choose_partition(graph, choice.devices, choice.candidates, choice.backends, *choice.costs, choice.goal)
          : lv::choose_partition(graph, choice.devices, choice.candidates, choice.backends);
  return lv::explain(lv::make_plan(graph, parts, {}, choice.devices, choice.candidates, choice.backends), choice);
}

std::string_view signature(std::size_t first, std::size_t count) {
  static std::deque<std::string> kept;
  std::string text;
  lv::append_signature(text, graph, first, count);
  return kept.emplace_back(text);
}

}  // namespace

TEST_CASE("a fused kernel, and what its parts by each backend would take") {
  const lv::kernel_cost kernels[] = {{"a", signature(0, 2), 3e-6},
                                     {"a", signature(0, 1), 2.5e-6},
                                     {"a", signature(1, 1), 1e-6},
                                     {"b", signature(0, 1), 4e-6},
                                     {"b", signature(1, 1), 2e-6}};
  const lv::cost_table table{"", kernels};
  const lv::plan_reasons reasons = explained({processor, candidates, backs, &table});
  CHECK(reasons.seconds == Approx(3e-6));
  REQUIRE(reasons.units.size() == 1);
  const lv::unit_reason& unit = reasons.units[0];
  CHECK(unit.why == lv::plan_reason::cost);
  CHECK(unit.price.seconds == 3e-6);
  CHECK(unit.price.origin == lv::cost_origin::measured);
  REQUIRE(unit.others.size() == 2);
  CHECK(unit.others[0].backend == 0);
  CHECK(unit.others[0].kernels == 2);
  CHECK(unit.others[0].more_seconds == Approx(0.5e-6));
  CHECK(unit.others[1].backend == 1);
  CHECK(unit.others[1].more_seconds == Approx(3e-6));
}

TEST_CASE("kernels apart, and the one that takes them together") {
  const lv::kernel_cost kernels[] = {{"a", signature(0, 2), 9e-6},
                                     {"a", signature(0, 1), 1e-6},
                                     {"a", signature(1, 1), 3e-6},
                                     {"b", signature(0, 1), 2e-6},
                                     {"b", signature(1, 1), 1e-6}};
  const lv::cost_table table{"", kernels};
  const lv::plan_reasons reasons = explained({processor, candidates, backs, &table});
  REQUIRE(reasons.units.size() == 2);
  const std::vector<lv::plan_alternative>& others = reasons.units[0].others;
  REQUIRE(others.size() == 2);
  CHECK(others[0].backend == 1);
  CHECK(others[0].units == 1);
  CHECK(others[0].more_seconds == Approx(1e-6));
  CHECK(others[1].units == 2);
  CHECK(others[1].kernels == 1);
  CHECK(others[1].more_seconds == Approx(7e-6));
  REQUIRE(reasons.units[1].others.size() == 1);
  CHECK(reasons.units[1].others[0].more_seconds == Approx(2e-6));
}

TEST_CASE("inside the noise the backend named first has it, and that is the reason") {
  const lv::kernel_cost kernels[] = {{"a", signature(0, 1), 1.02e-6, 2e-8},
                                     {"b", signature(0, 1), 1.00e-6, 2e-8},
                                     {"a", signature(1, 1), 1e-6},
                                     {"b", signature(1, 1), 2e-6},
                                     {"a", signature(0, 2), 9e-6}};
  const lv::cost_table table{"", kernels};
  const lv::plan_reasons reasons = explained({processor, candidates, backs, &table});
  REQUIRE(reasons.units.size() == 2);
  CHECK(reasons.units[0].why == lv::plan_reason::noise);
  CHECK(reasons.units[0].others[0].more_seconds == Approx(-0.02e-6));
  CHECK(reasons.units[0].others[0].within_noise);
  CHECK(reasons.units[1].why == lv::plan_reason::cost);
  CHECK(!reasons.units[1].others[0].within_noise);
}

TEST_CASE("of a plan that was measured as a whole, that is the reason, whatever its kernels cost") {
  const lv::kernel_cost kernels[] = {{"a", signature(0, 1), 1e-6},
                                     {"b", signature(0, 1), 2e-6},
                                     {"a", signature(1, 1), 1e-6},
                                     {"b", signature(1, 1), 2e-6},
                                     {"a", signature(0, 2), 9e-6}};
  const lv::whole_cost wholes[] = {
      {lv::question_of(graph, processor, backs), R"(levada plan 1: 1 slots | cpu: a("conv") b("relu"))", 3e-6}};
  const lv::cost_table table{"", kernels, {}, {}, wholes};
  const lv::plan_reasons reasons = explained({processor, candidates, backs, &table});
  REQUIRE(reasons.units.size() == 2);
  CHECK(reasons.units[0].why == lv::plan_reason::whole);
  CHECK(reasons.units[1].why == lv::plan_reason::whole);
  CHECK(reasons.units[1].others[0].more_seconds == Approx(-1e-6));
}

TEST_CASE("without costs it was the order of preference, a pin, a saved plan, or nobody else") {
  const lv::plan_choice plain{processor, candidates, backs};
  CHECK(!explained(plain).has_costs);
  CHECK(explained(plain).units[0].why == lv::plan_reason::preference);
  CHECK(explained(plain).units[0].price.origin == lv::cost_origin::unknown);
  lv::plan_choice saved = plain;
  saved.is_saved = true;
  CHECK(explained(saved).units[0].why == lv::plan_reason::saved);
  const lv::candidate alone[] = {{0, 1, 0}, {1, 1, 1}};
  CHECK(explained({processor, alone, backs}).units[0].why == lv::plan_reason::only_way);
  const lv::cost_table nothing{};
  CHECK(explained({processor, candidates, backs, &nothing}).units[0].why == lv::plan_reason::preference);
}

TEST_CASE("a pin leaves no other device, and moving what a unit takes is counted once") {
  const lv::device_info devices[] = {{lv::cpu<1>::id}, {lv::simulated<0>::id}};
  auto pinned = lv::test::graph_of({{"conv"}, {"relu", {0}}, {"add", {0, 1}}});
  pinned.nodes[1].pin = pinned.nodes[2].pin = lv::simulated<0>::id;
  const lv::candidate each[] = {{0, 1, 0}, {1, 1, 0}, {2, 1, 0}};
  const lv::roofline lines[] = {{"a", 1e12, 64e6}};  // 1 us for each value taken and given
  const lv::transfer_cost transfers[] = {{lv::cpu<1>::id, lv::simulated<0>::id, 5e-6, 0},
                                         {lv::simulated<0>::id, lv::cpu<1>::id, 7e-6, 0}};
  const lv::cost_table table{"", {}, transfers, lines};
  const auto parts = lv::choose_partition(pinned, devices, each, backs, table);
  const auto plan = lv::make_plan(pinned, parts, {}, devices, each, backs);
  const lv::plan_reasons reasons = lv::explain(plan, {devices, each, backs, &table});
  REQUIRE(reasons.units.size() == 3);
  CHECK(reasons.units[0].move_seconds == 0);
  CHECK(reasons.units[1].move_seconds == Approx(5e-6));
  CHECK(reasons.units[2].move_seconds == 0);
  CHECK(reasons.units[1].why == lv::plan_reason::pinned);
  CHECK(reasons.units[0].why == lv::plan_reason::cost);
  REQUIRE(reasons.units[0].others.size() == 1);
  CHECK(reasons.units[0].others[0].device == lv::device_id(lv::simulated<0>::id));
  CHECK(reasons.loads[0].seconds == Approx(2e-6 + 7e-6));
  CHECK(reasons.loads[1].seconds == Approx(5e-6 + 2e-6 + 3e-6));
  CHECK(reasons.seconds == Approx(19e-6));
}

TEST_CASE("of any deployment the price is that of the search, and no alternative is better than an exact answer") {
  constexpr std::string_view names[] = {"fast", "spirv", "a \"b\" \\c\n", "reference"};
  std::size_t compared = 0, bounded = 0;
  for (unsigned seed = 0; seed < 300u * static_cast<unsigned>(lv::test::soak_scale()); ++seed) {
    CAPTURE(seed);
    const lv::test::random_deployment d = lv::test::make_random_deployment(seed);
    std::mt19937 random(seed);
    std::vector<lv::roofline> lines;
    for (const std::string_view name : names)
      lines.push_back({name, 1e9 * static_cast<double>(1 + random() % 20), 1e8 * static_cast<double>(1 + random() % 20),
                       1e-7 * static_cast<double>(random() % 10)});
    const lv::cost_table table{"", {}, {}, lines};
    for (const lv::objective goal : {lv::objective::latency, lv::objective::throughput}) {
      const auto problem = lv::deployment_problem(d.graph, d.devices, d.candidates, d.backends, table);
      const auto cover = lv::best_cover(problem, goal);
      if (!cover.complete) continue;
      const auto parts = lv::partition_of(problem, cover, d.graph, d.devices);
      const auto plan = lv::make_plan(d.graph, parts, d.request, d.devices, d.candidates, d.backends);
      const lv::plan_reasons reasons = lv::explain(plan, {d.devices, d.candidates, d.backends, &table, goal});
      REQUIRE(reasons.seconds == Approx(cover.seconds).epsilon(1e-9));
      REQUIRE(reasons.units.size() == plan.units);
      REQUIRE(reasons.least_seconds <= reasons.seconds * (1 + 1e-9));
      bounded += reasons.least_seconds >= reasons.seconds * (1 - 1e-9);
      for (const lv::unit_reason& unit : reasons.units)
        for (const lv::plan_alternative& other : unit.others) {
          if (cover.exact) REQUIRE(other.more_seconds >= 0);
          ++compared;
        }
    }
  }
  CHECK(compared > 1000);
  CHECK(bounded > 300);
}
