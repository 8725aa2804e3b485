// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/wiring.hpp: how the parts of a flattened pipeline are connected, by the marks between them and the names
// that these have; and what is wrong with the names.

#include <cstddef>
#include <span>
#include <string_view>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/graph_names.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/pipeline.hpp>

namespace levada::detail {

/// How the `N` parts of a flattened pipeline are connected, who take `Taken` values at most.
template <std::size_t N, std::size_t Taken>
struct part_order {
  static constexpr std::size_t none = ~std::size_t{0};

  /// The parts whose output a part takes: one, but at an end of branches and at a node of several inputs.
  constexpr std::size_t from(std::size_t part, std::size_t k) const { return sources[first[part] + k]; }

  std::size_t takes[N]{};
  std::size_t branch_end[N]{};  ///< of a node: its last part; of a `tee_end`: that of its branch
  bool untaken[N]{};            ///< a node, or what comes in, that no name of its graph asks for
  bool in_block[N]{};           ///< inside a block whose nodes meet again

  wiring_error wrong = wiring_error::none;
  std::size_t wrong_at = none;    ///< the mark
  std::size_t wrong_name = none;  ///< which of the names it takes

  std::size_t first[N]{}, sources[Taken]{}, sources_count = 0;  ///< those of each part in a row
};

/// How many values the parts take at most: a mark what it names, a join what each of its nodes gives, a part one.
constexpr std::size_t most_taken(std::span<const block_mark> marks) {
  std::size_t taken = 0;
  for (const block_mark& mark : marks) taken += mark.from.size() + 2;
  return taken;
}

template <std::size_t N, std::size_t Taken>
class part_connector {
 public:
  static constexpr std::size_t none = part_order<N, Taken>::none;

  constexpr explicit part_connector(const block_mark (&marks)[N]) : marks_(marks) {}

  constexpr part_order<N, Taken> connect() {
    for (std::size_t i = 0; i < N; ++i) {
      owner_[i] = none;
      switch (marks_[i].kind) {
        case block_mark::none:
          take(i, i - 1);
          break;
        case block_mark::begin:
          take(i, i - 1);
          open_[depth_++] = i;
          last_node_[depth_] = none;
          break;
        case block_mark::port:
        case block_mark::node:
          end_last_node(i);
          owner_[i] = open_[depth_ - 1];
          last_node_[depth_] = i;
          if (marks_[i].kind == block_mark::port) take(i, owner_[i]);
          break;
        default:
          end_last_node(i);
          end_block(i);
      }
    }
    return order_;
  }

 private:
  constexpr void take(std::size_t i, std::size_t from) {
    if (i == 0) return;
    if (order_.takes[i]++ == 0) order_.first[i] = order_.sources_count;
    order_.sources[order_.sources_count++] = from;
  }
  constexpr void end_last_node(std::size_t i) {
    if (last_node_[depth_] != none) order_.branch_end[last_node_[depth_]] = i - 1;
  }
  constexpr void end_block(std::size_t i) {
    const std::size_t begin = open_[depth_ - 1];
    if (marks_[i].kind == block_mark::output)
      connect_names(begin, i);
    else
      connect_branches(begin, i);
    if (marks_[i].kind == block_mark::tee) {
      take(i, begin);
      order_.branch_end[i] = i - 1;
    } else {
      for (std::size_t j = begin + 1; j < i; ++j) order_.in_block[j] = true;
    }
    if (marks_[i].kind == block_mark::join)
      for (std::size_t j = begin + 1; j < i; ++j)
        if (owner_[j] == begin) take(i, order_.branch_end[j]);
    if (marks_[i].kind == block_mark::output)
      for (std::size_t k = 0; k < marks_[i].from.size() && order_.wrong == wiring_error::none; ++k) {
        const std::size_t from = order_.from(i, k);
        if (from == begin || marks_[from].kind == block_mark::port) complain(wiring_error::only_input, i, k);
        for (std::size_t other = 0; other < k; ++other)
          if (order_.from(i, other) == from) complain(wiring_error::output_twice, i, k);
      }
    --depth_;
  }

