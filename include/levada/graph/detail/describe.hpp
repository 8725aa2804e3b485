// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/describe.hpp: from types to values. The pipeline is flattened once, each place is looked at once, and
// what is known of it is written into a graph_info. The first mistake found on the way is the pipeline's mistake.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/graph_of_parts.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/place.hpp>
#include <levada/graph/detail/wiring.hpp>

namespace levada {
namespace detail {

/// A pipeline with such a part need not have a stage.
template <class Part>
inline constexpr bool may_be_empty = false;

template <class Part>
inline constexpr bool is_split_after = false;
template <std::size_t... Stages>
inline constexpr bool is_split_after<split_after_part<Stages...>> = true;
/// The first of these that has no stage behind it.
constexpr std::size_t first_split_beyond(std::span<const std::size_t> splits, std::size_t stages) {
  for (const std::size_t stage : splits)
    if (stage + 1 >= stages) return stage;
  return stages;
}

/// A stage there may give nothing for an item.
template <class Place>
concept loses_items =
    requires { requires Place::call::value == form::filter || Place::call::value == form::consume_filter; };

template <class Parts, class Indices = std::make_index_sequence<Parts::size>>
struct flat_pipeline;

/// The flattened pipeline: its places, its mistake or its values.
template <class Parts, std::size_t... I>
struct flat_pipeline<Parts, std::index_sequence<I...>> : graph_of_parts<Parts, std::index_sequence<I...>> {
  using base = graph_of_parts<Parts, std::index_sequence<I...>>;
  using base::describe;
  using base::nodes;
  using base::parts;
  using base::parts_of_values;
  using base::side_count;
  using base::sides;
  using base::stage_flags;
  using base::stages;
  using typename base::result;
  template <std::size_t J>
  using part = typename type_at<Parts, J>::part;
  template <std::size_t Node>
  using node_place = typename base::template node_place<Node>;

  static consteval auto mistaken_sides() {
    constexpr std::size_t unattached = sides().unattached;
    if constexpr (unattached == side_count)
      return no_mistake{};
    else {
      constexpr std::size_t at = [] {
        std::size_t before = 0, found = 0;
        for (const std::size_t count : {sides_in<Parts, I>::size...}) {
          if (unattached < before + count) break;
          before += count;
          ++found;
        }
        return found;
      }();
      return stage_reads_side_data_that_no_stage_before_it_attached<part<at>::name>{};
    }
  }

  static consteval auto first_mistake() {
    if constexpr (decltype(wiring_mistake<Parts>())::is_mistake)
      return wiring_mistake<Parts>();
    else
      return mistake_of_parts();
  }
  static consteval auto mistake_of_parts() {
    constexpr std::size_t at = first_true({place<Parts, I>::mistake::is_mistake...});
    if constexpr (at < parts)
      return typename place<Parts, at>::mistake{};
    else if constexpr (is_uncollected<result>)
      return for_each_is_followed_by_no_collect<place<Parts, parts - 1>::name>{};
    else if constexpr (!order_of_parts<Parts>::is_line && nodes != 0)
      return mistaken_branches();
    else
      return mistaken_marks();
  }

