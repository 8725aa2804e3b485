// SPDX-License-Identifier: Apache-2.0
// The partitions in which one differs in a few places.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <levada/plan/detail/neighbours.hpp>

#include "random_graph.hpp"
#include "small_graph.hpp"

namespace lv = levada;

namespace {

// conv -> relu -> conv -> relu, whose two halves are the same.
constexpr auto graph = [] {
  auto made = lv::test::graph_of<8>({{"conv"}, {"relu", {0}}, {"conv", {1}}, {"relu", {2}}});
  made.values[0].type = lv::element::f32;
  return made;
}();
constexpr lv::backend_info backends[] = {{"a"}, {"b"}};
constexpr lv::device_info devices[] = {{lv::cpu<1>::id}};
constexpr lv::candidate candidates[] = {{0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {3, 1, 0}, {0, 2, 0}, {2, 2, 0},
                                        {0, 1, 1}, {2, 1, 1}, {0, 2, 1}, {2, 2, 1}, {0, 4, 1}};

/// A letter for the first node of each unit, and the same small one for the others.
template <std::size_t N>
std::string outline(const lv::partition<N>& parts) {
  std::string text;
  for (const lv::partition_unit& u : parts)
    for (std::size_t i = 0; i < u.count; ++i) text += static_cast<char>((i != 0 ? 'a' : 'A') + u.backend);
  return text;
}

}  // namespace

TEST_CASE("regions are moved, cut and joined, here and wherever the same stands") {
  const lv::kernel_cost kernels[] = {{"a", "conv(float[]) -> float[]", 4e-6},
                                     {"a", "relu(float[]) -> float[]", 1e-6},
                                     {"b", "conv(float[]) -> float[]", 3e-6},
                                     {"a", "conv(float[]) -> float[] + relu(float[]) -> float[]", 4e-6},
                                     {"b", "conv(float[]) -> float[] + relu(float[]) -> float[]", 5e-6}};
  const lv::cost_table table{.machine = "", .kernels = kernels};
  const lv::graph_costs<8> costs(graph, backends, table);
  const auto now = lv::choose_partition(graph, devices, candidates, backends);
  REQUIRE(outline(now) == "AaAa");
  std::vector<std::string> found;
  double last = -1;
  for (const auto& n : lv::neighbours_of(now, graph, candidates, backends, costs)) {
    CHECK(n.more_seconds >= last);
    last = n.more_seconds;
    found.push_back(outline(n.parts));
  }
  for (const char* wanted : {"BbAa", "AaBb", "BbBb", "BAAa", "AaBA", "BABA", "AAAa", "Bbbb"})
    CHECK_MESSAGE(std::count(found.begin(), found.end(), wanted) > 0, std::string(wanted));
  CHECK(std::count(found.begin(), found.end(), "AaAa") == 0);
}

TEST_CASE("one backend has all that it can take, the others the rest in their order") {
  CHECK(outline(lv::one_backend_first(0, graph, devices, candidates, backends)) == "AaAa");
  CHECK(outline(lv::one_backend_first(1, graph, devices, candidates, backends)) == "Bbbb");
}

TEST_CASE("neighbours of random partitions cover the graph with kernels that are there") {
  constexpr std::size_t N = lv::test::largest_line;
  std::size_t all = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const auto d = lv::test::make_random_deployment(seed);
    const auto now = d.parts();
    if (lv::covered_nodes(now) != d.graph.nodes.size()) continue;
    const lv::graph_costs<N> costs(d.graph, d.backends, lv::cost_table{});
    for (const auto& n : lv::neighbours_of<N>(now, d.graph, d.candidates, d.backends, costs)) {
      ++all;
      std::size_t at = 0;
      bool differs = n.parts.size() != now.size();
      for (std::size_t u = 0; u < n.parts.size(); ++u) {
        const lv::partition_unit& unit = n.parts[u];
        REQUIRE(unit.first == at);
        at += unit.count;
        differs = differs || !(unit == now[u]);
        if (unit.candidate == lv::partition_unit::callable) continue;
        const lv::candidate& c = d.candidates[unit.candidate];
        REQUIRE((c.first == unit.first && c.count == unit.count && c.backend == unit.backend));
        REQUIRE(lv::detail::computes_on(d.backends[c.backend], unit.device));
      }
      REQUIRE(at == d.graph.nodes.size());
      REQUIRE(differs);
    }
  }
  CHECK(all > 1000);
}
