// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/groups.hpp: the stages of a pipeline whose parameters may be in groups, those that stand inside other
// stages among them.

#include <cstddef>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/nested.hpp>

namespace levada::detail {

template <class Flat, class Nodes = std::make_index_sequence<Flat::nodes>>
struct groups_of;

/// There is a group in the pipeline or inside one of its stages.
template <class Flat>
inline constexpr bool holds_groups = Flat::has_groups;
template <class Flat>
  requires has_nesting<Flat>
inline constexpr bool holds_groups<Flat> = groups_of<Flat>::any;

template <class... Pipelines>
consteval bool hold_groups(type_list<Pipelines...>) {
  return (holds_groups<typename Pipelines::flat> || ...);
}

/// A stage, by its pipeline and its node in that.
template <class Flat, std::size_t Node>
struct grouped_stage {
  using place = typename Flat::template node_place<Node>;
  template <fixed_string Group>
  static constexpr bool is_in = Flat::template nodes_in_group<Group>()[Node];
};

/// All stages in order; in place of one that holds pipelines stand those in them, where there are groups.
template <class Flat, std::size_t... Node>
struct groups_of<Flat, std::index_sequence<Node...>> {
  template <std::size_t N>
  using place = typename Flat::template node_place<N>;
  template <std::size_t N>
  using inside = typename place<N>::part::op_type::template pipelines<op_input_t<typename place<N>::in>>;

  template <std::size_t N>
  static consteval bool any_inside() {
    if constexpr (is_nesting<typename place<N>::part>)
      return hold_groups(inside<N>{});
    else
      return false;
  }
  static constexpr bool any = Flat::has_groups || (any_inside<Node>() || ...);

  template <class... Pipelines>
  static consteval auto stages_of(type_list<Pipelines...>) {
    return decltype((type_list<>{} + ... + typename groups_of<typename Pipelines::flat>::stages{})){};
  }
  template <std::size_t N>
  static consteval auto stages_at() {
    if constexpr (is_nesting<typename place<N>::part>)
      return stages_of(inside<N>{});
    else
      return type_list<grouped_stage<Flat, N>>{};
  }
  static consteval auto all_stages() {
    if constexpr (any)
      return decltype((type_list<>{} + ... + stages_at<Node>())){};
    else
      return type_list<>{};
  }
  using stages = decltype(all_stages());
};

template <fixed_string Group, class... Stage>
consteval bool any_in_group(type_list<Stage...>) {
  return (Stage::template is_in<Group> || ...);
}
template <class Flat, fixed_string Group>
inline constexpr bool has_group = any_in_group<Group>(typename groups_of<Flat>::stages{});

}  // namespace levada::detail
