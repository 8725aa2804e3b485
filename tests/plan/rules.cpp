// SPDX-License-Identifier: Apache-2.0
// Which sub-graphs can be computed as one, and which of them rules find; the cases of Collage (TVM RFC 62) and others.

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

#include <levada/plan/detail/combine.hpp>

#include "small_graph.hpp"

namespace lv = levada;
using lv::op_kind, lv::subgraph_fault, lv::is, lv::anything, lv::single, lv::matching, lv::named_kind;
using lv::test::graph_of, lv::test::are;
using node_set = lv::node_set<16>;

namespace {

// ---- sets of nodes ----
using wide = lv::node_set<300>;
static_assert(wide{1, 64, 299}.size() == 3 && wide{64, 299}.first() == 64 && wide{1, 299}.last() == 299);
static_assert(wide{}.first() == 300 && wide{}.empty() && wide{0, 1, 3}.first_missing() == 2);
static_assert(wide::run(0, 300).first_missing() == 300 && lv::node_set<64>::run(0, 64).first_missing() == 64);
static_assert(node_set{0} < node_set{0, 1} && node_set{0, 1} < node_set{0, 2} && node_set{0, 2} < node_set{1});
static_assert(!(node_set{0, 1} < node_set{0}) && !(node_set{1} < node_set{1}) && wide{0, 70} < wide{0, 71});
static_assert(node_set{0, 1}.contains(node_set{1}) && !node_set{0}.contains(node_set{0, 1}) &&
              (node_set{0, 1} - node_set{0}) == node_set{1});

// ---- sub-graphs ----
constexpr subgraph_fault fault(const lv::graph_info<16>& graph, const node_set& set, lv::subgraph_limits limits) {
  return lv::fault_of(lv::make_dataflow(graph), set, limits);
}

constexpr auto two_adds = graph_of({{"add"}, {"add"}, {"sub", {0, 1}}});
static_assert(fault(two_adds, {0, 1}, {.exits = 1}) == subgraph_fault::exits, "two adds that feed a sub outside");
static_assert(fault(two_adds, {0, 1}, {.exits = 2}) == subgraph_fault::none);

// conv is also taken by another, as if it were an output.
constexpr auto tapped = graph_of({{"conv"}, {"relu", {0}}, {"add", {0, 1}}});
static_assert(fault(tapped, {0, 1}, {.taps = false}) == subgraph_fault::tap, "conv is taken inside and outside");
static_assert(fault(tapped, {0, 1}, {.taps = true}) == subgraph_fault::none);
static_assert([] {
  auto flow = lv::make_dataflow(graph_of({{"conv"}, {"relu", {0}}}));
  flow.leaving = {0, 1};  // conv is an output itself
  return lv::fault_of(flow, node_set{0, 1}, {.taps = false}) == subgraph_fault::tap &&
         lv::fault_of(flow, node_set{0, 1}) == subgraph_fault::none &&
         lv::exits_of(flow, node_set{0, 1}) == node_set{0, 1};
}());

constexpr auto three = graph_of({{"abs"}, {"relu", {0}}, {"relu", {1}}});
static_assert(fault(three, {0, 2}, {}) == subgraph_fault::cycle, "a chain of three with the middle left out");
static_assert(fault(three, {0, 1, 2}, {}) == subgraph_fault::none);
static_assert(fault(three, {}, {}) == subgraph_fault::empty);
static_assert(fault(three, {0, 1, 2}, {.depth = 2}) == subgraph_fault::depth);
static_assert(fault(three, {0, 1, 2}, {.depth = 3}) == subgraph_fault::none);
static_assert(lv::sentence_of(subgraph_fault::cycle) == "what leaves it comes back: it would wait for itself");

constexpr auto diamond = graph_of({{"relu"}, {"abs", {0}}, {"relu", {0}}, {"add", {1, 2}}});
static_assert(fault(diamond, {0, 2, 3}, {}) == subgraph_fault::cycle &&
              fault(diamond, {0, 1, 2, 3}, {}) == subgraph_fault::none);
static_assert(lv::depth_of(lv::make_dataflow(diamond), node_set{0, 1, 2, 3}) == 3,
              "the longest path, not the number of nodes");
static_assert(lv::outer_producers(lv::make_dataflow(diamond), node_set{2, 3}) == node_set{0, 1});

// ---- rules ----
template <class Rule>
constexpr bool finds(const Rule& rule, const lv::graph_info<16>& graph, std::initializer_list<node_set> expected) {
  return are(lv::regions_of(rule, lv::rule_graph(graph)), expected);
}

constexpr auto relu = matching(is("relu"));
constexpr auto relu_over = matching(is("relu")(is("relu") || is("abs")));
static_assert(finds(relu, three, {{1}, {2}}));
static_assert(finds(relu_over, three, {{0, 1}, {1, 2}}));
static_assert(finds(lv::union_of(relu, relu_over), three, {{1}, {2}, {0, 1}, {1, 2}}));
static_assert(finds(lv::union_of(relu, relu), three, {{1}, {2}}), "each set of nodes once");
static_assert(finds(single(named_kind{"abs"}), three, {{0}}) &&
              finds(single(op_kind::element_wise), three, {{0}, {1}, {2}}));
static_assert(finds(single(op_kind::reduction), three, {}));
static_assert(finds(lv::chains(named_kind{"relu"}, 8), three, {{1}, {2}, {1, 2}}));
constexpr auto any_op = [](const lv::node_info& node) { return lv::is_op(node); };
static_assert(finds(lv::chains(any_op, 2), three, {{0}, {1}, {2}, {0, 1}, {1, 2}}));
static_assert(finds(lv::chains(any_op, 3), diamond, {{0}, {1}, {2}, {3}, {1, 3}, {2, 3}}), "no chain through a fork");

static_assert(finds(matching(is("add")(is("abs"), is("relu"))), diamond, {{1, 2, 3}}), "what two inputs match");
static_assert(finds(matching(is("add")(is("relu"), is("abs"))), diamond, {}), "in their order");
static_assert(finds(matching(is("add")(anything, is("relu"))), diamond, {{2, 3}}),
              "a wildcard is no part of the match");
static_assert(finds(matching(is("add")(anything)), diamond, {}), "of one value alone");
static_assert(finds(matching(is("add")(is("abs")(is("relu")), is("relu")(is("relu")))), diamond, {{0, 1, 2, 3}}));
static_assert(finds(matching(is("relu")(anything)), diamond, {{0}, {2}}), "anything is what enters the graph, too");
static_assert(finds(matching(is("relu")(is("abs")) || is("relu")), three, {{0, 1}, {2}}),
              "the first alternative that matches");
constexpr auto pinned_relu = [] {
  auto graph = three;
  graph.nodes[2].pin = lv::cpu<1>::id;
  return graph;
}();
constexpr auto unpinned = [](const lv::node_info& node) { return !node.pin; };
static_assert(finds(matching(is("relu").where(unpinned)), pinned_relu, {{1}}));
static_assert(finds(matching(is("relu")(is("relu")).where(unpinned)), pinned_relu, {}));
static_assert(finds(matching(lv::node_where(unpinned)), pinned_relu, {{0}, {1}}));

static_assert(finds(lv::only_valid(lv::union_of(relu, relu_over), {.depth = 1}), three, {{1}, {2}}));
static_assert(finds(lv::only_valid(matching(is("relu")(is("conv"))), {.taps = false}), tapped, {}));
static_assert(lv::regions_of(lv::composite("relu_relu", matching(is("relu")(is("relu")))), lv::rule_graph(three))[0]
                  .composite == "relu_relu");

// ---- combinations ----
static_assert(finds(lv::combine(single(any_op), {}, lv::unconditionally), three,
                    {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}}));
