// SPDX-License-Identifier: Apache-2.0
#pragma once
// Graphs of a few ops, by the nodes that each takes.

#include <initializer_list>
#include <string_view>

#include <levada/plan/detail/dataflow.hpp>
#include <levada/plan/detail/node_set_list.hpp>

namespace levada::test {

/// An op and the nodes whose values it takes; what enters the graph where it names none.
struct small_op {
  std::string_view kind;
  std::initializer_list<std::size_t> takes{};
  op_kind fuses_as = op_kind::element_wise;
};

/// The last op gives the result.
template <std::size_t N = 16>
constexpr graph_info<N> graph_of(std::initializer_list<small_op> ops, std::size_t bytes = 64) {
  graph_info<N> graph;
  graph.values.push_back({bytes, 64});
  for (const small_op& op : ops) {
    node_info node;
    node.name = node.kind = op.kind;
    node.how = form::op;
    node.fuses_as = op.fuses_as;
    bool first = true;
    for (const std::size_t p : op.takes) {
      if (first)
        node.in = p + 1;
      else
        node.more.push_back(static_cast<std::uint16_t>(p + 1));
      first = false;
    }
    node.out = graph.result = graph.values.size();
    graph.values.push_back({bytes, 64, element::f32, {}, true, graph.nodes.size()});
    graph.nodes.push_back(node);
  }
  return graph;
}

/// The same sets in any order, each once.
template <std::size_t N, class Found>
constexpr bool are(const Found& found, std::initializer_list<node_set<N>> expected) {
  node_set_list<N> known;
  for (const node_set<N>& set : expected) known.add(set);
  const std::size_t count = known.size();
  for (const auto& region : found) known.add(region.nodes);
  return count == expected.size() && known.size() == count && found.size() == count;
}

}  // namespace levada::test