  /// In a pipeline of branches.
  static consteval auto mistaken_branches() {
    constexpr const auto& order = order_of_parts<Parts>::value;
    constexpr std::size_t filter = first_true({(order.in_block[I] && loses_items<place<Parts, I>>)...});
    constexpr std::size_t untaken = first_true(
        {(order.untaken[I] && (mark_of<stage_or_mark<Parts, I>>.kind < block_mark::node ||
                               !std::same_as<typename place<Parts, order.branch_end[I]>::out, nothing_more>))...});
    if constexpr (is_branch_items<result>)
      return fork_is_joined_by_no_stage{};
    else if constexpr (untaken < parts)
      return nothing_in_the_graph_takes_what_this_gives<named_mark<part<untaken>>::name>{};
    else if constexpr (filter < parts)
      return filter_in_a_branch_would_leave_its_join_without_a_partner<part<filter>::name>{};
    else {
      constexpr std::size_t node = shared_and_changed(describe());
      constexpr std::size_t placed = placed_in_a_loop(describe()), split = split_in_a_loop(describe());
      if constexpr (node < nodes)
        return stage_changes_or_consumes_an_item_that_another_branch_takes_too<node_place<node>::name>{};
      else if constexpr (placed < nodes)
        return stage_inside_a_feedback_cannot_run_on_a_device_of_its_own<node_place<placed>::name,
                                                                         typename node_place<placed>::device>{};
      else if constexpr (split < nodes)
        return feedback_cannot_be_split_behind_a_stage_inside_it<node_place<split>::name>{};
      else
        return mistaken_marks();
    }
  }
  /// The first node that changes or consumes what is taken once more behind it.
  template <class Graph>
  static consteval std::size_t shared_and_changed(const Graph& graph) {
    constexpr std::size_t values = nodes + parts_of_values + 1;
    std::size_t last[values]{}, last_of_parts[values]{};
    for (std::size_t n = 0; n < nodes; ++n) for_each_input(graph.nodes[n], [&](std::size_t v) { last[v] = n; });
    if (!graph.ends_in_sink) last[graph.result] = nodes;
    for (std::size_t v = 0; v < graph.values.size(); ++v)
      if (const std::size_t whole = graph.values[v].part_of; whole < graph.values.size())
        last_of_parts[whole] = std::max(last_of_parts[whole], last[v]);
    const auto is_taken_behind = [&](std::size_t v, std::size_t n) {
      const std::size_t whole = graph.values[v].part_of;
      return last[v] > n || last_of_parts[v] > n || (whole < graph.values.size() && last[whole] > n);
    };
    std::size_t at = 0;
    while (at < nodes && !(consumes(graph.nodes[at]) && is_taken_behind(graph.nodes[at].in, at))) ++at;
    return at;
  }

  /// The first node of a feedback that would run elsewhere than on the processor, and that behind which it would be
  /// split.
  template <class Graph>
  static consteval std::size_t placed_in_a_loop(const Graph& graph) {
    std::size_t found = nodes;
    for_each_node_in_a_loop(graph.nodes, [&](std::size_t n) {
      if (found == nodes && graph.nodes[n].pin.kind != device_kind::cpu) found = n;
    });
    return found;
  }
  template <class Graph>
  static consteval std::size_t split_in_a_loop(const Graph& graph) {
    std::size_t depth = 0;
    for (std::size_t n = 0; n < nodes; ++n) {
      if (graph.nodes[n].border == loop_border::begins) ++depth;
      if (graph.nodes[n].border == loop_border::ends) --depth;
      if (depth != 0 && graph.nodes[n].split_after) return n;
    }
    return nodes;
  }

  /// The first mark of a border that has no stage on one side.
  static consteval std::size_t first_wrong_border() {
    constexpr bool here[] = {std::same_as<stage_or_mark<Parts, I>, split_here_part>...};
    constexpr const block_mark* marks[] = {&mark_of<stage_or_mark<Parts, I>>...};
    std::size_t before = 0;  // stages
    for (std::size_t i = 0; i < parts; ++i) {
      before += stage_flags[i] ? 1u : 0u;
      if (here[i] && (before == 0 || before == stages)) return i;
      for (const std::size_t stage : marks[i]->splits_after)
        if (stage + 1 >= stages) return i;
    }
    return parts;
  }

  static consteval auto mistaken_marks() {
    if constexpr (nodes == 0) {
      return std::conditional_t<any_true({may_be_empty<stage_or_mark<Parts, I>>...}), no_mistake,
                                pipeline_has_no_stage>{};
    } else {
      constexpr std::size_t at = first_wrong_border();
      if constexpr (at == parts)
        return mistaken_side();
      else if constexpr (std::same_as<part<at>, split_here_part>)
        return split_here_has_no_stage_on_one_side{};
      else
        return split_after_names_no_stage<first_split_beyond(mark_of<part<at>>.splits_after, stages), stages>{};
    }
  }
  static consteval auto mistaken_side() {
    if constexpr (base::has_sides)
      return mistaken_sides();
    else
      return no_mistake{};
  }
};

template <class Pipeline>
using flat = flat_pipeline<typename flatten<Pipeline, void>::type>;

}  // namespace detail

/// A pipeline of one rate as plain values.
template <pipeline_part Pipeline>
  requires correct<decltype(detail::flat<Pipeline>::first_mistake())>
consteval auto describe() {
  return detail::flat<Pipeline>::describe();
}

}  // namespace levada
