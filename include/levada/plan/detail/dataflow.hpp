// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/dataflow.hpp: who takes what from whom in a graph, as sets of nodes: what rules and searches ask all the
// time.

#include <cstddef>

#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/node_set.hpp>

namespace levada {

/// The edges of a graph of at most `N` nodes. A node stands for the value it gives.
template <std::size_t N>
struct dataflow {
  std::size_t nodes = 0;
  node_set<N> producers[N];  ///< the nodes whose values a node takes
  node_set<N> takers[N];     ///< the nodes that take its value
  node_set<N> before[N];     ///< all that it waits for
  node_set<N> behind[N];     ///< all that wait for it
  node_set<N> takes_input;   ///< the nodes that take what enters the graph
  node_set<N> leaving;       ///< the nodes whose values leave the graph

  /// `taker` takes the value of `producer`, an earlier node. Edges come in the order of their takers.
  constexpr void connect(std::size_t producer, std::size_t taker) {
    producers[taker].insert(producer);
    takers[producer].insert(taker);
    before[taker].insert(producer);
    before[taker] |= before[producer];
  }
  /// To be called behind the last edge.
  constexpr void finish() {
    for (std::size_t n = nodes; n-- > 0;)
      producers[n].for_each([&](std::size_t p) {
        behind[p].insert(n);
        behind[p] |= behind[n];
      });
  }
};

template <std::size_t N>
constexpr dataflow<N> make_dataflow(const graph_info<N>& graph) {
  dataflow<N> flow;
  flow.nodes = graph.nodes.size();
  for (std::size_t n = 0; n < flow.nodes; ++n)
    for_each_input(graph.nodes[n], [&](std::size_t v) {
      if (const std::size_t producer = graph.values[v].producer; producer != value_info::nobody)
        flow.connect(producer, n);
      else
        flow.takes_input.insert(n);
    });
  if (!graph.ends_in_sink)
    for (std::size_t v = 0; v < graph.values.size(); ++v) {
      const bool leaves = v == graph.result || (v < graph.result && graph.values[v].part_of == graph.result);
      if (leaves && graph.values[v].producer != value_info::nobody) flow.leaving.insert(graph.values[v].producer);
    }
  flow.finish();
  return flow;
}

}  // namespace levada
