// SPDX-License-Identifier: Apache-2.0
// Costs by signature, measured or estimated, and the partitions that follow from them.

#include <doctest/doctest.h>

#include <string>

#include <levada/plan/detail/partition_by_cost.hpp>

#include "random_graph.hpp"
#include "soak.hpp"

namespace lv = levada;

namespace {

/// conv -> relu -> a callable -> relu, of 1000 floats each.
constexpr lv::graph_info<8> graph = [] {
  lv::graph_info<8> g;
  const lv::value_info value{4000, 64, lv::element::f32, lv::shape(10, 10, 10)};
  g.values.push_back(value);
  for (const std::string_view kind : {"conv", "relu", "callable", "relu"}) {
    lv::node_info node;
    node.kind = kind;
    node.name = kind == "callable" ? "blend" : "some";
    node.how = kind == "callable" ? lv::form::map : lv::form::op;
    node.flops = kind == "conv" ? 1e6 : kind == "relu" ? 1e3 : 0;
    node.parameter_bytes = kind == "conv" ? 400 : 0;
    node.in = g.nodes.size();
    node.out = g.result = g.values.size();
    g.values.push_back(value);
    g.values.back().producer = g.nodes.size();
    g.nodes.push_back(node);
  }
  return g;
}();

constexpr std::string_view conv = "conv(float[10x10x10]) -> float[10x10x10], 1000000 FLOP, 400 bytes";
constexpr std::string_view relu = "relu(float[10x10x10]) -> float[10x10x10], 1000 FLOP";
constexpr std::string_view conv_relu =
    "conv(float[10x10x10]) -> float[10x10x10], 1000000 FLOP, 400 bytes + relu(float[10x10x10]) -> float[10x10x10], "
    "1000 FLOP";

// ---- costs ----
constexpr lv::kernel_cost kernels[] = {{"a", relu, 2e-6, 1e-8},
                                       {"b", relu, 1e-6, 1e-8},
                                       {"b", conv_relu, 9e-6},
                                       {"callable", "blend(float[10x10x10]) -> float[10x10x10]", 5e-6}};
constexpr lv::roofline rooflines[] = {{"a", 1e12, 1e9, 1e-6}, {"b", 1e11, 1e12}};
constexpr lv::transfer_cost transfers[] = {{lv::cpu<1>::id, lv::simulated<0>::id, 3e-6, 1e-9}};
constexpr lv::cost_table table{"here", kernels, transfers, rooflines};

constexpr bool is_about(lv::cost c, double seconds, lv::cost_origin origin) {
  return c.origin == origin && c.seconds - seconds < 1e-12 && seconds - c.seconds < 1e-12;
}
constexpr lv::backend_info backs[] = {{"a"}, {"b"}, {"c"}};
constexpr lv::cost of_run(std::string_view backend, std::size_t first, std::size_t count) {
  return lv::graph_costs<8>(graph, backs, table).of_run(static_cast<std::size_t>(backend.front() - 'a'), first, count);
}
using enum lv::cost_origin;
static_assert(is_about(of_run("a", 1, 1), 2e-6, measured) && of_run("a", 1, 1).spread == 1e-8);
static_assert(is_about(of_run("a", 3, 1), 2e-6, measured), "the same op elsewhere has the same cost");
static_assert(is_about(of_run("b", 0, 2), 9e-6, measured), "a run has a signature of its own");
static_assert(is_about(of_run("a", 0, 2), 1e-6 + 8400e-9, estimated), "bound by bytes: what lies between is not moved");
static_assert(is_about(of_run("b", 0, 1), 1e-5, estimated), "bound by FLOPs");
static_assert(of_run("c", 0, 1).origin == unknown);
static_assert(is_about(lv::graph_costs<8>(graph, backs, table).of_callable(2), 5e-6, measured));
static_assert(is_about(lv::graph_costs<8>(graph, backs, lv::cost_table{}).of_callable(2), 0, estimated));

static_assert(lv::transfer_of(table, lv::cpu<1>::id, lv::simulated<0>::id).seconds == 3e-6);
static_assert(lv::transfer_of(table, lv::simulated<0>::id, lv::cpu<1>::id).seconds == lv::assumed_transfer.seconds);
static_assert(lv::transfer_of(table, lv::cpu<1>::id, lv::cpu<2>::id).seconds == 0, "a device has no way to itself");

// ---- partitions ----
constexpr lv::device_info processor[] = {{lv::cpu<1>::id}};
constexpr lv::candidate candidates[] = {{0, 1, 0}, {0, 2, 0}, {1, 1, 0}, {3, 1, 0},
                                        {0, 1, 1}, {0, 2, 1}, {1, 1, 1}, {3, 1, 1}};

/// The first nodes of the units, with the letter of the backend: "A" alone, "Aa" a run; '.' a callable.
template <std::size_t N>
constexpr bool is_outlined(const lv::partition<N>& parts, std::string_view expected) {
  std::size_t at = 0;
  for (const lv::partition_unit& u : parts)
    for (std::size_t i = 0; i < u.count; ++i, ++at) {
      const char c = u.backend == lv::partition_unit::callable ? '.' : static_cast<char>((i ? 'a' : 'A') + u.backend);
      if (at >= expected.size() || expected[at] != c) return false;
    }
  return at == expected.size();
}
constexpr auto chosen_by(const lv::cost_table& costs) {
  return lv::choose_partition(graph, processor, candidates, backs, costs);
}
static_assert(is_outlined(chosen_by(table), "Bb.B"), "9 + 5 + 1 us");
static_assert(is_outlined(chosen_by(lv::cost_table{}), "Aa.A"), "without any cost as without a table");
constexpr lv::kernel_cost indirect[] = {{"a", conv, 1e-6}, {"a", relu, 3e-6},      {"b", conv, 3e-6},
                                        {"b", relu, 1e-6}, {"a", conv_relu, 4e-6}, {"b", conv_relu, 4e-6}};
static_assert(is_outlined(chosen_by({"", indirect}), "AB.B"), "the cheapest of each");
constexpr lv::kernel_cost fused[] = {{"a", conv, 1e-6}, {"a", relu, 3e-6},        {"b", conv, 3e-6},
                                     {"b", relu, 1e-6}, {"a", conv_relu, 1.9e-6}, {"b", conv_relu, 4e-6}};
static_assert(is_outlined(chosen_by({"", fused}), "Aa.B"), "unless fused they are cheaper");
constexpr lv::kernel_cost close[] = {{"a", relu, 1.02e-6, 2e-8}, {"b", relu, 1.00e-6, 2e-8}};
static_assert(is_outlined(chosen_by({"", close, {}, rooflines}), "Aa.A"), "inside the noise the backend named first");

// ---- measured wholes ----
constexpr lv::whole_cost wholes[] = {{lv::question_of(graph, processor, backs),
                                      R"(levada plan 1: 64 slots | cpu: a("some") b("some") "blend" a("some"))", 1e-5}};
constexpr lv::cost_table with_whole{"here", kernels, transfers, rooflines, wholes};
static_assert(is_outlined(chosen_by(with_whole), "AB.A"), "before what the kernels' costs say");
static_assert(is_outlined(lv::choose_partition(graph, processor, candidates, backs, with_whole,
                                               lv::objective::throughput),
                          "Bb.B"),
              "it was an item's time");
constexpr lv::whole_cost of_another[] = {{wholes[0].question + 1, wholes[0].plan, 1e-5}};
static_assert(is_outlined(chosen_by({"here", kernels, transfers, rooflines, of_another}), "Bb.B"));
constexpr lv::whole_cost of_old_names[] = {
    {wholes[0].question, R"(levada plan 1: 64 slots | cpu: a("other") b("some") "blend" a("some"))", 1e-5}};
static_assert(is_outlined(chosen_by({"here", kernels, transfers, rooflines, of_old_names}), "Bb.B"));
static_assert(
    [] {
      constexpr lv::backend_info other_order[] = {{"b"}, {"a"}, {"c"}};
      auto named = graph, longer = graph;
      named.nodes[0].name = "first";
      longer.values[1].extents = lv::shape(20, 10, 10);
      const auto asked = lv::question_of(graph, processor, backs);
      return asked == lv::question_of(named, processor, backs) && asked != lv::question_of(longer, processor, backs) &&
             asked != lv::question_of(graph, processor, other_order);
    }(),
    "a question is what is computed, where and by whom");

constexpr lv::device_info both[] = {{lv::cpu<1>::id}, {lv::simulated<0>::id}};
constexpr auto on_both(const lv::cost_table& costs, lv::objective goal) {
  return lv::choose_partition(graph, both, candidates, backs, costs, goal);
}
constexpr lv::transfer_cost for_nothing[] = {{lv::cpu<1>::id, lv::simulated<0>::id},
                                             {lv::simulated<0>::id, lv::cpu<1>::id}};
constexpr auto balanced = on_both({"", fused, for_nothing}, lv::objective::throughput);
static_assert(
    [] {
      std::size_t segments = 0;
      for (const lv::partition_unit& u : balanced) segments += u.starts_segment;
      return segments == 2 && balanced[0].count == 2 && balanced[0].device != balanced[2].device;
    }(),
    "1.9 us on one device, 1 us on the other");
constexpr auto together = on_both({"", indirect}, lv::objective::latency);
static_assert(
    [] {
      for (const lv::partition_unit& u : together)
        if (u.device != lv::cpu<1>::id) return false;
      return true;
    }(),
    "a transfer of 10 us does not pay");

/// What a partition takes by the costs of a table: everything one after the other.
double seconds_of(const lv::test::random_deployment& d, const lv::partition<lv::test::largest_line>& parts,
                  const lv::cost_table& costs) {
  const lv::graph_costs<lv::test::largest_line> known(d.graph, d.backends, costs);
  double total = 0;
  lv::device_id at[lv::test::largest_line]{};
  for (const lv::partition_unit& u : parts) {
    total += (u.backend == lv::partition_unit::callable ? known.of_callable(u.first)
                                                        : known.of_run(u.backend, u.first, u.count))
                 .seconds;
    for (std::size_t n = u.first; n < u.first + u.count; ++n) at[n] = u.device;
  }
  const auto host = lv::cpu<1>::id;
  for (std::size_t v = 0; v < d.graph.values.size(); ++v) {
    const std::size_t producer = d.graph.values[v].producer;
    const lv::device_id from = producer == lv::value_info::nobody ? host : at[producer];
    std::vector<lv::device_id> to;
    const auto deliver = [&](lv::device_id device) {
      if (device == from || std::find(to.begin(), to.end(), device) != to.end()) return;
      to.push_back(device);
      const lv::crossing c = lv::transfer_of(costs, from, device);
      total += c.seconds + c.seconds_per_byte * static_cast<double>(d.graph.values[v].bytes);
    };
    for (std::size_t n = 0; n < d.graph.nodes.size(); ++n)
      lv::for_each_input(d.graph.nodes[n], [&](std::size_t taken) {
        if (taken == v) deliver(at[n]);
      });
    if (!d.graph.ends_in_sink && (d.graph.result == v || d.graph.values[v].part_of == d.graph.result)) deliver(host);
  }
  return total;
}

}  // namespace

