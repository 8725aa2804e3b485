// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/region_runs.hpp: which nodes in a row one kernel could compute, and what such a kernel takes. Nodes stand
// in an order in which they can run, so that any of them in a row are convex: no path leaves them and comes back.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/graph_info.hpp>

namespace levada {

/// Of nodes in a row each takes what the one before gives and nothing else.
template <std::size_t N>
constexpr bool is_chain(const graph_info<N>& graph, std::size_t first, std::size_t count) {
  for (std::size_t n = first + 1; n < first + count; ++n)
    if (graph.nodes[n].in != graph.nodes[n - 1].out || !graph.nodes[n].more.empty()) return false;
  return true;
}

/// The values that a kernel takes; one more says that they are too many.
using run_inputs = bounded<std::uint16_t, most_inputs + 1>;

/// The values that nodes in a row take from outside: the operands of a node, or of the first of a chain, as they are;
/// of another region each value once, in the order in which it is taken first.
template <std::size_t N>
constexpr run_inputs inputs_of_run(const graph_info<N>& graph, std::size_t first, std::size_t count) {
  run_inputs inputs;
  for_each_input(graph.nodes[first], [&](std::size_t v) { inputs.push_back(static_cast<std::uint16_t>(v)); });
  if (is_chain(graph, first, count)) return inputs;
  inputs.clear();
  for (std::size_t n = first; n < first + count; ++n)
    for_each_input(graph.nodes[n], [&](std::size_t v) {
      const std::size_t maker = graph.values[v].producer;
      const bool is_inside = maker != value_info::nobody && maker >= first && maker < n;
      if (!is_inside && std::find(inputs.begin(), inputs.end(), v) == inputs.end())
        inputs.try_push_back(static_cast<std::uint16_t>(v));
    });
  return inputs;
}

/// The nodes among those in a row whose values one kernel gives as parts of a whole; none where it gives the last
/// one's.
template <std::size_t N>
constexpr run_inputs outputs_of_run(const graph_info<N>& graph, std::size_t first, std::size_t count) {
  run_inputs outputs;
  if (!graph.has_joined_outputs || count == 1) return outputs;
  const std::size_t whole = graph.nodes[first + count - 1].out;
  for (std::size_t n = first; n < first + count; ++n)
    for (std::size_t v = whole + 1; v < graph.values.size(); ++v)
      if (graph.values[v].part_of == whole && graph.values[v].producer == n)
        outputs.try_push_back(static_cast<std::uint16_t>(n));
  if (outputs.size() == 1) outputs.clear();
  return outputs;
}

constexpr std::size_t operand_of(const node_info& node, std::size_t k) { return k == 0 ? node.in : node.more[k - 1]; }

/// Where an operand of the `op`-th node of a region comes from: an input of the region by its number, or behind these
/// the node that makes it.
template <std::size_t N>
constexpr std::size_t origin_in_run(const graph_info<N>& graph, std::size_t first, std::size_t count, std::size_t op,
                                    std::size_t k) {
  const run_inputs inputs = inputs_of_run(graph, first, count);
  const std::size_t v = operand_of(graph.nodes[first + op], k);
  const auto at = std::find(inputs.begin(), inputs.end(), v);
  if (at != inputs.end()) return static_cast<std::size_t>(at - inputs.begin());
  return inputs.size() + graph.values[v].producer - first;
}

/// An operand of a node of a region.
struct operand_in_run {
  std::size_t op = 0, operand = 0;
};
/// The first operand that is that input of the region.
template <std::size_t N>
constexpr operand_in_run first_use_in_run(const graph_info<N>& graph, std::size_t first, std::size_t count,
                                          std::size_t input) {
  const std::size_t v = inputs_of_run(graph, first, count)[input];
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k <= graph.nodes[first + i].more.size(); ++k)
      if (operand_of(graph.nodes[first + i], k) == v) return {i, k};
  return {};
}

/// The runs of consecutive nodes of a graph that can be regions.
template <std::size_t N>
class region_runs {
 public:
  constexpr explicit region_runs(const graph_info<N>& graph) : graph_(graph) {
    const std::size_t count = graph.nodes.size();
    std::array<std::size_t, N + 1> last_taker{}, takers{};
    for (std::size_t n = 0; n < count; ++n)
      for_each_input(graph.nodes[n], [&](std::size_t v) {
        last_taker[v] = n;
        ++takers[v];
      });
    for (std::size_t v = 0; v < graph.values.size(); ++v)  // a part leaves with its whole, a whole by its parts
      if (is_part_value(graph.values[v])) last_taker[v] = last_taker[graph.values[v].part_of] = count;
    if (!graph.ends_in_sink) last_taker[graph.result] = count;
    for (std::size_t n = 0; n < count; ++n) {
      const node_info& node = graph.nodes[n];
      if (node.how == form::sink) continue;
      taken_until_[n] = takers[node.out] == 0 ? count : last_taker[node.out];
      has_joins_ = has_joins_ || !node.more.empty();
    }
  }

  /// Some node takes several values: else all regions are chains, each of whose ops takes what the one before gives.
  constexpr bool has_joins() const { return has_joins_; }

  /// Calls `visit(first, count)` for each region of two to `longest` nodes that is no chain, however many values it
  /// takes; for those that begin at the nodes from `begin` to before `end`.
  template <class Visit>
  constexpr void for_each_region(std::size_t longest, Visit visit, std::size_t begin = 0,
                                 std::size_t end = ~std::size_t{0}) const {
    const std::size_t nodes = has_joins_ ? graph_.nodes.size() : 0;
    for (std::size_t first = begin; first < std::min(nodes, end); ++first) {
      std::size_t open_until = 0;  // the last node that takes what one of them gives
      bool joins = false;
      for (std::size_t n = first; n < std::min(nodes, first + longest) && is_op(graph_.nodes[n]); ++n) {
        const node_info& node = graph_.nodes[n];
        joins = joins || (n != first && (!node.more.empty() || node.in != graph_.nodes[n - 1].out));
        if (joins && open_until <= n) visit(first, n - first + 1);
        open_until = std::max(open_until, taken_until_[n]);
        if (open_until >= first + longest) break;
      }
    }
  }

  /// All are ops, only what the last one gives is taken outside, and they take no more values than a kernel may.
  constexpr bool is_region(std::size_t first, std::size_t count) const {
    const std::size_t last = first + count - 1;
    for (std::size_t n = first; n <= last; ++n)
      if (!is_op(graph_.nodes[n]) || (n != last && taken_until_[n] > last && !is_joined(n, last))) return false;
    return is_chain(graph_, first, count) || inputs_of_run(graph_, first, count).size() <= most_inputs;
  }

 private:
  /// What the node gives is an output of the region of that last node.
  constexpr bool is_joined(std::size_t n, std::size_t last) const {
    return graph_.has_joined_outputs && graph_.values[graph_.nodes[n].out].part_of == graph_.nodes[last].out;
  }

  const graph_info<N>& graph_;
  std::array<std::size_t, N> taken_until_{};  ///< the last node that takes what a node gives; behind all: it leaves
  bool has_joins_ = false;
};

}  // namespace levada