  /// Branches of a fork and of a tee take what comes in.
  constexpr void connect_branches(std::size_t begin, std::size_t end) {
    for (std::size_t j = begin + 1; j < end; ++j)
      if (owner_[j] == begin && marks_[j].kind == block_mark::node) take(j, begin);
  }
  /// Names are those of the block: what comes in, where it does not by several ports, and its nodes.
  constexpr void connect_names(std::size_t begin, std::size_t end) {
    graph_member members[N]{};
    std::size_t at[N]{}, count = 0;
    owner_[end] = begin;
    const bool has_ports = begin + 1 < N && marks_[begin + 1].kind == block_mark::port;
    for (std::size_t j = has_ports ? begin + 1 : begin; j <= end; ++j) {
      if (j != begin && owner_[j] != begin) continue;
      at[count] = j;
      members[count++] = as_member(marks_[j]);
    }
    const graph_names<N, Taken> names(members, count, [&](std::size_t member, std::string_view name) {
      return find_output(at[member], name) != none;
    });
    for (std::size_t m = 0; m < count; ++m) {
      for (std::size_t k = 0; k < members[m].from.size(); ++k) {
        const named_source& from = names.from(m, k);
        const std::size_t giver = at[from.member];
        take(at[m], !from.is_whole   ? find_output(giver, members[m].from[k])
                    : giver == begin ? begin
                                     : order_.branch_end[giver]);
      }
      if (at[m] != end) order_.untaken[at[m]] = names.takers[m] == 0;
    }
    if (names.wrong != wiring_error::none) complain(names.wrong, at[names.wrong_at], names.wrong_name);
  }
  static constexpr graph_member as_member(const block_mark& mark) {
    return {mark.kind == block_mark::begin  ? graph_member::entry
            : mark.kind == block_mark::port ? graph_member::port
            : mark.kind == block_mark::node ? graph_member::node
                                            : graph_member::output,
            mark.name, mark.from};
  }
  /// Which part gives what goes by "node.output"; none where the node has no such output.
  constexpr std::size_t find_output(std::size_t node, std::string_view name) const {
    std::size_t end = order_.branch_end[node];
    while (marks_[end].passes) --end;
    if (marks_[end].kind != block_mark::output) return none;
    for (std::size_t k = 0; k < marks_[end].from.size(); ++k)
      if (marks_[end].outputs[k] == name.substr(marks_[node].name.size() + 1)) return order_.from(end, k);
    return none;
  }
  constexpr void complain(wiring_error what, std::size_t at, std::size_t name) {
    if (order_.wrong != wiring_error::none) return;
    order_.wrong = what;
    order_.wrong_at = at;
    order_.wrong_name = name;
  }

  const block_mark (&marks_)[N];
  part_order<N, Taken> order_;
  std::size_t owner_[N]{};
  std::size_t open_[N + 1]{}, last_node_[N + 2]{}, depth_ = 0;
};

template <class... Flat>
consteval auto order_of(type_list<Flat...>) {
  constexpr block_mark marks[] = {mark_of<typename Flat::part>...};
  return part_connector<sizeof...(Flat), most_taken(marks)>(marks).connect();
}

/// The order of a line is known without looking.
template <class Parts>
struct order_of_parts {
  static constexpr bool is_line = true;
  static constexpr std::size_t takes(std::size_t part) { return part == 0 ? 0 : 1; }
  static constexpr std::size_t from(std::size_t part, std::size_t) { return part - 1; }
  static constexpr std::size_t branch_end(std::size_t part) { return part; }
};
template <class... Flat>
  requires(any_true({(mark_of<typename Flat::part>.kind != block_mark::none)...}))
struct order_of_parts<type_list<Flat...>> {
  static constexpr bool is_line = false;
  static constexpr auto value = order_of(type_list<Flat...>{});
  static constexpr std::size_t takes(std::size_t part) { return value.takes[part]; }
  static constexpr std::size_t from(std::size_t part, std::size_t k) { return value.from(part, k); }
  static constexpr std::size_t branch_end(std::size_t part) { return value.branch_end[part]; }
};

/// The mistake in the names of a graph, if any.
template <class Parts>
consteval auto wiring_mistake() {
  if constexpr (order_of_parts<Parts>::is_line) {
    return no_mistake{};
  } else if constexpr (constexpr const auto& order = order_of_parts<Parts>::value; order.wrong == wiring_error::none) {
    return no_mistake{};
  } else {
    using mark = named_mark<typename type_at<Parts, order.wrong_at>::part>;
    constexpr wiring_error wrong = order.wrong;
    if constexpr (wrong == wiring_error::twice)
      return graph_has_two_nodes_of_that_name<mark::name>{};
    else if constexpr (wrong == wiring_error::nothing)
      return graph_node_takes_nothing<mark::name>{};
    else if constexpr (wrong == wiring_error::only_input)
      return graph_output_is_its_input<mark::template output<order.wrong_name>()>{};
    else if constexpr (wrong == wiring_error::output_twice)
      return graph_gives_the_same_by_two_names<mark::template output<order.wrong_name>(),
                                               mark::template from<order.wrong_name>()>{};
    else if constexpr (wrong == wiring_error::itself)
      return graph_node_takes_what_it_gives_itself<mark::name>{};
    else if constexpr (wrong == wiring_error::later)
      return graph_node_takes_what_a_node_behind_it_gives<mark::name, mark::template from<order.wrong_name>()>{};
    else if constexpr (requires { mark::template output<order.wrong_name>(); })
      return graph_has_no_node_or_port_of_that_name<mark::template output<order.wrong_name>(),
                                                    mark::template from<order.wrong_name>()>{};
    else
      return graph_has_no_node_or_port_of_that_name<mark::name, mark::template from<order.wrong_name>()>{};
  }
}

}  // namespace levada::detail
