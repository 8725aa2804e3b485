// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/rated_fork.hpp: branches that change their rate, and meet again because all change it alike:
//
//   chunks | fork(window<400, 160> | log_mel, downsample<2> | repeat<6> | loudness) | join<"both">(f)
//
// Such a fork is a rate by itself (graph/detail/rate.hpp): it takes items and gives what its branches give together,
// the first with the first. In a branch the rates are those of a line; forks nest. The slope of each branch is known
// while compiling, and how many of its items wait for those of the others, at most (graph/detail/rate_bounds.hpp). An
// item that fails inside makes all branches begin anew behind it.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/core/detail/named_items.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/fork.hpp>
#include <levada/graph/detail/groups.hpp>
#include <levada/graph/detail/nested.hpp>
#include <levada/graph/detail/place.hpp>
#include <levada/graph/detail/rate.hpp>
#include <levada/graph/detail/region.hpp>

namespace levada::detail {

template <class... B>
concept some_change_rate = (changes_rate<typename flatten<B, void>::type> || ...);

/// A branch, given items of type `In`, as regions.
template <class Device, class B, class In>
struct rated_branch {
  using parts = decltype(type_list<flat_part<nested_input<In, "fork">, void>>{} + typename flatten<B, Device>::type{});
  static constexpr std::size_t rates = rates_of<parts>.count;
  using out = typename region<parts, rates>::out;

  /// What is right by itself, but not here. `Meets`: what the branch gives meets other things.
  template <std::size_t R, bool Meets = true>
  static consteval auto mistake_of_region() {
    using here = region<parts, R>;
    using places = nested_places<typename here::flat>;
    if constexpr (constexpr std::size_t at = places::elsewhere; at < here::parts::size) {
      return stages_inside_another_run_where_that_one_runs<"fork", type_at<typename here::parts, at>::part::name,
                                                           typename type_at<typename here::parts, at>::device>{};
    } else if constexpr (constexpr std::size_t listening = places::envelope; listening < here::parts::size) {
      return stages_inside_another_see_no_envelope<"fork", type_at<typename here::parts, listening>::part::name>{};
    } else if constexpr (constexpr std::size_t lost = lost_at<typename here::flat>();
                         Meets && lost < here::flat::nodes) {
      return filter_in_a_branch_would_leave_its_join_without_a_partner<
          here::flat::template node_place<lost>::part::name>{};
    } else if constexpr (!std::copy_constructible<typename here::in>) {
      return item_cannot_be_copied_move_it_in<typename here::in>{};
    } else if constexpr (here::is_last) {
      return no_mistake{};
    } else if constexpr (requires { requires here::rate::timeout.nanoseconds != 0; }) {
      return rate_in_a_branch_knows_no_time<here::rate::name>{};
    } else if constexpr (Meets && here::rate::template ratio<typename here::out>.takes == 0) {
      return rate_in_a_branch_depends_on_its_items<here::rate::name, typename here::out>{};
    } else {
      return mistake_of_region<R + 1, Meets>();
    }
  }
  template <class Flat>
  static consteval std::size_t lost_at() {
    constexpr auto graph = Flat::describe();
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
      if (levada::filters(graph.nodes[n])) return n;
    return Flat::nodes;
  }
  static consteval auto find_mistake() {
    using found = decltype(mistake_of_regions<parts>());
    if constexpr (found::is_mistake)
      return found{};
    else if constexpr (std::same_as<out, nothing_more>)
      return branch_ends_in_a_sink_and_gives_nothing_to_join<
          place<typename region<parts, rates>::parts, region<parts, rates>::parts::size - 1>::name>{};
    else
      return mistake_of_region<0>();
  }
  using mistake = decltype(find_mistake());

