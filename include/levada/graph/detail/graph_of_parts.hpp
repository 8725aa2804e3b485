// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/graph_of_parts.hpp: the graph_info of a flattened pipeline: its nodes, its values, and who takes which.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
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

/// A part in its place as a value: what a graph_info is made of.
struct part_info {
  enum kind_type : std::uint8_t { passing, source, stage, port } kind = passing;
  node_info node{};             ///< of a stage
  value_info gives{};           ///< of what gives a value, and of a head
  bool gives_value = false;     ///< an item leaves it
  bool takes_branches = false;  ///< a stage takes several values; a port stands for one of several
  bool starts_segment = false;  ///< a border stands here
  std::size_t port_index = 0;   ///< which of the ports it is
  std::size_t port_offset = 0;  ///< where in the whole its part lies
};

template <class Part, class Place>
constexpr part_info info_of_part() {
  part_info info;
  using out = typename Place::out;
  info.gives_value = !std::is_void_v<out> && !std::same_as<out, nothing_more>;
  info.starts_segment = std::same_as<Part, split_here_part>;
  if constexpr (is_source<Part>) {
    info.kind = part_info::source;
    info.node.name = Part::name.view();
  } else if constexpr (is_stage<Part>) {
    info.kind = part_info::stage;
    info.node = node_of<Place>();
    info.takes_branches = is_branch_items<typename Place::in>;
  } else if constexpr (is_port_of_block<Part>) {
    using whole = typename Place::in;
    info.kind = part_info::port;
    info.port_index = port_index<Part>;
    info.takes_branches = is_branch_items<whole>;
    if constexpr (!is_branch_items<whole>) info.port_offset = whole::template offset<port_index<Part>>();
  }
  if constexpr (!std::is_void_v<out> && !std::same_as<out, nothing_more> && !is_branch_items<out>)
    info.gives = value_of<out>(value_info::nobody);
  return info;
}

