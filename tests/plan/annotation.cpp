// SPDX-License-Identifier: Apache-2.0
// Annotating for a list of backends and merging regions, with the regions that TVM's partitioner is expected to find.

#include <doctest/doctest.h>

#include <random>

#include <levada/plan/detail/annotation.hpp>
#include <levada/plan/detail/pattern.hpp>
#include <levada/plan/detail/subgraph.hpp>

#include "small_graph.hpp"

namespace lv = levada;
using lv::test::graph_of;

namespace {

constexpr auto supports = [](auto... kinds) {
  return [=](const lv::node_info& node) { return ((node.kind == kinds) || ...); };
};
constexpr std::size_t nobody = lv::annotation<16>::nobody;

struct expected_region {
  lv::node_set<16> nodes;
  std::size_t backend;
};

constexpr bool merges(const lv::graph_info<16>& graph, const lv::annotation<16>& annotated,
                      std::initializer_list<expected_region> expected) {
  const auto regions = lv::merge_regions(lv::make_dataflow(graph), annotated);
  bool equal = regions.size() == expected.size();
  for (std::size_t i = 0; equal && i < regions.size(); ++i)
    equal = regions[i].nodes == expected.begin()[i].nodes && regions[i].backend == expected.begin()[i].backend;
  return equal;
}

constexpr auto diamond = graph_of({{"abs"}, {"relu", {0}}, {"tanh", {0}}, {"add", {1, 2}}});
static_assert(merges(diamond, lv::annotate(diamond, supports("abs", "relu", "add")),
                     {{{0, 1}, 0}, {{2}, nobody}, {{3}, 0}}),
              "add in the first region would make it wait for itself");
static_assert(merges(diamond, lv::annotate(diamond, supports("abs", "relu", "tanh", "add")), {{{0, 1, 2, 3}, 0}}));
static_assert(merges(diamond, {}, {{{0, 1, 2, 3}, nobody}}), "what nobody supports is left together");

constexpr auto adds_and_subs = graph_of({{"add"},
                                         {"add"},
                                         {"add", {0, 1}},
                                         {"sub"},
                                         {"sub", {3}},
                                         {"add", {2, 4}},
                                         {"sub", {5}},
                                         {"add", {5}},
                                         {"add", {6, 7}},
                                         {"add", {8}}});
static_assert(merges(adds_and_subs, lv::annotate(adds_and_subs, supports("add")),
                     {{{0, 1, 2, 5, 7}, 0}, {{3, 4}, nobody}, {{6}, nobody}, {{8, 9}, 0}}));

// relu is supported by A, add by B.
constexpr auto relu_add = graph_of({{"relu"}, {"relu", {0}}, {"add", {1, 0}}, {"add", {2, 2}}, {"abs", {3}}});
constexpr auto listed = lv::annotate(relu_add, supports("relu"), supports("add"));
static_assert([] {
  lv::annotation<16> one_after_the_other;
  lv::annotate(one_after_the_other, relu_add, 0, supports("relu"));
  lv::annotate(one_after_the_other, relu_add, 1, supports("add"));
  return one_after_the_other == listed;
}());
static_assert([] {
  auto twice = listed;
  lv::annotate(twice, relu_add, 0, supports("relu"));
  lv::annotate(twice, relu_add, 1, supports("add"));
  return twice == listed;
}());
static_assert(merges(relu_add, listed, {{{0, 1}, 0}, {{2, 3}, 1}, {{4}, nobody}}));
static_assert(merges(relu_add, lv::annotate(relu_add, supports("relu", "add"), supports("add")),
                     {{{0, 1, 2, 3}, 0}, {{4}, nobody}}),
              "a backend named first keeps what a second supports, too");

// 1 would wait for 3 of another backend, and 3 for 1, if 1 were merged with 4; 5 takes from two regions and joins both.
constexpr auto crossed = graph_of({{"a"}, {"a"}, {"b", {0}}, {"b", {1}}, {"a", {3}}, {"a", {0, 4}}});
static_assert(merges(crossed, lv::annotate(crossed, supports("a"), supports("b")),
                     {{{0, 4, 5}, 0}, {{1}, 0}, {{2}, 1}, {{3}, 1}}));

}  // namespace

TEST_CASE(
    "merged regions cover any graph without waiting for themselves, and no two neighbours of one backend could still "
    "be merged") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    auto graph = graph_of({});
    const std::size_t count = 2 + random() % 13;
    for (std::size_t i = 0; i < count; ++i) {
      lv::node_info node;
      node.how = lv::form::op;
      node.kind = random() % 2 == 0 ? "a" : "b";
      node.in = random() % (i + 1);
      if (random() % 2 == 0) node.more.push_back(static_cast<std::uint16_t>(random() % (i + 1)));
      node.out = graph.result = graph.values.size();
      graph.values.push_back({4, 4, lv::element::f32, {}, true, i});
      graph.nodes.push_back(node);
    }
    const auto flow = lv::make_dataflow(graph);
    const auto regions = lv::merge_regions(flow, lv::annotate(graph, supports("a")));

    /// Regions can be computed one after the other: each time one that all others it waits for come before.
    const auto in_some_order = [&](std::vector<lv::node_set<16>> open) {
      lv::node_set<16> done;
      for (bool advanced = true; advanced;) {
        advanced = false;
        for (auto& r : open)
          if (!r.empty() && done.contains(lv::outer_producers(flow, r))) {
            done |= r;
            r = {};
            advanced = true;
          }
      }
      return done == lv::node_set<16>::run(0, count);
    };
    std::vector<lv::node_set<16>> sets;
    std::size_t nodes = 0;
    for (const auto& r : regions) {
      sets.push_back(r.nodes);
      nodes += r.nodes.size();
      r.nodes.for_each([&](std::size_t n) { REQUIRE(graph.nodes[n].kind == (r.backend == 0 ? "a" : "b")); });
    }
    REQUIRE(nodes == count);
    REQUIRE(in_some_order(sets));
    for (std::size_t i = 0; i < sets.size(); ++i)
      for (std::size_t j = 0; j < sets.size(); ++j) {
        if (i == j || regions[i].backend != regions[j].backend) continue;
        if (!lv::outer_producers(flow, sets[j]).intersects(sets[i])) continue;
        auto joined = sets;
        joined[i] |= joined[j];
        joined[j] = {};
        REQUIRE(!in_some_order(joined));
      }
  }
}