  static constexpr std::int64_t given(std::int64_t n, bool ended) {
    [&]<std::size_t... R>(std::index_sequence<R...>) {
      ((n = given_by_rate<typename region<parts, R>::rate, typename region<parts, R>::out>(n, ended)), ...);
    }(std::make_index_sequence<rates>());
    return n;
  }
  static constexpr rate_bounds bounds = []<std::size_t... R>(std::index_sequence<R...>) {
    rate_bounds all;
    ((all = behind(all, bounds_of_rate<typename region<parts, R>::rate, typename region<parts, R>::out>)), ...);
    return all;
  }(std::make_index_sequence<rates>());
};

/// The pipeline inside a rate that has parameters of that name; void: none.
template <class Rate, class In, fixed_string Group>
struct group_in_rate : type_tag<void> {};
template <class Rate, class In, fixed_string Group>
concept holds_group = !std::is_void_v<typename group_in_rate<Rate, In, Group>::type>;

/// The same of the parts of a line, from the `R`-th region on: itself, or what is in one of its rates.
template <class Parts, fixed_string Group, std::size_t R = 0>
consteval auto group_in_parts() {
  using here = region<Parts, R>;
  if constexpr (has_group<typename here::flat, Group>)
    return type_tag<typename here::flat>{};
  else if constexpr (here::is_last)
    return type_tag<void>{};
  else if constexpr (holds_group<typename here::rate, typename here::out, Group>)
    return type_tag<typename group_in_rate<typename here::rate, typename here::out, Group>::type>{};
  else
    return group_in_parts<Parts, Group, R + 1>();
}
template <class Branch, fixed_string Group>
using group_in_branch = typename decltype(group_in_parts<typename Branch::parts, Group>())::type;

/// The first of these that there is.
template <class... Found>
struct first_found : type_tag<void> {};
template <class First, class... Others>
struct first_found<First, Others...> : type_tag<First> {};
template <class... Others>
struct first_found<void, Others...> : first_found<Others...> {};

constexpr rate_ratio as_ratio(const rational& slope) {
  return {static_cast<std::size_t>(slope.d), static_cast<std::size_t>(slope.n)};
}

/// The fork as a rate.
template <class Device, class... B>
struct fork_rate {
  static constexpr fixed_string name = "fork";
  template <class In>
  using branches = type_list<rated_branch<Device, B, In>...>;
  template <class In>
  static constexpr std::array<rate_bounds, sizeof...(B)> all_bounds{rated_branch<Device, B, In>::bounds...};

  template <class In>
  static consteval auto mistake_in() {
    constexpr bool wrong[] = {rated_branch<Device, B, In>::mistake::is_mistake...};
    if constexpr (constexpr std::size_t at = first_true(wrong); at < sizeof...(B)) {
      return typename type_at<branches<In>, at>::mistake{};
    } else if constexpr (constexpr std::size_t other = unbalanced_branch(all_bounds<In>); other < sizeof...(B)) {
      constexpr rate_ratio first = as_ratio(all_bounds<In>[0].slope), second = as_ratio(all_bounds<In>[other].slope);
      return branches_of_a_fork_give_at_different_rates<given_of<first.gives, first.takes>, other,
                                                        given_of<second.gives, second.takes>>{};
    } else {
      return no_mistake{};
    }
  }

  template <class In>
    requires correct<decltype(mistake_in<In>())>
  using output = named_items<named_item<"", typename rated_branch<Device, B, In>::out>...>;
  template <class In>
  static constexpr rate_ratio ratio = as_ratio(all_bounds<In>[0].slope);
  template <class In>
  static constexpr rate_bounds bounds = joined(all_bounds<In>);
  template <class In>
  static constexpr std::int64_t given(std::int64_t n, bool ended) {
    return std::min({rated_branch<Device, B, In>::given(n, ended)...});
  }
  /// The ring of a branch.
  template <class In, std::size_t K>
  static constexpr ring_size ring = ring_of_branch(all_bounds<In>, K, [](std::size_t b, std::int64_t n, bool ended) {
    constexpr std::int64_t (*each[])(std::int64_t, bool) = {&rated_branch<Device, B, In>::given...};
    return each[b](n, ended);
  });
};

template <class Device, class... B, class In, fixed_string Group>
struct group_in_rate<fork_rate<Device, B...>, In, Group>
    : first_found<group_in_branch<rated_branch<Device, B, In>, Group>...> {};

/// What the branches give, part by part, behind such a fork.
template <std::size_t Index>
struct branch_port {};
template <std::size_t Index>
inline constexpr std::size_t port_index<branch_port<Index>> = Index;
template <std::size_t Index>
inline constexpr block_mark mark_of<branch_port<Index>>{block_mark::port,
                                                        std::string_view("0123456789").substr(Index, 1)};
template <class Items, std::size_t Index>
struct item_at;
template <class... Named, std::size_t Index>
struct item_at<named_items<Named...>, Index> : type_tag<typename type_at<type_list<Named...>, Index>::item> {};
template <std::size_t Index, class Before>
struct at_part<branch_port<Index>, Before> {
  static consteval auto find() {
    if constexpr (is_named_items<typename Before::out>)
      return item_at<typename Before::out, Index>{};
    else
      return type_tag<unknown_item>{};
  }
  using out = typename decltype(find())::type;
  using mistake = no_mistake;
  static constexpr auto name = Before::name;
};

template <class Device, std::size_t... I>
flat_marks<Device, block_begin<"fork">, branch_port<I>..., join_end> marks_behind_fork(std::index_sequence<I...>);

template <class... B, class Device>
  requires some_change_rate<B...>
struct flatten<fork_part<B...>, Device>
    : type_tag<decltype(type_list<flat_part<rate_part<fork_rate<Device, B...>>, void>>{} +
                        marks_behind_fork<Device>(std::index_sequence_for<B...>()))> {};

template <class... B, class Visit>
  requires some_change_rate<B...>
[[gnu::always_inline]] constexpr void for_each_stage(fork_part<B...>& fork, Visit& visit) {
  visit(fork);
}

}  // namespace levada::detail