static_assert(finds(lv::combine(single(any_op), {.depth = 2}, lv::unconditionally), three,
                    {{0}, {1}, {2}, {0, 1}, {1, 2}}));
static_assert(finds(lv::combine(relu, {}, lv::unconditionally), three, {{1}, {2}, {1, 2}}));
static_assert(finds(lv::combine(single(any_op), {}), three, {{0}, {1}, {2}}), "no way, no joint");
static_assert(finds(lv::combine(single(any_op), {.exits = 1, .taps = false}, lv::unconditionally), diamond,
                    {{0}, {1}, {2}, {3}, {1, 3}, {2, 3}, {1, 2, 3}, {0, 1, 2, 3}}));
static_assert(finds(lv::combine(single(any_op), {.depth = 1}, lv::with_all_it_takes), diamond, {{0}, {1}, {2}, {3}}));
static_assert(finds(lv::combine(single(any_op), {.exits = 1}, lv::with_all_it_takes), diamond,
                    {{0}, {1}, {2}, {3}, {1, 2, 3}}),
              "with all that it takes, or with nothing");

constexpr auto mixed = graph_of({{"conv", {}, op_kind::out_fusable},
                                 {"bias", {0}, op_kind::broadcast},
                                 {"relu", {1}, op_kind::element_wise},
                                 {"conv", {2}, op_kind::out_fusable},
                                 {"softmax", {3}, op_kind::opaque}});
