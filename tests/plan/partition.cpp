// SPDX-License-Identifier: Apache-2.0
// Who computes what: pins, borders, the order of preference, the longest run. A letter is a node, in specifications
// too.

#include <doctest/doctest.h>

#include <array>
#include <string_view>

#include <levada/plan/detail/partition.hpp>

#include "random_graph.hpp"
#include "soak.hpp"

namespace lv = levada;

namespace {

constexpr lv::device_info processor{lv::cpu<2>::id, 2};
constexpr lv::device_info graphics{lv::vulkan<0>::id};
constexpr lv::device_info pretended{lv::simulated<0>::id};

/// 'o' an op, 'c' a callable, '|' a split behind the node before.
constexpr lv::graph_info<8> line(std::string_view nodes) {
  lv::graph_info<8> graph;
  graph.values.push_back({4, 4});
  for (const char c : nodes) {
    if (c == '|') {
      graph.nodes.back().split_after = true;
      continue;
    }
    lv::node_info node;
    node.how = c == 'o' ? lv::form::op : lv::form::map;
    node.in = graph.nodes.size();
    node.out = graph.result = graph.nodes.size() + 1;
    graph.nodes.push_back(node);
    graph.values.push_back({4, 4});
  }
  return graph;
}

constexpr lv::graph_info<8> pinned(lv::graph_info<8> graph, std::size_t node, lv::device_id device) {
  graph.nodes[node].pin = device;
  return graph;
}

/// A partition in short: the units' first nodes; '(' opens a segment, letters name backends, '.' a callable.
template <std::size_t N>
struct outline {
  char text[N]{};
  constexpr bool operator==(std::string_view other) const { return std::string_view(text) == other; }
};
constexpr outline<40> outlined(const lv::partition<8>& parts) {
  outline<40> o;
  std::size_t at = 0;
  for (const lv::partition_unit& u : parts) {
    if (u.starts_segment) o.text[at++] = u.device.kind == lv::device_kind::cpu ? '(' : '[';
    for (std::size_t i = 0; i < u.count; ++i)
      o.text[at++] = u.backend == lv::partition_unit::callable ? '.' : static_cast<char>((i ? 'a' : 'A') + u.backend);
  }
  return o;
}

constexpr lv::backend_info backs[] = {{"a"}, {"b"}, {"g", lv::device_kind::vulkan}};
constexpr std::size_t a = 0, b = 1, g = 2;

template <std::size_t D, std::size_t C>
constexpr auto choose(const lv::graph_info<8>& graph, const lv::device_info (&devices)[D],
                      const std::array<lv::candidate, C>& candidates) {
  return outlined(lv::choose_partition(graph, devices, candidates, backs));
}

constexpr lv::device_info only_cpu[] = {processor}, cpu_first[] = {processor, graphics},
                          gpu_first[] = {graphics, processor}, cpu_and_pretended[] = {processor, pretended};
constexpr std::array<lv::candidate, 0> none{};

static_assert(choose(line("c"), only_cpu, none) == "(.");
static_assert(choose(line("ccc"), only_cpu, none) == "(...", "callables on one device share a segment");
static_assert(choose(line("c|cc|"), only_cpu, none) == "(.(..",
              "a split starts a segment; behind the last node it says nothing");
static_assert(choose(line("c|c|c"), only_cpu, none) == "(.(.(.");

constexpr std::array<lv::candidate, 5> simple{{{0, 1, b}, {0, 1, a}, {1, 1, b}, {0, 2, b}, {2, 1, b}}};
static_assert(choose(line("ooo"), only_cpu, simple) == "(ABB",
              "the backend named first wins over a longer run of another");
constexpr std::array<lv::candidate, 6> runs{{{0, 1, a}, {0, 2, a}, {0, 3, a}, {1, 1, a}, {2, 1, a}, {2, 2, a}}};
static_assert(choose(line("ooo"), only_cpu, runs) == "(Aaa", "the longest run is taken");
static_assert(choose(line("oo|o"), only_cpu, runs) == "(Aa(A", "no run crosses a border");
static_assert(choose(line("ooc"), only_cpu, runs) == "(Aa.", "no run takes a callable");
static_assert(choose(pinned(line("ooo"), 2, lv::vulkan<0>::id), cpu_first,
                     std::array<lv::candidate, 4>{{{0, 1, a}, {0, 3, a}, {1, 1, a}, {2, 1, g}}}) == "(AA[C",
              "nor a change of device");

// conv, relu, conv. NPU 1 takes all three as one; NPU 2 takes conv, relu and conv; relu, conv is legal for nobody.
constexpr std::array<lv::candidate, 4> npus{{{0, 3, a}, {0, 2, b}, {0, 1, b}, {2, 1, b}}};
constexpr lv::backend_info npu2_only[] = {{"none"}, {"b"}};
static_assert(choose(line("ooo"), only_cpu, npus) == "(Aaa", "with the order NPU 1, NPU 2 it is one region");
static_assert(outlined(lv::choose_partition(line("ooo"), only_cpu, std::span(npus).subspan(1), npu2_only)) == "(BbB",
              "and NPU 2 alone covers it, though it takes no relu alone");
// A longest run that would leave the last node to nobody is not taken.
static_assert(choose(line("ooo"), only_cpu,
                     std::array<lv::candidate, 4>{{{0, 1, a}, {0, 2, a}, {1, 1, a}, {1, 2, a}}}) == "(AAa");

// A value that leaves as one of several outputs is written, whoever takes it besides.
constexpr auto with_two_outputs = [] {
  auto graph = line("ooo");
  graph.result = graph.values.size();
  graph.values.push_back({8, 4});
  graph.values[2].part_of = graph.values[3].part_of = graph.result;
  return graph;
}();
static_assert(choose(with_two_outputs, only_cpu, runs) == "(AaA");

// ---- devices ----
constexpr std::array<lv::candidate, 6> both{{{0, 1, a}, {1, 1, a}, {2, 1, a}, {0, 1, g}, {1, 1, g}, {1, 2, g}}};
static_assert(choose(line("oooc"), cpu_first, both) == "(AAA.", "the device named first takes what it can");
static_assert(choose(line("ooo"), gpu_first, both) == "[CC(A", "and leaves the rest to the next");
static_assert(choose(line("c"), gpu_first, none) == "(.", "callables run on the processor");
static_assert(choose(pinned(line("ooo"), 1, lv::vulkan<0>::id), cpu_first, both) == "(A[C(A", "a pin decides");
static_assert(choose(pinned(line("coo"), 1, lv::simulated<0>::id), cpu_and_pretended,
                     std::array<lv::candidate, 3>{{{1, 1, a}, {1, 2, a}, {2, 1, a}}}) == "(.[A(A",
              "a simulated device computes with the processor's backends");
static_assert(choose(pinned(line("cc"), 1, lv::simulated<0>::id), cpu_and_pretended, none) == "(.[.",
              "and runs callables");

// ---- what nobody takes ----
constexpr auto chosen(const lv::graph_info<8>& graph, std::size_t node, std::span<const lv::device_info> devices,
                      std::span<const lv::candidate> candidates) {
  return lv::choose_device(graph.nodes[node], node, devices, candidates, backs);
}
static_assert(!chosen(line("o"), 0, only_cpu, {}), "an op without a kernel");
static_assert(!chosen(pinned(line("c"), 0, lv::vulkan<0>::id), 0, cpu_first, {}), "a callable on a graphics device");
static_assert(!chosen(pinned(line("c"), 0, lv::vulkan<1>::id), 0, cpu_first, {}), "a device the target lacks");
static_assert(chosen(line("ooo"), 1, only_cpu, npus) == lv::cpu<1>::id, "an op within a run");
static_assert(lv::covered_nodes(lv::choose_partition(line("coc"), only_cpu, {}, backs)) == 1,
              "the partition ends there");
static_assert(lv::choose_partition(line("oc"), only_cpu, {}, backs).empty());

}  // namespace

