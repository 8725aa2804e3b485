// SPDX-License-Identifier: Apache-2.0
// The best cover of a graph: Collage's table (TVM RFC 62), and what the search knows besides: crossings, launches,
// pins, memory, workers, noise, unknown costs, a beam.

#include <doctest/doctest.h>

#include <string>

#include <levada/plan/detail/combine.hpp>
#include <levada/plan/detail/search.hpp>

#include "small_graph.hpp"

namespace lv = levada;
using lv::cost, lv::test::graph_of;
using graph = lv::graph_info<16>;
using placement = lv::placement_problem<16>;
using cover = lv::cover<16>;
using node_set = lv::node_set<16>;

namespace {

constexpr std::size_t L = 0, H = 1;

/// An n-op region costs 1, 1.9, 2.71, ... times an op.
constexpr double fused(double of_one, std::size_t count) {
  double part = 1;
  for (; count > 0; --count) part *= 0.9;
  return of_one * (1 - part) / 0.1;
}

struct collage {
  double cost[2];
  std::size_t depth[2];
};

/// L takes every op, H relu, add and concat; one exit each.
constexpr placement collage_problem(const graph& g, collage of, node_set outputs = {}) {
  placement p = lv::make_problem(g);
  p.flow.leaving |= outputs;
  p.devices = {{}, {}};
  p.places = {{0}, {1}};
  lv::rule_graph rules(g);
  rules.flow.leaving |= outputs;
  for (const std::size_t who : {L, H}) {
    const auto takes = [&](const lv::node_info& n) {
      return who == L || n.kind == "relu" || n.kind == "add" || n.kind == "concat";
    };
    const lv::subgraph_limits limits{of.depth[who], 1, true};
    for (const auto& r : lv::regions_of(lv::combine(lv::single(takes), limits, lv::unconditionally), rules))
      p.offers.push_back({r.nodes, who, who, cost::measured(fused(of.cost[who], r.nodes.size()))});
  }
  return p;
}

struct expected_region {
  node_set nodes;
  std::size_t place;
};
constexpr bool is_cover(const placement& p, const cover& c, std::initializer_list<expected_region> expected) {
  if (!c.complete || c.chosen.size() != expected.size()) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& chosen = p.offers[c.chosen[i]];
    if (!(chosen.nodes == expected.begin()[i].nodes) || chosen.place != expected.begin()[i].place) return false;
  }
  return true;
}
constexpr bool about(double a, double b) { return a - b < 1e-9 && b - a < 1e-9; }

constexpr bool chooses(const placement& p, std::initializer_list<expected_region> expected, double seconds,
                       lv::objective goal = lv::objective::latency) {
  const cover c = lv::best_cover(p, goal);
  return is_cover(p, c, expected) && c.exact && about(c.seconds, seconds) && c.gap() == 0;
}

// ---- Collage's table ----
constexpr auto relu = graph_of({{"relu"}});
static_assert(chooses(collage_problem(relu, {{1, 2}, {8, 8}}), {{{0}, L}}, 1));
static_assert(chooses(collage_problem(relu, {{2, 1}, {8, 8}}), {{{0}, H}}, 1));
constexpr auto diamond = graph_of({{"relu"}, {"abs", {0}}, {"relu", {0}}, {"add", {1, 2}}});
static_assert(chooses(collage_problem(diamond, {{2, 1}, {1, 1}}), {{{0}, H}, {{1}, L}, {{2}, H}, {{3}, H}}, 5));
static_assert(chooses(collage_problem(diamond, {{2, 1}, {1, 3}}), {{{0}, H}, {{1}, L}, {{2, 3}, H}}, 4.9));
constexpr auto three = graph_of({{"relu"}, {"relu", {0}}, {"relu", {1}}});
static_assert(chooses(collage_problem(three, {{100, 99}, {1, 1}}), {{{0}, H}, {{1}, H}, {{2}, H}}, 297));
static_assert(chooses(collage_problem(three, {{100, 99}, {2, 1}}), {{{0}, H}, {{1, 2}, L}}, 289));
static_assert(chooses(collage_problem(three, {{100, 99}, {3, 1}}), {{{0, 1, 2}, L}}, 271));
static_assert(chooses(collage_problem(three, {{99, 100}, {1, 2}}), {{{0}, L}, {{1, 2}, H}}, 289));
constexpr auto outputs = graph_of({{"relu"}, {"relu", {0}}, {"abs", {1}}});
static_assert(chooses(collage_problem(outputs, {{2, 1}, {2, 2}}, {0, 1, 2}), {{{0}, H}, {{1}, H}, {{2}, L}}, 4));

