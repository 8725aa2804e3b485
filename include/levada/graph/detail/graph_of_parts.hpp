// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/graph_of_parts.hpp: the graph_info of a flattened pipeline: its nodes, its values, and who takes which.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/counted_parts.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/place.hpp>
#include <levada/graph/detail/place_info.hpp>
#include <levada/graph/detail/wiring.hpp>

namespace levada::detail {

template <class Parts, class Indices>
struct graph_of_parts;

/// The parts and what they are as values.
template <class Parts, std::size_t... I>
struct graph_of_parts<Parts, std::index_sequence<I...>> : counted_parts<Parts, std::index_sequence<I...>> {
  using base = counted_parts<Parts, std::index_sequence<I...>>;
  using base::nodes;
  using base::parts;
  using base::parts_of_values;
  using base::stage_flags;
  using typename base::result;
  template <std::size_t J>
  using part = typename type_at<Parts, J>::part;

  template <std::size_t... S>
  static constexpr void mark(bool (&after)[parts + 1], split_after_part<S...>) {
    ((after[S] = true), ...);
  }
  template <class T>
  static constexpr void mark(bool (&)[parts + 1], T) {}

  /// The part that makes what flows out of part `at`; none where that is the pipeline's input.
  static constexpr std::size_t maker_of(std::size_t at) {
    if constexpr (order_of_parts<Parts>::is_line) {
      while (at < parts && !stage_flags[at]) --at;
    } else {
      constexpr bool makes[] = {(is_stage<part<I>> || gathers_items<Parts, I> || is_port_of_block<part<I>>)...};
      constexpr const auto& order = order_of_parts<Parts>::value;
      while (at < parts && !makes[at]) at = order.takes[at] == 0 ? parts : order.from[at][0];
    }
    return at;
  }

  /// What the stage at part `J` takes; `value_at` has what the parts before it give.
  template <std::size_t J>
  static constexpr void connect(node_info& node, const std::size_t (&value_at)[parts]) {
    constexpr std::size_t none = ~std::size_t{0};
    const auto value_from = [&](std::size_t from) { return from < parts ? value_at[from] : 0; };
    if constexpr (!order_of_parts<Parts>::is_line && is_branch_items<typename place<Parts, J>::in>) {
      constexpr const auto& order = order_of_parts<Parts>::value;
      const std::size_t join = maker_of(order.from[J][0]);
      node.in = join < parts ? none : 0;  // where it is what a stage around gives, that is one value
      for (std::size_t k = 0; join < parts && k < order.takes[join]; ++k) {
        const std::size_t v = value_from(maker_of(order.from[join][k]));
        if (node.in == none)
          node.in = v;
        else
          node.more.push_back(static_cast<std::uint16_t>(v));
      }
    } else if constexpr (order_of_parts<Parts>::is_line) {
      node.in = value_from(maker_of(J - 1));
    } else {
      node.in = value_from(maker_of(order_of_parts<Parts>::value.from[J][0]));
    }
  }

  /// The value that the port at part `J` stands for: one of those that branches before it give, or a part of one.
  template <std::size_t J, class Graph>
  static constexpr std::size_t value_of_port(Graph& graph, const std::size_t (&value_at)[parts]) {
    constexpr std::size_t index = port_index<part<J>>;
    constexpr const auto& order = order_of_parts<Parts>::value;
    constexpr std::size_t begin = order.from[J][0];
    constexpr std::size_t maker = maker_of(begin);
    using whole = typename place<Parts, begin>::out;
    if constexpr (is_branch_items<whole> && maker < parts) {
      const std::size_t from = maker_of(order.from[maker][index]);
      return from < parts ? value_at[from] : 0;
    } else if constexpr (is_branch_items<whole>) {
      value_info value = value_of<typename place<Parts, J>::out>(value_info::nobody);
      value.part_of = 0;
      value.part_offset = index * sizeof(void*);
      value.by_address = true;
      graph.values.push_back(value);
      return graph.values.size() - 1;
    } else {
      value_info value = value_of<typename place<Parts, J>::out>(value_info::nobody);
      value.part_of = maker < parts ? value_at[maker] : 0;
      value.part_offset = whole::template offset<index>();
      value.producer = graph.values[value.part_of].producer;
      graph.values.push_back(value);
      return graph.values.size() - 1;
    }
  }

  /// The value that leaves; that of several outputs is made of theirs.
  template <class Graph>
  static constexpr void find_result(Graph& graph, const std::size_t (&value_at)[parts]) {
    constexpr std::size_t last = maker_of(parts - 1);
    if constexpr (is_named_items<result> && is_branch_items<typename place<Parts, parts - 1>::out>) {
      graph.result = graph.values.size();
      value_info whole = value_of<result>(value_info::nobody);
      const auto add = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
        value_info& part = graph.values[value_at[maker_of(order_of_parts<Parts>::value.from[parts - 1][K])]];
        part.part_of = graph.result;
        part.part_offset = result::template offset<K>();
        whole.producer = part.producer;
      };
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        (add(std::integral_constant<std::size_t, K>()), ...);
      }(std::make_index_sequence<result::size>());
      graph.values.push_back(whole);
    } else if constexpr (last < parts) {
      graph.result = value_at[last];
    }
  }

  static consteval auto describe() {
    graph_info<(nodes > 0 ? nodes : 1) + parts_of_values> graph;
    std::size_t value_at[parts]{};
    bool split[parts + 1]{};  // over stages
    std::size_t stage = 0;
    (
        [&] {
          using here = part<I>;
          if constexpr (is_stage<here>) ++stage;
          if constexpr (std::same_as<here, split_here_part>) split[stage - 1] = true;
          if constexpr (!is_stage<here> && std::is_empty_v<here>) mark(split, here{});
        }(),
        ...);
    stage = 0;
    (
        [&] {
          using at = place<Parts, I>;
          if constexpr (is_source<part<I>>) {
            graph.source = part<I>::name.view();
            graph.values.push_back(value_of<typename at::out>(value_info::nobody));
            ++stage;
          } else if constexpr (is_stage<part<I>>) {
            node_info node = node_of<at>();
            node.split_after = split[stage++];
            connect<I>(node, value_at);
            if constexpr (!std::same_as<typename at::out, nothing_more>)
              graph.values.push_back(value_of<typename at::out>(graph.nodes.size()));
            node.out = node.how == form::sink ? node.in : graph.values.size() - 1;
            value_at[I] = node.out;
            graph.nodes.push_back(node);
          } else if constexpr (is_port_of_block<part<I>>) {
            value_at[I] = value_of_port<I>(graph, value_at);
          } else if constexpr (!std::is_void_v<typename at::out>) {
            if (graph.values.empty()) graph.values.push_back(value_of<typename at::out>(value_info::nobody));
          }
        }(),
        ...);
    graph.ends_in_sink = std::same_as<typename place<Parts, parts - 1>::out, nothing_more>;
    find_result(graph, value_at);
    for_each_node_in_a_loop(graph.nodes, [&](std::size_t n) {
      if (!graph.nodes[n].pin) graph.nodes[n].pin = {device_kind::cpu};
      graph.nodes[n].order = concurrency::serial;
    });
    if constexpr (base::gives_regions) base::mark_regions(graph);
    if constexpr (base::has_sides) {
      graph.side_bytes = base::sides().bytes;
      graph.side_alignment = base::sides().alignment;
    }
    return graph;
  }
};

}  // namespace levada::detail