/// The bytes from which on each of several outputs lies in the whole.
template <class T>
inline constexpr std::array<std::size_t, 0> offsets_of{};
template <class... Named>
inline constexpr auto offsets_of<named_items<Named...>> = []<std::size_t... K>(std::index_sequence<K...>) {
  return std::array<std::size_t, sizeof...(K)>{named_items<Named...>::template offset<K>()...};
}(std::index_sequence_for<Named...>{});

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
  using graph_type = graph_info<(nodes > 0 ? nodes : 1) + parts_of_values>;

  static constexpr std::size_t takes(std::size_t at) { return order_of_parts<Parts>::takes(at); }
  static constexpr std::size_t from(std::size_t at, std::size_t k) { return order_of_parts<Parts>::from(at, k); }

  /// The parts that make what flows out of each part; none where that is the pipeline's input.
  static constexpr std::array<std::size_t, parts> makers = [] {
    constexpr bool ports[] = {is_port_of_block<stage_or_mark<Parts, I>>...};
    std::array<std::size_t, parts> of{};
    for (std::size_t i = 0; i < parts; ++i)
      of[i] = stage_flags[i] || ports[i] || takes(i) > 1 ? i : takes(i) == 0 ? parts : of[from(i, 0)];
    return of;
  }();

  /// A graph while it grows, and the value that each part gives.
  struct growing {
    graph_type graph;
    std::size_t value_at[parts]{};

    constexpr std::size_t value_from(std::size_t maker) const { return maker < parts ? value_at[maker] : 0; }
    constexpr std::size_t add(const value_info& value) {
      graph.values.push_back(value);
      return graph.values.size() - 1;
    }

    /// What the stage at part `at` takes.
    constexpr void connect(node_info& node, std::size_t at, bool takes_branches) const {
      const std::size_t maker = at == 0 ? parts : makers[from(at, 0)];
      node.in = value_from(maker);
      if (!takes_branches) return;
      node.in = 0;  // where it is what a stage around gives, that is one value
      for (std::size_t k = 0; maker < parts && k < takes(maker); ++k) {
        const std::size_t v = value_from(makers[from(maker, k)]);
        if (k == 0)
          node.in = v;
        else
          node.more.push_back(static_cast<std::uint16_t>(v));
      }
    }
    constexpr void add_stage(const part_info& info, std::size_t at, bool split_after) {
      node_info node = info.node;
      node.split_after = split_after;
      connect(node, at, info.takes_branches);
      if (info.gives_value) {
        value_info value = info.gives;
        value.producer = graph.nodes.size();
        add(value);
      }
      node.out = node.how == form::sink ? node.in : graph.values.size() - 1;
      value_at[at] = node.out;
      graph.nodes.push_back(node);
    }

    /// The value that the port at part `at` stands for: one of those that branches before it give, or a part of one.
    constexpr std::size_t value_of_port(const part_info& info, std::size_t at) {
      const std::size_t maker = makers[from(at, 0)];
      if (info.takes_branches && maker < parts) return value_from(makers[from(maker, info.port_index)]);
      value_info value = info.gives;
      value.part_of = info.takes_branches ? 0 : value_from(maker);
      value.part_offset = info.takes_branches ? info.port_index * sizeof(void*) : info.port_offset;
      value.by_address = info.takes_branches;
      if (!info.takes_branches) value.producer = graph.values[value.part_of].producer;
      return add(value);
    }
  };

  /// The value that leaves; that of several outputs is made of theirs.
  static constexpr void find_result(growing& all) {
    if constexpr (is_named_items<result> && is_branch_items<typename last_place<Parts>::out>) {
      graph_type& made = all.graph;
      made.result = made.values.size();
      value_info whole = value_of<result>(value_info::nobody);
      for (std::size_t k = 0; k < result::size; ++k) {
        value_info& part = made.values[all.value_at[makers[from(parts - 1, k)]]];
        part.part_of = made.result;
        part.part_offset = offsets_of<result>[k];
        whole.producer = part.producer;
      }
      made.values.push_back(whole);
    } else if constexpr (makers[parts - 1] < parts) {
      all.graph.result = all.value_at[makers[parts - 1]];
    }
  }

  static consteval graph_type make_graph() {
    constexpr part_info infos[] = {info_of_part<stage_or_mark<Parts, I>, place<Parts, I>>()...};
    bool split[parts + 1]{};  // over stages
    for (const block_mark* mark : {&mark_of<stage_or_mark<Parts, I>>...})
      for (const std::size_t behind : mark->splits_after) split[behind] = true;
    std::size_t stage = 0;
    for (const part_info& info : infos) {
      if (info.kind == part_info::source || info.kind == part_info::stage) ++stage;
      if (info.starts_segment) split[stage - 1] = true;
    }

    growing all;
    stage = 0;
    for (std::size_t at = 0; at < parts; ++at) {
      const part_info& info = infos[at];
      switch (info.kind) {
        case part_info::source:
          all.graph.source = info.node.name;
          all.add(info.gives);
          ++stage;
          break;
        case part_info::stage:
          all.add_stage(info, at, split[stage++]);
          break;
        case part_info::port:
          all.value_at[at] = all.value_of_port(info, at);
          break;
        default:
          if (info.gives_value && all.graph.values.empty()) all.add(info.gives);
      }
    }
    graph_type& made = all.graph;
    made.ends_in_sink = std::same_as<typename last_place<Parts>::out, nothing_more>;
    find_result(all);
    for_each_node_in_a_loop(made.nodes, [&](std::size_t n) {
      if (!made.nodes[n].pin) made.nodes[n].pin = {device_kind::cpu};
      made.nodes[n].order = concurrency::serial;
    });
    if constexpr (base::gives_regions) base::mark_regions(made);
    if constexpr (base::has_sides) {
      made.side_bytes = base::sides().bytes;
      made.side_alignment = base::sides().alignment;
    }
    return made;
  }
  static constexpr graph_type graph = make_graph();

  static consteval const graph_type& describe() { return graph; }
};

}  // namespace levada::detail