// ---- conv, relu, conv: NPU 1 takes all three as one; NPU 2 conv, relu and conv; relu, conv is legal for nobody ----
constexpr auto conv_relu_conv = graph_of({{"conv"}, {"relu", {0}}, {"conv", {1}}});
constexpr placement npus(std::initializer_list<cost> costs) {
  placement p = lv::make_problem(conv_relu_conv);
  p.devices = {{}, {}};
  p.places = {{0}, {1}};
  p.offers = {{{0, 1, 2}, 0, 0}, {{0, 1}, 1, 1}, {{0}, 1, 1}, {{2}, 1, 1}};
  for (std::size_t i = 0; i < costs.size(); ++i) p.offers[i].price = costs.begin()[i];
  return p;
}
static_assert(chooses(npus({}), {{{0, 1, 2}, 0}}, 0), "in the order of preference it is one region");
static_assert(chooses(npus({cost::measured(3), cost::measured(2), cost::measured(1), cost::measured(2)}),
                      {{{0, 1, 2}, 0}}, 3));
static_assert(chooses(npus({cost::measured(5), cost::measured(2), cost::measured(1), cost::measured(2)}),
                      {{{0, 1}, 1}, {{2}, 1}}, 4));
static_assert(!lv::cheapest_latency([] {
                 placement p = npus({});
                 p.offers = {p.offers[2], p.offers[3]};
                 return p;
               }())
                   .complete,
              "nobody takes relu alone");

// ---- crossings ----
/// A line of `count` nodes on places of one device each; `costs[n][p]`, below 0 where place p does not take node n.
template <std::size_t Nodes, std::size_t Places>
constexpr placement line(const double (&costs)[Nodes][Places]) {
  graph g = graph_of({{"op"}}, 1000);
  for (std::size_t n = 1; n < Nodes; ++n) {
    lv::node_info node = g.nodes[0];
    node.in = n;
    node.out = g.result = n + 1;
    g.nodes.push_back(node);
    g.values.push_back(g.values[1]);
    g.values.back().producer = n;
  }
  placement p = lv::make_problem(g);
  for (std::size_t at = 0; at < Places; ++at) {
    p.devices.push_back({});
    p.places.push_back({at});
    for (std::size_t n = 0; n < Nodes; ++n)
      if (costs[n][at] >= 0) p.offers.push_back({{n}, at, at, cost::measured(costs[n][at])});
  }
  return p;
}
constexpr placement crossing_everywhere(placement p, lv::crossing c) {
  for (std::size_t a = 0; a < p.places.size(); ++a)
    for (std::size_t b = 0; b < p.places.size(); ++b)
      if (a != b) p.crossings[a][b] = c;
  return p;
}
constexpr placement from_host(placement p, std::size_t host) {
  p.host = host;
  return p;
}

constexpr double alternating[3][2] = {{1, 2}, {2, 1}, {1, 2}};
static_assert(chooses(line(alternating), {{{0}, 0}, {{1}, 1}, {{2}, 0}}, 3), "nothing is moved for nothing");
static_assert(chooses(crossing_everywhere(line(alternating), {0.4, 0}), {{{0}, 0}, {{1}, 1}, {{2}, 0}}, 3.8));
static_assert(chooses(crossing_everywhere(line(alternating), {0.6, 0}), {{{0}, 0}, {{1}, 0}, {{2}, 0}}, 4));
static_assert(chooses(crossing_everywhere(line(alternating), {0, 0.6e-3}), {{{0}, 0}, {{1}, 0}, {{2}, 0}}, 4),
              "by bytes");
constexpr double all_on_b[2][2] = {{9, 1}, {9, 1}};
static_assert(chooses(from_host(crossing_everywhere(line(all_on_b), {3, 0}), 0), {{{0}, 1}, {{1}, 1}}, 8),
              "there and back counts");
static_assert(chooses(from_host(crossing_everywhere(line(all_on_b), {9, 0}), 0), {{{0}, 0}, {{1}, 0}}, 18));
static_assert(chooses(
                  [] {
                    placement p = line(all_on_b);
                    p.places[1].launch_seconds = 8.5;
                    return p;
                  }(),
                  {{{0}, 0}, {{1}, 0}}, 18),
              "a launch each time");

