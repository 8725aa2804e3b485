// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/node_order.hpp: the order of a graph's nodes. Backends are asked for runs of ops that stand in a row, of
// which each takes what the one before gives and nobody else does. Where a graph is written with other nodes between
// two such ops, the later one is moved to the earlier: that is all it waits for, and an op does nothing but compute. So
// each run that a kernel could take as one is offered, in whatever order the nodes were written.

#include <cstddef>
#include <string_view>

#include <levada/graph/detail/graph_info.hpp>

namespace levada::detail {

/// A port, node or output of a graph by its names.
struct graph_name {
  std::string_view name{};
  std::string_view from[most_inputs]{};
  std::size_t takes = 0;
  bool only_ops = false;    ///< nothing else is in the node
  bool ends_in_op = false;  ///< its last stage is one
};

template <std::size_t N>
struct node_order {
  std::size_t at[N]{};
  bool as_written = true;

  constexpr explicit node_order(const graph_name (&parts)[N]) {
    bool placed[N]{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t next = i; next < N && !placed[next]; next = only_taker(parts, next)) {
        placed[next] = true;
        as_written = as_written && next == count;
        at[count++] = next;
      }
  }

 private:
  /// The node behind `of` that takes what this gives and nothing else, where nobody else takes it and both are ops
  /// there.
  static constexpr std::size_t only_taker(const graph_name (&parts)[N], std::size_t of) {
    const std::string_view name = parts[of].name;
    if (name.empty() || !parts[of].ends_in_op) return N;
    std::size_t takers = 0, taker = N;
    for (std::size_t i = 0; i < N; ++i) {
      if (i != of && parts[i].name == name) return N;  // a mistake, which is found later
      for (std::size_t k = 0; k < parts[i].takes; ++k)
        if (const std::string_view from = parts[i].from[k]; from == name || is_output_of(name, from)) {
          ++takers;
          taker = from == name ? i : N;
        }
    }
    const bool follows = takers == 1 && taker > of && taker < N && parts[taker].takes == 1 && parts[taker].only_ops;
    return follows ? taker : N;
  }
  static constexpr bool is_output_of(std::string_view node, std::string_view from) {
    return from.size() > node.size() && from.starts_with(node) && from[node.size()] == '.';
  }
};

}  // namespace levada::detail
