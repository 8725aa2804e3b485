// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/counted_parts.hpp: the parts of a flattened pipeline in their places, and what they are together: how
// many are nodes, which stand in a group of parameters or in a region of a backend, what they take beside their items.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/on_backend.hpp>
#include <levada/graph/detail/params.hpp>
#include <levada/graph/detail/place.hpp>
#include <levada/graph/detail/place_info.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/graph/detail/stage.hpp>
#include <levada/graph/detail/wiring.hpp>

namespace levada::detail {

template <class Call, class Stage>
consteval auto stage_sides() {
  if constexpr (Call::is_mistake)
    return type_list<>{};
  else if constexpr (requires { typename Stage::callable_type; })
    return typename sides_of<typename Stage::callable_type, Call::value>::type{};
  else
    return type_list<>{};
}

template <class Place, bool IsNode>
struct sides_of_place : type_tag<type_list<>> {};
template <class Place>
struct sides_of_place<Place, true> : type_tag<decltype(stage_sides<typename Place::call, typename Place::part>())> {};

// Not members of the classes below: with each of a pack of these, g++ 12 substitutes all of the pack once more.
template <class Parts, std::size_t I>
using stage_or_mark = typename type_at<Parts, I>::part;
template <class Parts, std::size_t I>
using sides_in = typename sides_of_place<place<Parts, I>, is_stage<stage_or_mark<Parts, I>> &&
                                                              !is_source<stage_or_mark<Parts, I>>>::type;

template <class Parts, class Indices>
struct counted_parts;

/// The parts, counted and looked up.
template <class Parts, std::size_t... I>
struct counted_parts<Parts, std::index_sequence<I...>> {
  static constexpr std::size_t parts = Parts::size;
  template <std::size_t J>
  using part = typename type_at<Parts, J>::part;

  static constexpr bool stage_flags[parts] = {is_stage<stage_or_mark<Parts, I>>...};
  /// Nodes: the stages that are no source.
  static constexpr bool node_flags[parts] = {
      (is_stage<stage_or_mark<Parts, I>> && !is_source<stage_or_mark<Parts, I>>)...};

  static constexpr std::size_t count(const bool (&flags)[parts]) {
    std::size_t n = 0;
    for (bool f : flags) n += f ? 1u : 0u;
    return n;
  }
  static constexpr std::size_t stages = count(stage_flags);
  static constexpr std::size_t nodes = count(node_flags);
  using result = item_behind<Parts>;
  /// Values that no node gives: parts of another, and the whole of several outputs.
  static constexpr std::size_t parts_of_values = [] {
    if constexpr (order_of_parts<Parts>::is_line)
      return std::size_t{0};
    else
      return count_true({is_port_of_block<stage_or_mark<Parts, I>>..., is_named_items<result>});
  }();

  /// The index among the parts of the `n`-th flagged one.
  static constexpr std::size_t nth(const bool (&flags)[parts], std::size_t n) {
    for (std::size_t i = 0; i < parts; ++i)
      if (flags[i] && n-- == 0) return i;
    return parts;
  }

  /// The parts that are nodes.
  static constexpr std::array<std::size_t, nodes> node_parts = [] {
    std::array<std::size_t, nodes> at{};
    for (std::size_t i = 0, node = 0; node < nodes; ++i)
      if (node_flags[i]) at[node++] = i;
    return at;
  }();
  template <std::size_t Node>
  using node_place = place<Parts, node_parts[Node]>;

  /// Whether a part stands inside a group of parameters, of that name or, for none, of any.
  template <fixed_string Group>
  static consteval std::array<bool, (nodes > 0 ? nodes : 1)> nodes_in_group() {
    constexpr std::string_view begun[] = {begun_group<stage_or_mark<Parts, I>>...};
    constexpr bool ends[] = {std::same_as<stage_or_mark<Parts, I>, params_end>...};
    std::array<bool, (nodes > 0 ? nodes : 1)> in{};
    std::string_view open[parts + 1]{};
    std::size_t depth = 0, node = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      if (!begun[i].empty()) open[depth++] = begun[i];
      if (ends[i]) --depth;
      if (!node_flags[i]) continue;
      for (std::size_t d = 0; d < depth; ++d) in[node] = in[node] || Group.empty() || open[d] == Group.view();
      ++node;
    }
    return in;
  }
  static constexpr bool has_groups = any_true({mark_of<stage_or_mark<Parts, I>>.opens_params...});

  /// The regions that are given to backends, and these.
  static constexpr bool gives_regions = any_true({gives_region<stage_or_mark<Parts, I>>...});
  using given_backends = concatenated<typename given_backend<stage_or_mark<Parts, I>>::type...>;

  template <class Graph>
  static constexpr void mark_regions(Graph& graph) {
    constexpr std::string_view begun[] = {region_backend<stage_or_mark<Parts, I>>...};
    constexpr bool begins[] = {gives_region<stage_or_mark<Parts, I>>...};
    constexpr bool ends[] = {std::same_as<stage_or_mark<Parts, I>, given_end>...};
    std::size_t number[parts]{}, open[parts + 1]{}, depth = 0, node = 0, regions = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      if (begins[i]) {
        number[i] = begun[i].empty() ? 0 : ++regions;
        open[depth++] = i;
      }
      if (ends[i] && depth != 0) --depth;
      if (!node_flags[i]) continue;
      if (depth != 0) {
        graph.nodes[node].backend = begun[open[depth - 1]];
        graph.nodes[node].region = static_cast<std::uint16_t>(number[open[depth - 1]]);
      }
      ++node;
    }
  }

  /// What the stages take beside their items.
  using all_sides = concatenated<sides_in<Parts, I>...>;
  static constexpr std::size_t side_count = all_sides::size;
  static constexpr bool has_sides = side_count != 0;
  static consteval auto sides() { return lay_out_sides(wanted_places(all_sides{})); }
};

}  // namespace levada::detail