// A value is moved once to each place where it is taken.
constexpr placement fan(double to_b) {
  placement p = lv::make_problem(graph_of({{"a"}, {"b", {0}}, {"b", {0}}, {"b", {1, 2}}}));
  p.devices = {{}, {}};
  p.places = {{0}, {1}};
  p.crossings[0][1] = p.crossings[1][0] = {to_b, 0};
  p.offers = {{{0}, 0, 0, cost::measured(1)},
              {{1}, 1, 1, cost::measured(1)},
              {{2}, 1, 1, cost::measured(1)},
              {{3}, 1, 1, cost::measured(1)}};
  return p;
}
static_assert(chooses(fan(5), {{{0}, 0}, {{1}, 1}, {{2}, 1}, {{3}, 1}}, 9));

// ---- the same device, another layout: a place of its own ----
constexpr placement layouts() {
  constexpr double costs[4][2] = {{2, 1}, {-1, 1}, {1, 3}, {2, 1}};
  placement p = line(costs);
  p.devices = {{}};
  p.places = {{0}, {0}};
  return crossing_everywhere(p, {0.25, 0});
}
static_assert(chooses(from_host(layouts(), 0), {{{0}, 1}, {{1}, 1}, {{2}, 0}, {{3}, 1}}, 5));

// ---- pins are offers that are not made; memory ----
constexpr placement little_memory(std::size_t bytes) {
  constexpr double costs[3][2] = {{1, 5}, {1, 4}, {1, 3}};
  placement p = line(costs);
  p.devices[0].memory = bytes;
  for (auto& o : p.offers) o.bytes = 10;
  return p;
}
static_assert(chooses(little_memory(30), {{{0}, 0}, {{1}, 0}, {{2}, 0}}, 3));
static_assert(chooses(little_memory(29), {{{0}, 0}, {{1}, 0}, {{2}, 1}}, 5));
static_assert(chooses(little_memory(10), {{{0}, 0}, {{1}, 1}, {{2}, 1}}, 8));
static_assert(chooses(little_memory(9), {{{0}, 1}, {{1}, 1}, {{2}, 1}}, 12));

// ---- noise ----
constexpr placement noisy(double spread) {
  constexpr double costs[2][2] = {{1.00, 0.95}, {1.00, 0.50}};
  placement p = line(costs);
  for (auto& o : p.offers) o.price.spread = spread;
  return p;
}
static_assert(chooses(noisy(0.01), {{{0}, 1}, {{1}, 1}}, 1.45), "outside of the noise the cheaper one");
static_assert(chooses(noisy(0.03), {{{0}, 0}, {{1}, 1}}, 1.50), "inside of it the one named first");

// ---- unknown costs ----
static_assert(chooses(
                  [] {
                    placement p = line(alternating);
                    p.offers[1].price = {};  // node 1 on the place named first
                    return p;
                  }(),
                  {{{0}, 0}, {{1}, 0}, {{2}, 0}}, 2),
              "where one cost is unknown the preferred place is taken");

// ---- throughput ----
constexpr placement with_workers(int workers) {
  constexpr double costs[6][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  placement p = line(costs);
  p.devices[1].workers = workers;
  return p;
}
static_assert(about(lv::smallest_bottleneck(with_workers(1)).seconds, 3));
static_assert(about(lv::smallest_bottleneck(with_workers(2)).seconds, 2), "a device of two workers does twice as much");
static_assert(about(lv::smallest_bottleneck(with_workers(5)).seconds, 1));
static_assert(about(lv::smallest_bottleneck([] {
                      constexpr double costs[2][1] = {{4}, {1}};
                      placement p = line(costs);
                      p.devices[0].workers = 8;
                      p.offers[0].serial = true;
                      return p;
                    }())
                        .seconds,
                    4),
              "but not on one item after the other");
static_assert(about(lv::smallest_bottleneck(crossing_everywhere(line(alternating), {1, 0})).seconds, 3),
              "what is moved loads the device that takes it");

}  // namespace

TEST_CASE("the search gives the same cover while compiling and while running") {
  static constexpr auto compiled = lv::cheapest_latency(collage_problem(diamond, {{2, 1}, {1, 3}}));
  const auto running = lv::cheapest_latency(collage_problem(diamond, {{2, 1}, {1, 3}}));
  CHECK(compiled.chosen == running.chosen);
  CHECK(compiled.seconds == running.seconds);
}

