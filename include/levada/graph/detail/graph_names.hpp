// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/graph_names.hpp: the names of one graph, solved once: who gives what each of its nodes takes. By the
// order of nodes (graph/detail/node_order.hpp), by graphs that change their rate (graph/detail/rated_graph.hpp), and by
// the parts of a flattened pipeline (graph/detail/wiring.hpp).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <levada/graph/detail/graph_info.hpp>

namespace levada::detail {

/// What is wrong with the names of a graph.
enum class wiring_error : std::uint8_t { none, unknown, itself, later, twice, nothing, only_input, output_twice };

/// A port, node or output of a graph, or what comes into a block, by its names.
struct graph_member {
  enum kind_type : std::uint8_t { entry, port, node, output } kind = node;
  std::string_view name{};
  std::span<const std::string_view> from{};
};

/// Who gives what a name stands for.
struct named_source {
  std::size_t member = 0;
  bool is_whole = true;  ///< else one of several outputs of a graph in that node: "node.output"
};

/// "node.output" is one of several outputs of a graph in that node, whose name is `node`.
constexpr bool names_output_of(std::string_view node, std::string_view name) {
  return !node.empty() && name.size() > node.size() && name.starts_with(node) && name[node.size()] == '.';
}

/// Of `N` members at most, each behind those it takes from, that take by `Names` names at most.
template <std::size_t N, std::size_t Names>
struct graph_names {
  std::size_t takers[N]{};  ///< how many names stand for what it gives, or for a part of that

  wiring_error wrong = wiring_error::none;
  std::size_t wrong_at = 0;    ///< the member
  std::size_t wrong_name = 0;  ///< which of the names it takes

  /// `has_output(j, name)`: the graph in node `j` has an output that goes by that name.
  template <class HasOutput>
  constexpr graph_names(const graph_member (&members)[N], std::size_t count, HasOutput has_output) {
    std::size_t sources = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const graph_member& m = members[i];
      first_[i] = sources;
      if (m.kind == graph_member::port || (m.kind == graph_member::node && !m.name.empty()))
        for (std::size_t j = 0; j < i; ++j)
          if (members[j].name == m.name) complain(wiring_error::twice, i, 0);
      if (m.kind >= graph_member::node && m.from.empty()) complain(wiring_error::nothing, i, 0);
      for (std::size_t k = 0; k < m.from.size(); ++k) {
        const named_source from = sources_[sources++] = find(members, count, i, k, has_output);
        ++takers[from.member];
      }
    }
  }

  /// Who gives the `k`-th of what member `i` takes.
  constexpr const named_source& from(std::size_t i, std::size_t k) const { return sources_[first_[i] + k]; }

 private:
  template <class HasOutput>
  constexpr named_source find(const graph_member (&members)[N], std::size_t count, std::size_t i, std::size_t k,
                              HasOutput has_output) {
    const std::string_view name = members[i].from[k];
    for (std::size_t j = 0; j < i; ++j)
      if (members[j].kind != graph_member::output && members[j].name == name) return {j};
    for (std::size_t j = 0; j < i; ++j)
      if (members[j].kind == graph_member::node && names_output_of(members[j].name, name) && has_output(j, name))
        return {j, false};
    bool is_later = false;
    for (std::size_t j = i + 1; j < count; ++j)
      is_later = is_later || (members[j].kind == graph_member::node && members[j].name == name);
    if (members[i].kind == graph_member::node && members[i].name == name)
      complain(wiring_error::itself, i, k);
    else
      complain(is_later ? wiring_error::later : wiring_error::unknown, i, k);
    return {};
  }
  constexpr void complain(wiring_error what, std::size_t at, std::size_t name) {
    if (wrong != wiring_error::none) return;
    wrong = what;
    wrong_at = at;
    wrong_name = name;
  }

  named_source sources_[Names + 1]{};  // of one member behind those of the one before
  std::size_t first_[N]{};
};

/// How many names all of them take by.
constexpr std::size_t count_names(std::span<const graph_member> members) {
  std::size_t names = 0;
  for (const graph_member& m : members) names += m.from.size();
  return names;
}

}  // namespace levada::detail