TEST_CASE("any partition covers the graph with legal runs, honours pins and borders, and agrees with choose_device") {
  for (unsigned seed = 0; seed < 2000u * static_cast<unsigned>(lv::test::soak_scale()); ++seed) {
    const auto d = lv::test::make_random_deployment(seed);
    const auto parts = d.parts();
    CAPTURE(seed);
    REQUIRE(lv::covered_nodes(parts) == d.graph.nodes.size());
    std::size_t node = 0;
    lv::device_id before{};
    for (const lv::partition_unit& u : parts) {
      REQUIRE(u.first == node);
      if (u.candidate != lv::partition_unit::callable) {
        const lv::candidate& c = d.candidates[u.candidate];
        REQUIRE((c.first == u.first && c.count == u.count && c.backend == u.backend));
        REQUIRE((d.backends[c.backend].device == u.device.kind || u.device.kind == lv::device_kind::simulated));
      }
      const bool split = node > 0 && d.graph.nodes[node - 1].split_after;
      REQUIRE(u.starts_segment == (node == 0 || split || u.device != before));
      for (; node < u.first + u.count; ++node) {
        const lv::node_info& n = d.graph.nodes[node];
        REQUIRE((!n.pin || n.pin == u.device));
        REQUIRE(lv::is_op(n) == (u.candidate != lv::partition_unit::callable));
        REQUIRE((!n.split_after || node + 1 == u.first + u.count));
        REQUIRE(lv::choose_device(n, node, d.devices, d.candidates, d.backends) == u.device);
      }
      before = u.device;
    }
  }
}