TEST_CASE("work is shared evenly where all places do it as well") {
  constexpr double equal_costs[12][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1},
                                         {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  CHECK(lv::smallest_bottleneck(line(equal_costs)).seconds == doctest::Approx(4));
}

TEST_CASE("two equal devices do as much as one that works on two items at once, as far as work can be divided") {
  constexpr double indirect[4][2] = {{3, 3}, {2, 2}, {2, 2}, {1, 1}};
  constexpr double together[4][1] = {{3}, {2}, {2}, {1}};
  placement replicated = line(together);
  replicated.devices[0].workers = 2;
  CHECK(lv::smallest_bottleneck(line(indirect)).seconds == doctest::Approx(4));
  CHECK(lv::smallest_bottleneck(replicated).seconds == doctest::Approx(4));
  constexpr double odd_apart[3][2] = {{1, 1}, {1, 1}, {1, 1}};
  constexpr double odd_together[3][1] = {{1}, {1}, {1}};
  replicated = line(odd_together);
  replicated.devices[0].workers = 2;
  CHECK(lv::smallest_bottleneck(line(odd_apart)).seconds == doctest::Approx(2));
  CHECK(lv::smallest_bottleneck(replicated).seconds == doctest::Approx(1.5));
}

TEST_CASE("an offer that would wait for itself is never chosen, however cheap") {
  placement p = lv::make_problem(diamond);
  p.devices = {{}};
  p.places = {{}};
  for (std::size_t n = 0; n < 4; ++n) p.offers.push_back({{n}, 0, 0, cost::measured(1)});
  p.offers.push_back({{0, 3}, 0, 0, cost::measured(0)});
  const auto c = lv::cheapest_latency(p);
  CHECK(c.seconds == doctest::Approx(4));
  CHECK(c.chosen.size() == 4);
  // Each of two is convex, but they would wait for each other.
  placement crossed = lv::make_problem(graph_of({{"a"}, {"a"}, {"a", {0}}, {"a", {1}}, {"a", {2, 3}}}));
  crossed.devices = {{}};
  crossed.places = {{}};
  for (std::size_t n = 0; n < 5; ++n) crossed.offers.push_back({{n}, 0, 0, cost::measured(1)});
  crossed.offers.push_back({{0, 3}, 0, 0, cost::measured(0)});
  crossed.offers.push_back({{1, 2}, 0, 0, cost::measured(0)});
  CHECK(lv::cheapest_latency(crossed).seconds == doctest::Approx(3));
}

TEST_CASE("a region that joins branches is found however the nodes before it are numbered") {
  // 3 takes 1 and 2; the branch of 2 is covered before {1, 3} can be.
  placement p = lv::make_problem(graph_of({{"a"}, {"a", {0}}, {"a", {0}}, {"a", {1, 2}}}));
  p.devices = {{}};
  p.places = {{}};
  for (std::size_t n = 0; n < 4; ++n) p.offers.push_back({{n}, 0, 0, cost::measured(1)});
  p.offers.push_back({{1, 3}, 0, 0, cost::measured(0.5)});
  const auto c = lv::cheapest_latency(p);
  REQUIRE(is_cover(p, c, {{{0}, 0}, {{2}, 0}, {{1, 3}, 0}}));
  CHECK(c.seconds == doctest::Approx(2.5));
}

TEST_CASE("a narrow beam gives a legal cover, says that it may not be the best, and a bound that holds") {
  constexpr double costs[12][3] = {{3, 1, 4}, {1, 5, 9}, {2, 6, 5}, {3, 5, 8}, {9, 7, 9}, {3, 2, 3},
                                   {8, 4, 6}, {2, 6, 4}, {3, 3, 8}, {3, 2, 7}, {9, 5, 0}, {2, 8, 8}};
  const placement p = crossing_everywhere(line(costs), {1, 0});
  for (const lv::objective goal : {lv::objective::latency, lv::objective::throughput}) {
    const auto best = lv::best_cover(p, goal, 1 << 20);
    REQUIRE(best.exact);
    CHECK(best.gap() == 0);
    for (const std::size_t beam : {1u, 2u, 3u, 5u, 20u}) {
      CAPTURE(beam);
      const auto c = lv::best_cover(p, goal, beam);
      REQUIRE(c.complete);
      CHECK(c.chosen.size() == 12);
      CHECK(c.seconds >= best.seconds - 1e-9);
      CHECK(c.bound <= best.seconds + 1e-9);
      CHECK(c.exact == (c.gap() == 0));
    }
    CHECK_FALSE(lv::best_cover(p, goal, 1).exact);
  }
}
