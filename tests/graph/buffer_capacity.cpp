// SPDX-License-Identifier: Apache-2.0
// The smallest rings of generated graphs whose nodes change their rate: with them a simulation that does what can be
// done in any order ends, and with one place less in any of them it gets stuck.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/detail/buffer_capacity.hpp>

using namespace levada;

namespace {

constexpr std::size_t node_count = 7;  // a port, five nodes, the outputs
using network = rate_network<node_count>;

struct generated {
  network graph;
  std::array<rate_rule, node_count> rules{};
  std::array<rate_bounds, node_count> bounds{};
  bool balanced = true;

  std::int64_t given(std::size_t node, std::int64_t n) const { return rules[node].given(n, false); }
  /// Of n items of the port.
  std::int64_t of_port(std::size_t node, std::int64_t n) const {
    const network::node& at = graph.nodes[node];
    if (at.takes == 0) return n;
    std::int64_t met = of_port(at.from[0], n);
    for (std::size_t k = 1; k < at.takes; ++k) met = std::min(met, of_port(at.from[k], n));
    return given(node, met);
  }
};

generated random_graph(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  generated g;
  std::array<bool, node_count> taken{};
  const auto connect = [&](std::size_t i, std::size_t from) {
    g.graph.nodes[i].from[g.graph.nodes[i].takes++] = from;
    taken[from] = true;
  };
  for (std::size_t i = 1; i < node_count; ++i) {
    network::node& node = g.graph.nodes[i];
    if (i + 1 < node_count) {
      connect(i, static_cast<std::size_t>(below(static_cast<std::int64_t>(i))));
      for (std::size_t j = 0; j < i; ++j)
        if (j != node.from[0] && node.takes < 3 && g.bounds[j].slope == g.bounds[node.from[0]].slope && below(2) == 0)
          connect(i, j);
      const std::int64_t kind = below(4);
      if (kind == 0) g.rules[i] = {rate_rule::groups, 1 + below(3), 1 + below(3), 1, false};
      if (kind == 1) g.rules[i] = {rate_rule::firsts, 1 + below(3), 1, 1, false};
      if (kind == 2) g.rules[i] = {rate_rule::windows, 1 + below(2), 1, 1 + below(5), false};
    } else {
      for (std::size_t j = 0; j + 1 < node_count; ++j)
        if (!taken[j]) connect(i, j);
    }
    node.has_rings = node.takes > 1 || i + 1 == node_count;
    std::vector<rate_bounds> before;
    for (std::size_t k = 0; k < node.takes; ++k) before.push_back(g.bounds[node.from[k]]);
    g.balanced = g.balanced && unbalanced_branch(before) == before.size();
    g.bounds[i] = behind(joined(before), g.rules[i].bounds());
  }
  return g;
}

/// Some items go in, one when the one before is through; of all that can be done something is done, until there is
/// nothing. Says whether that is the end.
bool ends(const generated& g, const network::capacities& room, std::int64_t items, unsigned seed) {
  std::mt19937 random(seed);
  std::array<std::int64_t, node_count> pending{};
  std::array<std::int64_t, node_count> taken{};
  std::array<std::array<std::size_t, network::most_joined>, node_count> waiting{};
  const auto takes = [&](std::size_t i) {
    ++taken[i];
    pending[i] += i + 1 < node_count ? g.given(i, taken[i]) - g.given(i, taken[i] - 1) : 0;
  };
  const auto joins = [&](std::size_t i) {
    const network::node& node = g.graph.nodes[i];
    return node.has_rings && pending[i] == 0 &&
           std::all_of(waiting[i].begin(), waiting[i].begin() + static_cast<std::ptrdiff_t>(node.takes),
                       [](std::size_t w) { return w != 0; });
  };
  const auto gives = [&](std::size_t i) {
    if (pending[i] == 0) return false;
    for (std::size_t to = 0; to < node_count; ++to)
      for (std::size_t k = 0; k < g.graph.nodes[to].takes; ++k)
        if (g.graph.nodes[to].from[k] == i)
          if (g.graph.nodes[to].has_rings ? waiting[to][k] >= room[to][k] : pending[to] != 0) return false;
    return true;
  };
  for (;;) {
    std::vector<std::size_t> can;
    for (std::size_t i = 1; i < node_count; ++i)
      if (joins(i)) can.push_back(i);
    const std::size_t first_giver = can.size();
    for (std::size_t i = 0; i + 1 < node_count; ++i)
      if (gives(i)) can.push_back(i);
    if (can.empty()) {
      if (std::any_of(pending.begin(), pending.end(), [](std::int64_t p) { return p != 0; })) return false;
      if (items-- == 0) return true;
      pending[0] = 1;
      continue;
    }
    const std::size_t what = random() % can.size(), i = can[what];
    if (what < first_giver) {
      for (std::size_t k = 0; k < g.graph.nodes[i].takes; ++k) --waiting[i][k];
      takes(i);
      continue;
    }
    --pending[i];
    for (std::size_t to = 0; to < node_count; ++to)
      for (std::size_t k = 0; k < g.graph.nodes[to].takes; ++k)
        if (g.graph.nodes[to].from[k] == i) {
          if (g.graph.nodes[to].has_rings)
            ++waiting[to][k];
          else
            takes(to);
        }
  }
}

}  // namespace

TEST_CASE("the smallest rings of 2,000 generated graphs") {
  std::size_t rings = 0, smaller = 0, more_than_one = 0;
  int graphs = 0;
  for (unsigned seed = 1; graphs < 2000; ++seed) {
    const generated g = random_graph(seed);
    const std::int64_t items = levada::detail::counted_items(g.bounds[node_count - 1]);
    if (!g.balanced || items > 60) continue;
    ++graphs;
    CAPTURE(seed);
    network::capacities room{};
    for (std::size_t i = 1; i < node_count; ++i) {
      const network::node& node = g.graph.nodes[i];
      std::vector<rate_bounds> before;
      for (std::size_t k = 0; k < node.takes; ++k) before.push_back(g.bounds[node.from[k]]);
      for (std::size_t k = 0; node.has_rings && k < node.takes; ++k)
        room[i][k] = ring_of_branch(before, k, [&](std::size_t b, std::int64_t n, bool) {
                       return g.of_port(node.from[b], n);
                     }).room;
    }
    network::capacities least = room;
    const auto given = [&](std::size_t node, std::int64_t n) { return node + 1 == node_count ? n : g.given(node, n); };
    REQUIRE(g.graph.runs(given, room, items));
    for (std::size_t i = 1; i < node_count; ++i)
      for (std::size_t k = 0; g.graph.nodes[i].has_rings && k < g.graph.nodes[i].takes; ++k)
        least[i][k] = g.graph.smallest(given, least, items, i, k);
    REQUIRE(ends(g, least, items, seed));
    REQUIRE(ends(g, least, 3 * items, seed));
    for (std::size_t i = 1; i < node_count; ++i)
      for (std::size_t k = 0; g.graph.nodes[i].has_rings && k < g.graph.nodes[i].takes; ++k) {
        ++rings;
        smaller += least[i][k] < room[i][k];
        if (least[i][k] == 1) continue;
        ++more_than_one;
        --least[i][k];
        REQUIRE(!ends(g, least, items, seed));
        ++least[i][k];
      }
  }
  MESSAGE(rings << " rings, " << smaller << " of them smaller than where each item goes through all nodes at once; "
                << more_than_one << " have more than one place");
  CHECK(smaller > 100);
  CHECK(more_than_one > 100);
}
