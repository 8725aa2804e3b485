// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/subgraph.hpp: which sets of nodes can be computed as one, and what is wrong with those that cannot
// (Collage, TVM RFC 62).

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <levada/plan/detail/dataflow.hpp>

namespace levada {

/// What is asked of a sub-graph besides that nothing leaves it and comes back.
struct subgraph_limits {
  static constexpr std::size_t any = ~std::size_t{0};

  std::size_t depth = any;  ///< nodes on its longest path, at most
  std::size_t exits = any;  ///< nodes whose values are taken outside, at most
  bool taps = true;         ///< a value may be taken inside and outside
};

/// Why a sub-graph cannot be computed as one.
enum class subgraph_fault { none, empty, cycle, depth, exits, tap };

template <class = void>
constexpr std::string_view sentence_of(subgraph_fault fault) {
  constexpr std::string_view sentences[] = {"it can be computed as one",
                                            "it has no node",
                                            "what leaves it comes back: it would wait for itself",
                                            "its longest path has too many nodes",
                                            "too many of its values are taken outside",
                                            "a value is taken inside and outside"};
  return sentences[static_cast<std::size_t>(fault)];
}

/// The nodes outside whose values it takes.
template <std::size_t N>
constexpr node_set<N> outer_producers(const dataflow<N>& flow, const node_set<N>& set) {
  node_set<N> all;
  set.for_each([&](std::size_t n) { all |= flow.producers[n]; });
  return all - set;
}

/// The nodes whose values are taken outside, or leave the graph.
template <std::size_t N>
constexpr node_set<N> exits_of(const dataflow<N>& flow, const node_set<N>& set) {
  node_set<N> exits = set & flow.leaving;
  set.for_each([&](std::size_t n) {
    if (!set.contains(flow.takers[n])) exits.insert(n);
  });
  return exits;
}

/// The exits whose values are taken inside, too.
template <std::size_t N>
constexpr node_set<N> taps_of(const dataflow<N>& flow, const node_set<N>& set) {
  node_set<N> taps;
  exits_of(flow, set).for_each([&](std::size_t n) {
    if (set.intersects(flow.takers[n])) taps.insert(n);
  });
  return taps;
}

/// The number of nodes on the longest path inside.
template <std::size_t N>
constexpr std::size_t depth_of(const dataflow<N>& flow, const node_set<N>& set) {
  std::size_t depth[N]{}, longest = 0;
  set.for_each([&](std::size_t n) {
    (flow.producers[n] & set).for_each([&](std::size_t p) { depth[n] = std::max(depth[n], depth[p]); });
    longest = std::max(longest, ++depth[n]);
  });
  return longest;
}

/// No path leaves the set and comes back.
template <std::size_t N>
constexpr bool is_convex(const dataflow<N>& flow, const node_set<N>& set) {
  node_set<N> before, behind;
  set.for_each([&](std::size_t n) {
    before |= flow.before[n];
    behind |= flow.behind[n];
  });
  return set.contains(before & behind);
}

/// Whether its longest path has more nodes than the limit.
template <std::size_t N>
constexpr bool is_deeper(const dataflow<N>& flow, const node_set<N>& set, std::size_t depth) {
  return set.size() > depth && depth_of(flow, set) > depth;
}

/// The first limit that a sub-graph exceeds.
template <std::size_t N>
constexpr subgraph_fault exceeded_limit(const dataflow<N>& flow, const node_set<N>& set,
                                        const subgraph_limits& limits) {
  using enum subgraph_fault;
  if (is_deeper(flow, set, limits.depth)) return depth;
  if (limits.exits != subgraph_limits::any && exits_of(flow, set).size() > limits.exits) return exits;
  if (!limits.taps && !taps_of(flow, set).empty()) return tap;
  return none;
}

/// The first thing wrong with a sub-graph.
template <std::size_t N>
constexpr subgraph_fault fault_of(const dataflow<N>& flow, const node_set<N>& set, const subgraph_limits& limits = {}) {
  using enum subgraph_fault;
  if (set.empty()) return empty;
  if (!is_convex(flow, set)) return cycle;
  return exceeded_limit(flow, set, limits);
}

}  // namespace levada
