// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/node_order.hpp: the order of a graph's nodes. Backends are asked for runs of ops that stand in a row:
// each takes the result of the one before, which nobody else takes. Where a graph is written with other nodes between
// two such ops, the later one is moved to the earlier. It waits for nothing else, and an op does nothing but compute.
// Each run that a kernel could take as one is offered so, in whatever order the nodes were written.

#include <cstddef>

#include <levada/graph/detail/graph_names.hpp>

namespace levada::detail {

/// What is in a node of a graph.
struct node_content {
  bool only_ops = false;    ///< nothing else
  bool ends_in_op = false;  ///< its last stage is one
};

template <std::size_t N>
struct node_order {
  std::size_t at[N]{};
  bool as_written = true;

  template <std::size_t Names>
  constexpr node_order(const graph_member (&members)[N], const node_content (&contents)[N],
                       const graph_names<N, Names>& names) {
    bool placed[N]{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t next = i; next < N && !placed[next]; next = only_taker(members, contents, names, next)) {
        placed[next] = true;
        as_written = as_written && next == count;
        at[count++] = next;
      }
  }

 private:
  /// The node behind `of` that takes what this gives and nothing else, where nobody else takes it and both are ops
  /// there. None where a name is wrong: that is said later.
  template <std::size_t Names>
  static constexpr std::size_t only_taker(const graph_member (&members)[N], const node_content (&contents)[N],
                                          const graph_names<N, Names>& names, std::size_t of) {
    if (names.wrong != wiring_error::none || !contents[of].ends_in_op || names.takers[of] != 1) return N;
    for (std::size_t i = of + 1; i < N; ++i)
      if (contents[i].only_ops && members[i].from.size() == 1 && names.from(i, 0).member == of &&
          names.from(i, 0).is_whole)
        return i;
    return N;
  }
};

}  // namespace levada::detail
