// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/place.hpp: a part of a flattened pipeline in its place: what comes in, what goes out, in which form, or
// the mistake. Each place is looked at once, by what the place before it gives.

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/axes.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/feedback.hpp>
#include <levada/graph/detail/form.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/missing.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/said_once.hpp>
#include <levada/graph/detail/stage.hpp>
#include <levada/graph/detail/wiring.hpp>

namespace levada::detail {

/// What flows behind a mistake: nothing more is said about it.
struct unknown_item {};

/// What a sink gives: a following stage is a mistake.
struct nothing_more {};

/// What `for_each` gives to `collect`: graph/detail/for_each.hpp.
template <class T>
inline constexpr bool is_uncollected = false;

/// What comes to a part: the item, the name of the stage that gives it, and the order of a picture's axes.
template <class Out, fixed_string Name, class Axes>
struct given_to_part {
  using out = Out;
  using axes = Axes;
  static constexpr auto name = Name;
};

template <class T>
concept fine_item = std::is_move_constructible_v<T> || is_tensor<T>;

/// A part that is no stage: the item passes by.
template <class Part, class Before>
struct at_part {
  using out = typename Before::out;
  using mistake = no_mistake;
  static constexpr auto name = Before::name;
  using passes = void;
};

/// What comes in is what was declared, or a batch of it, of which ops compute each item.
template <class Given, class Declared>
concept is_declared_item = std::same_as<Given, Declared> || is_batch_of<Given, Declared>;

template <class T, class Before>
struct at_part<input_part<T>, Before> {
  using before = typename Before::out;
  static constexpr bool agrees =
      std::is_void_v<before> || is_declared_item<before, T> || std::same_as<before, unknown_item>;
  using out = std::conditional_t<is_batch_of<before, T>, before, T>;
  using mistake = std::conditional_t<
      !agrees, nested_pipeline_declares_another_input_than_it_gets<Before::name, gives_item<before>, wants_item<T>>,
      std::conditional_t<fine_item<T>, no_mistake, item_cannot_be_moved<Before::name, T>>>;
  static constexpr auto name = Before::name;
};
template <class T, class Before>
  requires(!std::is_object_v<T> || std::is_const_v<T> || std::is_volatile_v<T>)
struct at_part<input_part<T>, Before> {
  using out = unknown_item;
  using mistake = input_is_not_a_plain_object_type<T>;
  static constexpr auto name = Before::name;
};
/// Behind a sink the next stage says the mistake.
template <class T, class Before>
  requires(std::same_as<typename Before::out, nothing_more> && std::is_object_v<T> && !std::is_const_v<T> &&
           !std::is_volatile_v<T>)
struct at_part<input_part<T>, Before> {
  using out = nothing_more;
  using mistake = no_mistake;
  static constexpr auto name = Before::name;
};

/// With something that is no pace.
template <class T, class... Given, class Before>
struct at_part<paced_input<T, Given...>, Before> {
  using out = unknown_item;
  using mistake = input_takes_a_pace_longer_than_nothing_and_nothing_else<Given...>;
  static constexpr auto name = Before::name;
};

/// What comes in by several ports: items by their names, or the branches of a fork; at the head of a pipeline it is
/// stated.
template <class... Named, class Before>
struct at_part<ports_part<Named...>, Before> {
  using items = named_items<Named...>;
  using before = typename Before::out;
  static constexpr bool agrees =
      std::is_void_v<before> || std::derived_from<before, items> || std::same_as<before, unknown_item> ||
      (is_branch_items<before> && is_declared_item<op_input_t<before>, std::tuple<typename Named::item...>>);
  static constexpr bool fine = !any_true({!fine_item<typename Named::item>...});
  using out = std::conditional_t<std::is_void_v<before>, items, std::conditional_t<agrees, before, unknown_item>>;
  using mistake =
      std::conditional_t<!agrees, graph_of_several_ports_takes_other_items<gives_item<before>, wants<items>>,
                         std::conditional_t<fine, no_mistake, item_cannot_be_moved<Before::name, items>>>;
  static constexpr auto name = Before::name;
};
/// One of them.
template <class Given, class T, std::size_t Index>
struct item_of_port : type_tag<T> {};
template <class T, std::size_t Index>
struct item_of_port<unknown_item, T, Index> : type_tag<unknown_item> {};
template <class... Given, class T, std::size_t Index>
struct item_of_port<branch_items<Given...>, T, Index> : type_tag<type_at<type_list<Given...>, Index>> {};
template <fixed_string Name, class T, std::size_t Index, class Before>
struct at_part<block_port<Name, T, Index>, Before> {
  using out = typename item_of_port<typename Before::out, T, Index>::type;
  using mistake = no_mistake;
  static constexpr auto name = Name;
};

/// What the branches of a fork give, ahead of its join.
template <class... Given>
struct joined_branches {
  using axes = typename common_axes<typename Given::axes...>::type;
  static constexpr bool known = !any_true({std::same_as<typename Given::out, unknown_item>...});
  static consteval auto first_sink() {
    constexpr std::size_t at = first_true({std::same_as<typename Given::out, nothing_more>...});
    if constexpr (at < sizeof...(Given))
      return branch_ends_in_a_sink_and_gives_nothing_to_join<type_at<type_list<Given...>, at>::name>{};
    else
      return no_mistake{};
  }
  using mistake = decltype(first_sink());
  using out = std::conditional_t<known && !mistake::is_mistake, branch_items<typename Given::out...>, unknown_item>;
  static constexpr fixed_string name = "fork";
};

/// What leaves by several outputs, by their names.
template <class Part, class Out>
struct named_outputs : type_tag<Out> {};
template <fixed_string... Name, class From, class... T>
struct named_outputs<graph_end<text_list<Name...>, From>, branch_items<T...>>
    : type_tag<named_items<named_item<Name, T>...>> {};

/// Behind the branch of a tee the item goes on.
template <class Before, class End>
struct teed_branch {
  using axes = axes_unknown;
  static constexpr bool ends =
      std::same_as<typename End::out, nothing_more> || std::same_as<typename End::out, unknown_item>;
  using mistake = std::conditional_t<ends, no_mistake, tee_has_to_end_in_a_sink<End::name, typename End::out>>;
  using out = typename Before::out;
  static constexpr auto name = Before::name;
};

template <class Stage, class Before>
consteval auto form_at() {
  using in = typename Before::out;
  if constexpr (std::same_as<in, unknown_item>)
    return call_form<form::map, unknown_item>{};
  else if constexpr (std::is_void_v<in>) {
    if constexpr (requires { Stage::form_written; }) {
      if constexpr (Stage::form_written == written::source)
        return form_of_source<Stage::name, typename Stage::callable_type>();
      else
        return pipeline_starts_without_input_or_source<Stage::name>{};
    } else
      return pipeline_starts_without_input_or_source<Stage::name>{};
  } else
    return stage_form<Stage, Before::name, in>{};
}

template <class Form, fixed_string Name>
struct outcome {
  using out = unknown_item;
  using mistake = Form;
};
template <form F, class Out, fixed_string Name>
struct outcome<call_form<F, Out>, Name> {
  using out = Out;
  using mistake = std::conditional_t<fine_item<Out> || std::same_as<Out, unknown_item>, no_mistake,
                                     item_cannot_be_moved<Name, Out>>;
};
template <fixed_string Name>
struct outcome<call_form<form::sink, void>, Name> {
  using out = nothing_more;
  using mistake = no_mistake;
};

/// Of an op that has its options as a type.
template <class Stage>
consteval auto op_option_said_twice() {
  return repeated_option(
      []<class First, class Again>() { return op_takes_each_option_once<Stage::name, First, Again>{}; },
      typename Stage::op_type::options{});
}

template <class Stage, class Before>
  requires is_stage<Stage>
struct at_part<Stage, Before> {
  static constexpr bool after_sink = std::same_as<typename Before::out, nothing_more>;
  static consteval auto found() {
    if constexpr (after_sink)
      return nothing_can_follow_a_sink<Before::name, Stage::name>{};
    else if constexpr (is_uncollected<typename Before::out>)
      return for_each_is_followed_by_no_collect<Before::name>{};
    else if constexpr (is_branch_items<typename Before::out> && !joins<Stage> && !requires { typename Stage::op_type; })
      return stage_behind_a_fork_has_to_join_its_branches<Stage::name>{};
    else if constexpr (joins<Stage> && !is_branch_items<typename Before::out> &&
                       !std::same_as<typename Before::out, unknown_item>)
      return join_has_no_fork_before_it<Stage::name, gives_item<typename Before::out>>{};
    else if constexpr (requires { typename refused_state<Stage, typename Before::out>::type; })
      return feedback_body_gives_another_state_than_the_initial_one<
          Stage::name, Before::name, gives_item<typename Before::out>,
          wants_item<typename refused_state<Stage, typename Before::out>::type>>{};
    else if constexpr (requires(typename Stage::callable_type& f, missing why) {
                         f.missed(why);
                         requires !noexcept(f.missed(why));
                       })
      return stage_is_told_of_missing_items_by_a_member_that_has_to_be_noexcept<Stage::name>{};
    else if constexpr (requires {
                         typename Stage::op_type::options;
                         requires decltype(op_option_said_twice<Stage>())::is_mistake;
                       })
      return op_option_said_twice<Stage>();
    else if constexpr (says_axes_wrong<Stage, Before>)
      return mistaken_axes<Stage, Before>();
    else
      return form_at<Stage, Before>();
  }
  using call = decltype(found());
  using out = typename outcome<call, Stage::name>::out;
  using mistake = typename outcome<call, Stage::name>::mistake;
  static constexpr auto name = Stage::name;
};

/// A part where something comes to it. It is looked at by these alone: whatever is made for it is named after them, and
/// not after the pipeline, whose name is as long as the pipeline is.
template <class Part, class Device, class Before>
struct place_of_part : at_part<Part, Before> {
  using at = at_part<Part, Before>;
  using part = Part;
  using device = Device;
  using in = typename Before::out;
  using gives = given_to_part<typename at::out, at::name, decltype(axes_behind<Part, at, Before>())>;
};
/// Where several things come to it.
template <class At, class Device>
struct place_of_mark : At {
  using device = Device;
  using gives = given_to_part<typename At::out, At::name, typename At::axes>;
};

template <class Parts, std::size_t I>
struct found_place;
/// A part of the flattened pipeline in its place: what comes in, what goes out, in which form, or the mistake.
template <class Parts, std::size_t I>
using place = typename found_place<Parts, I>::type;

using given_ahead_of_all = given_to_part<void, "input", axes_unknown>;
template <class Parts, std::size_t I>
using given_before = typename place<Parts, order_of_parts<Parts>::from(I, 0)>::gives;

template <class Parts, std::size_t I>
struct found_place
    : type_tag<
          place_of_part<typename type_at<Parts, I>::part, typename type_at<Parts, I>::device, given_before<Parts, I>>> {
};
template <class Parts>
struct found_place<Parts, 0>
    : type_tag<
          place_of_part<typename type_at<Parts, 0>::part, typename type_at<Parts, 0>::device, given_ahead_of_all>> {};

template <class Parts, std::size_t I, std::size_t... K>
joined_branches<typename place<Parts, order_of_parts<Parts>::from(I, K)>::gives...> joined_at(
    std::index_sequence<K...>);
template <class Parts, std::size_t I>
  requires(I != 0 && order_of_parts<Parts>::takes(I) > 1)
struct found_place<Parts, I>
    : type_tag<place_of_mark<decltype(joined_at<Parts, I>(std::make_index_sequence<order_of_parts<Parts>::takes(I)>{})),
                             typename type_at<Parts, I>::device>> {};
template <class Parts, std::size_t I>
  requires(I != 0 && std::same_as<typename type_at<Parts, I>::part, tee_end>)
struct found_place<Parts, I>
    : type_tag<place_of_mark<
          teed_branch<given_before<Parts, I>, typename place<Parts, order_of_parts<Parts>::branch_end(I)>::gives>,
          typename type_at<Parts, I>::device>> {};

/// Places are found in halves, the first half before the other: each one where it is asked for, all before it would be
/// found inside of it, as deep in each other as a pipeline has parts.
template <class Parts, std::size_t First, std::size_t Count>
struct places_in_order : places_in_order<Parts, First, Count / 2> {
  using last = typename places_in_order<Parts, First + Count / 2, Count - Count / 2>::last;
};
template <class Parts, std::size_t First>
struct places_in_order<Parts, First, 1> {
  using last = place<Parts, First>;
  using found = typename last::gives;
};
template <class Parts>
using last_place = typename places_in_order<Parts, 0, Parts::size>::last;

/// The item that leaves a pipeline.
template <class Parts>
using item_behind =
    typename named_outputs<typename type_at<Parts, Parts::size - 1>::part, typename last_place<Parts>::out>::type;

}  // namespace levada::detail
