// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/annotation.hpp: bring your own codegen, as TVM has it: each node is annotated with the first backend of a
// list that supports it, then neighbours of the same backend are merged as far as no region comes to wait for itself.
// No costs.

#include <array>
#include <cstddef>

#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/dataflow.hpp>

namespace levada {

/// The backend of each node, by its place in a list; `nobody` where none is annotated.
template <std::size_t N>
struct annotation {
  static constexpr std::size_t nobody = ~std::size_t{0};

  std::array<std::size_t, N> backend;

  constexpr annotation() { backend.fill(nobody); }
  friend constexpr bool operator==(const annotation&, const annotation&) = default;
};

/// Annotates with `backend` what it supports, by a function of a node_info, and no other has been annotated with.
template <std::size_t N, class Supports>
constexpr void annotate(annotation<N>& annotated, const graph_info<N>& graph, std::size_t backend,
                        const Supports& supports) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (annotated.backend[n] == annotation<N>::nobody && supports(graph.nodes[n])) annotated.backend[n] = backend;
}

/// Annotates for a list of backends, the preferred one first.
template <std::size_t N, class... Supports>
constexpr annotation<N> annotate(const graph_info<N>& graph, const Supports&... supports) {
  annotation<N> annotated;
  std::size_t backend = 0;
  (annotate(annotated, graph, backend++, supports), ...);
  return annotated;
}

/// Nodes of one backend that are computed as one.
template <std::size_t N>
struct merged_region {
  node_set<N> nodes;
  std::size_t backend = annotation<N>::nobody;
};

namespace detail {

/// Regions of a graph while they are being merged.
template <std::size_t N>
class region_merger {
 public:
  constexpr region_merger(const dataflow<N>& flow, const annotation<N>& annotated)
      : flow_(flow), annotated_(annotated) {}

  constexpr constexpr_vector<merged_region<N>> merge() {
    for (std::size_t n = 0; n < flow_.nodes; ++n) {
      region_of_[n] = n;
      nodes_[n] = {n};
      flow_.producers[n].for_each([&](std::size_t p) {
        const std::size_t above = region_of_[p], here = region_of_[n];
        if (above == here || annotated_.backend[p] != annotated_.backend[n]) return;
        if (leads_around(above, here) || leads_around(here, above)) return;
        nodes_[here].for_each([&](std::size_t moved) { region_of_[moved] = above; });
        nodes_[above] |= nodes_[here];
        nodes_[here] = {};
      });
    }
    constexpr_vector<merged_region<N>> regions;
    for (std::size_t n = 0; n < flow_.nodes; ++n)  // those that begin first, first
      if (nodes_[region_of_[n]].first() == n) regions.push_back({nodes_[region_of_[n]], annotated_.backend[n]});
    return regions;
  }

 private:
  /// A way from one region to another passes through a third.
  constexpr bool leads_around(std::size_t from, std::size_t to) const {
    const node_set<N> ends = nodes_[from] | nodes_[to];
    node_set<N> reached, open = takers_of(nodes_[from]) - ends;
    while (!open.empty()) {
      const std::size_t n = open.first();
      // What waits for one node of a region waits for all of it; nodes behind the last one merged are regions of their
      // own.
      const node_set<N> whole = nodes_[region_of_[n]].contains(n) ? nodes_[region_of_[n]] : node_set<N>{n};
      reached |= whole;
      const node_set<N> takers = takers_of(whole);
      if (takers.intersects(nodes_[to])) return true;
      open = (open | takers) - reached - ends;
    }
    return false;
  }
  constexpr node_set<N> takers_of(const node_set<N>& set) const {
    node_set<N> all;
    set.for_each([&](std::size_t n) { all |= flow_.takers[n]; });
    return all;
  }

  const dataflow<N>& flow_;
  const annotation<N>& annotated_;
  std::size_t region_of_[N]{};
  node_set<N> nodes_[N];
};

}  // namespace detail

/// The regions that neighbours of the same backend are merged into, in the order of the nodes and of what they take;
/// nodes of nobody are merged alike. A cover of the graph: every node is in one region, and no region waits for itself.
template <std::size_t N>
constexpr detail::constexpr_vector<merged_region<N>> merge_regions(const dataflow<N>& flow,
                                                                   const annotation<N>& annotated) {
  return detail::region_merger<N>(flow, annotated).merge();
}

}  // namespace levada
