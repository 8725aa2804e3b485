// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/placement.hpp: the question of who computes what, where, as values: a graph, the places there are, what
// moving a value from one to another takes, and the offers to compute sub-graphs. plan/detail/search.hpp answers it.

#include <cstddef>

#include <levada/core/detail/bounded.hpp>
#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/plan/detail/dataflow.hpp>

namespace levada {

/// What a device, or several equal ones, can do.
struct device_capacity {
  static constexpr std::size_t any = ~std::size_t{0};

  /// How many items it works on at once: a processor's workers, or equal devices of which each takes its turn.
  int workers = 1;
  std::size_t memory = any;  ///< bytes for what its kernels keep
};

/// Where kernels compute and leave their values: a device, and a layout of the values there.
struct place {
  std::size_t device = 0;
  double launch_seconds = 0;  ///< before each region
};

inline constexpr std::size_t most_places = 8;

/// A region that a backend could take at a place.
template <std::size_t N>
struct offer {
  node_set<N> nodes;
  std::size_t place = 0;
  std::size_t rank = 0;       ///< when its backend was named: the smaller is preferred
  cost price{};               ///< without launch and crossings
  std::size_t bytes = 0;      ///< of the device's memory, kept
  bool serial = false;        ///< one item after the other, whatever the device could do at once
  std::size_t candidate = 0;  ///< the asker's number for it
};

/// What is asked. Nodes that are pinned have offers at the places they are pinned to alone.
template <std::size_t N>
struct placement_problem {
  static constexpr std::size_t nowhere = ~std::size_t{0};

  dataflow<N> flow;
  std::size_t bytes[N]{};       ///< of the value that a node gives
  std::size_t input_bytes = 0;  ///< of what enters the graph
  bounded<device_capacity, most_places> devices;
  bounded<place, most_places> places;
  /// From, to. A value is moved once to each place where it is taken, from where it was given.
  crossing crossings[most_places][most_places];  // without braces: g++ 13 breaks down over its copy else
  std::size_t host = nowhere;  ///< the place where items enter, and results are wanted; `nowhere`: anywhere
  detail::constexpr_vector<offer<N>> offers;
};

template <std::size_t N>
constexpr placement_problem<N> make_problem(const graph_info<N>& graph) {
  placement_problem<N> problem;
  problem.flow = make_dataflow(graph);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[n].how != form::sink) problem.bytes[n] = graph.values[graph.nodes[n].out].bytes;
  problem.input_bytes = graph.values[0].bytes;
  return problem;
}

/// What a search makes small.
enum class objective {
  latency,     ///< the seconds from an item to its result: all that is computed and moved, one after the other
  throughput,  ///< the seconds between results: the most loaded device. What moves loads the device that takes it
  memory,      ///< the bytes that kernels keep (plan/detail/limits.hpp), then the latency
  devices      ///< how many devices compute, then the latency
};

/// The answer: offers that cover the graph, in an order in which they can run.
template <std::size_t N>
struct cover {
  bounded<std::size_t, N> chosen;  ///< indices of the offers
  bool complete = false;           ///< it covers the graph; false where no choice of offers does
  bool exact = false;              ///< no cover is better; else a beam was kept and something was left out
  double seconds = 0;              ///< of the objective
  double bound = 0;                ///< no cover takes less

  /// By what part of the bound it may be worse than the best.
  constexpr double gap() const { return bound > 0 ? seconds / bound - 1 : 0; }
};

}  // namespace levada