static_assert(finds(lv::combine(single(any_op), {}, lv::joining{op_kind::out_fusable, op_kind::broadcast}), mixed,
                    {{0}, {1}, {2}, {3}, {4}, {0, 1}, {1, 2}, {0, 1, 2}}),
              "what comes behind a convolution, but no convolution behind it");
static_assert(finds(lv::combine(single(any_op), {}, lv::joining{op_kind::broadcast, op_kind::out_fusable}), mixed,
                    {{0}, {1}, {2}, {3}, {4}, {1, 2}, {2, 3}, {1, 2, 3}}));
constexpr auto named = lv::composite("conv_bias", matching(is("bias")(is("conv"))));
static_assert(
    [] {
      const auto found =
          lv::regions_of(lv::combine(lv::union_of(named, relu), {}, lv::unconditionally), lv::rule_graph(mixed));
      return are(found, {node_set{0, 1}, node_set{2}, node_set{0, 1, 2}}) && found[0].composite == "conv_bias" &&
             found[2].composite.empty();
    }(),
    "a composite is joined whole");

/// A random graph in the order of its nodes, each of which takes one to three values.
lv::graph_info<16> random_graph(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t bound) { return random() % bound; };
  auto graph = graph_of({});
  const std::size_t count = 2 + below(7);
  for (std::size_t i = 0; i < count; ++i) {
    lv::node_info node;
    node.kind = below(3) == 0 ? "b" : "a";
    node.how = lv::form::op;
    node.in = i - below(std::min<std::size_t>(i + 1, 3));
    for (std::size_t more = below(3); more > 0; --more) node.more.push_back(static_cast<std::uint16_t>(below(i + 1)));
    node.out = graph.result = graph.values.size();
    graph.values.push_back({4, 4, lv::element::f32, {}, true, i});
    graph.nodes.push_back(node);
  }
  return graph;
}

bool is_connected(const lv::dataflow<16>& flow, const node_set& set) {
  node_set reached{set.first()};
  for (node_set before; !(before == reached);) {
    before = reached;
    before.for_each([&](std::size_t n) { reached |= (flow.producers[n] | flow.takers[n]) & set; });
  }
  return reached == set;
}

}  // namespace

TEST_CASE("combining unconditionally finds every connected sub-graph within the limits, each once, and no other") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const auto graph = random_graph(seed);
    const lv::rule_graph g(graph);
    const lv::subgraph_limits limits{1 + seed % 5, 1 + seed / 5 % 3, seed % 2 == 0};
    const named_kind is_a{"a"};
    std::set<unsigned> found, expected;
    for (const auto& r : lv::regions_of(lv::combine(single(is_a), limits, lv::unconditionally), g)) {
      unsigned mask = 0;
      r.nodes.for_each([&](std::size_t n) { mask |= 1u << n; });
      REQUIRE(found.insert(mask).second);
    }
    for (unsigned mask = 1; mask < 1u << graph.nodes.size(); ++mask) {
      node_set set;
      bool taken = true;
      for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        if ((mask >> n & 1) != 0) {
          set.insert(n);
          taken = taken && is_a(graph.nodes[n]);
        }
      if (taken && is_connected(g.flow, set) && lv::fault_of(g.flow, set, limits) == subgraph_fault::none)
        expected.insert(mask);
    }
    REQUIRE(found == expected);
  }
}

TEST_CASE("the limits of a sub-graph are those of its paths, one by one") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const auto graph = random_graph(seed);
    const auto flow = lv::make_dataflow(graph);
    const std::size_t count = graph.nodes.size();
    for (unsigned mask = 1; mask < 1u << count; ++mask) {
      node_set set;
      for (std::size_t n = 0; n < count; ++n)
        if ((mask >> n & 1) != 0) set.insert(n);
      // Every path, followed edge by edge: its nodes inside are counted, and whether it left and came back.
      std::size_t longest = 0;
      bool comes_back = false;
      const auto follow = [&](auto self, std::size_t n, std::size_t inside, bool has_left) -> void {
        const bool here = set.contains(n);
        comes_back = comes_back || (here && has_left);
        if (here) longest = std::max(longest, ++inside);
        for (std::size_t t = n + 1; t < count; ++t) {
          bool takes = false;
          lv::for_each_input(graph.nodes[t], [&](std::size_t v) { takes = takes || v == graph.nodes[n].out; });
          if (takes) self(self, t, here ? inside : 0, has_left || (inside > 0 && !here));
        }
      };
      for (std::size_t n = 0; n < count; ++n)
        if (set.contains(n)) follow(follow, n, 0, false);
      REQUIRE(lv::is_convex(flow, set) == !comes_back);
      if (!comes_back) REQUIRE(lv::depth_of(flow, set) == longest);
    }
  }
}
