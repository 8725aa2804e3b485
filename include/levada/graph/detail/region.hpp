// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/region.hpp: a flattened pipeline cut where its rate changes. Each region is a pipeline of its own,
// described and planned as any other; what it takes is what the rate before it gives.

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/axes.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/feedback.hpp>
#include <levada/graph/detail/place.hpp>
#include <levada/graph/detail/rate.hpp>

namespace levada::detail {

template <class R>
inline constexpr block_mark mark_of<rate_part<R>>{.changes_rate = true};

/// At the head of a region behind a rate; `Axes`: the order of a picture's axes, which a rate leaves as it is.
template <class T, fixed_string Rate, class Axes>
struct rate_output {};
/// At the end of a region: a rate follows.
struct rate_border {};

template <class T, fixed_string Rate, class Axes, class Before>
struct at_part<rate_output<T, Rate, Axes>, Before> {
  using out = T;
  using mistake = std::conditional_t<fine_item<T>, no_mistake, item_cannot_be_moved<Rate, T>>;
  static constexpr auto name = Rate;
  using axes = Axes;
};
template <class T, fixed_string Rate, class Axes>
inline constexpr bool may_be_empty<rate_output<T, Rate, Axes>> = true;
template <>
inline constexpr bool may_be_empty<rate_border> = true;

template <class Parts>
inline constexpr bool changes_rate = false;
template <class... Flat>
inline constexpr bool changes_rate<type_list<Flat...>> = any_true({mark_of<typename Flat::part>.changes_rate...});

/// Where the rates are among the parts, and whether one is inside of something.
template <std::size_t N>
struct rate_places {
  std::size_t count = 0;
  std::size_t at[N + 1]{};
  std::size_t inside = N;  ///< the first that is; N: none
  std::size_t loop = N;    ///< the head of the feedback that it is in; N: none
  std::size_t split_after = N;
};
template <class... Flat>
consteval auto find_rates(type_list<Flat...>) {
  constexpr std::size_t n = sizeof...(Flat);
  constexpr const block_mark* marks[] = {&mark_of<typename Flat::part>...};
  constexpr loop_border borders[] = {border_of<typename Flat::part>...};
  constexpr bool splits[] = {is_split_after<typename Flat::part>...};
  rate_places<n> places;
  std::size_t depth = 0, loops = 0, head = n;
  for (std::size_t i = 0; i < n; ++i) {
    if (marks[i]->kind == block_mark::begin) ++depth;
    if (marks[i]->kind > block_mark::node) --depth;
    if (borders[i] == loop_border::begins) head = loops++ == 0 ? i : head;
    if (borders[i] == loop_border::ends) --loops;
    if (splits[i]) places.split_after = i;
    if (!marks[i]->changes_rate) continue;
    places.at[places.count++] = i;
    if (depth != 0 && places.inside == n) {
      places.inside = i;
      if (loops != 0) places.loop = head;
    }
  }
  places.at[places.count] = n;
  return places;
}
template <class Parts>
inline constexpr auto rates_of = find_rates(Parts{});

template <class Parts, std::size_t First, std::size_t... I>
type_list<type_at<Parts, First + I>...> parts_from(std::index_sequence<I...>);

/// The `R`-th region of a flattened pipeline.
template <class Parts, std::size_t R>
struct region {
  static constexpr std::size_t first = [] {
    if constexpr (R == 0)
      return std::size_t{0};
    else
      return rates_of<Parts>.at[R - 1] + 1;
  }();
  static constexpr std::size_t behind = rates_of<Parts>.at[R];
  static constexpr bool is_last = R == rates_of<Parts>.count;

  static consteval auto head() {
    using before = region<Parts, R == 0 ? 0 : R - 1>;
    if constexpr (R == 0)
      return type_list<>{};
    else
      return type_list<
          flat_part<rate_output<typename before::given, before::rate::name, typename before::axes>, void>>{};
  }
  using tail = std::conditional_t<is_last, type_list<>, type_list<flat_part<rate_border, void>>>;
  using parts =
      decltype(head() + decltype(parts_from<Parts, first>(std::make_index_sequence<behind - first>()))() + tail());
  using flat = flat_pipeline<parts>;

  using in = typename place<parts, 0>::out;
  using out = item_behind<parts>;
  using axes = typename place<parts, parts::size - 1>::gives::axes;

  /// What follows.
  static consteval auto following() {
    if constexpr (!is_last) {
      using part = typename type_at<Parts, behind>::part;
      return type_tag<decltype(part::rate)>{};
    }
  }
  static consteval auto given_item() {
    using next = typename decltype(following())::type;
    if constexpr (requires { typename next::template output<out>; })
      return type_tag<typename next::template output<out>>{};
    else
      return type_tag<unknown_item>{};
  }
  using rate = typename std::conditional_t<is_last, type_tag<void>, decltype(following())>::type;
  using given = typename decltype([] {
    if constexpr (is_last)
      return type_tag<void>{};
    else
      return given_item();
  }())::type;
};

template <class Parts, std::size_t R>
consteval auto rate_mistake() {
  using here = region<Parts, R>;
  using found = decltype(here::flat::first_mistake());
  if constexpr (found::is_mistake) {
    return found{};
  } else if constexpr (here::is_last) {
    return no_mistake{};
  } else if constexpr (std::same_as<typename here::out, nothing_more>) {
    return nothing_can_follow_a_sink<place<typename here::parts, here::parts::size - 1>::name, here::rate::name>{};
  } else if constexpr (requires {
                         requires decltype(here::rate::template mistake_in<typename here::out>())::is_mistake;
                       }) {
    return here::rate::template mistake_in<typename here::out>();
  } else if constexpr (std::same_as<typename here::given, unknown_item>) {
    return rate_cannot_take_what_the_stage_before_gives<here::rate::name, gives_item<typename here::out>>{};
  } else {
    return rate_mistake<Parts, R + 1>();
  }
}

/// The first mistake of a pipeline that changes its rate.
template <class Parts>
consteval auto mistake_of_regions() {
  constexpr const auto& rates = rates_of<Parts>;
  if constexpr (rates.inside != Parts::size) {
    using inside = typename type_at<Parts, rates.inside>::part;
    if constexpr (rates.loop != Parts::size)
      return feedback_would_wait_for_the_state_of_items_that_its_body_takes_together<
          type_at<Parts, rates.loop>::part::name, decltype(inside::rate)::name>{};
    else
      return rate_changes_inside_a_branch<decltype(inside::rate)::name>{};
  } else if constexpr (rates.split_after != Parts::size) {
    return split_after_counts_no_stages_where_the_rate_changes_write_split_here{};
  } else {
    return rate_mistake<Parts, 0>();
  }
}

template <class Parts>
consteval auto mistake_in() {
  if constexpr (changes_rate<Parts>)
    return mistake_of_regions<Parts>();
  else
    return flat_pipeline<Parts>::first_mistake();
}

}  // namespace levada::detail

namespace levada {

/// The first mistake of a pipeline, or `no_mistake`.
template <pipeline_part Pipeline>
using pipeline_mistake = decltype(detail::mistake_in<typename detail::flatten<Pipeline, void>::type>());

}  // namespace levada