TEST_CASE("a signature says what is computed") {
  std::string text;
  lv::append_signature(text, graph, 0, 2);
  CHECK(text == conv_relu);
  text.clear();
  lv::append_signature(text, graph, 2);
  CHECK(text == "blend(float[10x10x10]) -> float[10x10x10]");
}

TEST_CASE("a partition by costs is legal, honours pins and borders, and is never slower than one without them") {
  const lv::roofline fast{"fast", 4e9, 4e9, 1e-8}, spirv{"spirv", 2e11, 4e10, 2e-6}, quoted{"a \"b\" \\c\n", 2e10, 1e9},
      reference{"reference", 1e9, 1e9};
  const lv::roofline all[] = {fast, spirv, quoted, reference};
  const lv::cost_table costs{"", {}, {}, all};
  std::size_t other = 0;
  const unsigned count = 400u * static_cast<unsigned>(lv::test::soak_scale());
  for (unsigned seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    const auto d = lv::test::make_random_deployment(seed);
    const auto plain = d.parts();
    const auto parts = lv::choose_partition(d.graph, d.devices, d.candidates, d.backends, costs);
    REQUIRE(lv::covered_nodes(parts) == d.graph.nodes.size());
    std::size_t node = 0;
    for (const lv::partition_unit& u : parts) {
      REQUIRE(u.first == node);
      const bool is_run = u.candidate != lv::partition_unit::callable;
      if (is_run) {
        const lv::candidate& c = d.candidates[u.candidate];
        REQUIRE((c.first == u.first && c.count == u.count && c.backend == u.backend));
        REQUIRE((d.backends[c.backend].device == u.device.kind || u.device.kind == lv::device_kind::simulated));
      } else {
        REQUIRE((u.count == 1 && u.backend == lv::partition_unit::callable));
      }
      const lv::partition_unit* before = u.first == 0 ? nullptr : &u - 1;
      const bool split = before != nullptr && d.graph.nodes[node - 1].split_after;
      REQUIRE(u.starts_segment == (before == nullptr || split || before->device != u.device));
      for (; node < u.first + u.count; ++node) {
        const lv::node_info& n = d.graph.nodes[node];
        REQUIRE((!n.pin || n.pin == u.device));
        REQUIRE(lv::is_op(n) == is_run);
        REQUIRE((!n.split_after || node + 1 == u.first + u.count));
      }
    }
    const double taken = seconds_of(d, parts, costs);
    other += !(parts == plain);
    bool has_ports = false;  // each is moved by itself
    for (std::size_t v = 0; v < d.graph.values.size(); ++v) has_ports = has_ports || lv::is_port_value(d.graph, v);
    if (!has_ports) REQUIRE(taken <= seconds_of(d, plain, costs) * (1 + 1e-6) + 1e-9);
  }
  CHECK(other > count / 4);
}
