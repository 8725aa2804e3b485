// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/nested.hpp: stages that hold pipelines: an op that says, for what comes in,
//
//   template <class In> using pipelines = type_list<...>;    // `nested_pipeline`s
//   template <std::size_t I> auto& inside();                 // the parts that they are made of
//   template <fixed_string Name, class In> static consteval auto mistake_in();
//   template <class In> static constexpr concurrency order;
//
// Each pipeline is described and planned as any other, and whoever runs the stage runs it inline:
// run/detail/deploy/nested.hpp.

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/place.hpp>
#include <levada/graph/detail/region.hpp>

namespace levada::detail {

/// At the head of a pipeline inside a stage.
template <class T, fixed_string Name>
struct nested_input {};
template <class T, fixed_string Name, class Before>
struct at_part<nested_input<T, Name>, Before> {
  using out = T;
  using mistake = no_mistake;
  static constexpr auto name = Name;
};
/// It may give what it takes.
template <class T, fixed_string Name>
inline constexpr bool may_be_empty<nested_input<T, Name>> = true;

/// What a pipeline inside a stage is given: several items as the branches of a fork, each where it lies.
template <class In>
struct nested_item : type_tag<In> {};
template <class... T>
struct nested_item<std::tuple<T...>> : type_tag<branch_items<T...>> {};

template <class T>
inline constexpr bool is_envelope = std::is_same_v<std::remove_cvref_t<T>, item_envelope>;
template <class... P>
consteval bool holds_envelope(type_list<P...>) {
  return (is_envelope<P> || ...);
}

/// Where something is among the parts of a pipeline; behind all where it is not.
template <class Flat>
struct nested_places;
template <class Parts, std::size_t... I>
struct nested_places<flat_pipeline<Parts, std::index_sequence<I...>>> {
  using flat = flat_pipeline<Parts, std::index_sequence<I...>>;
  template <std::size_t J>
  using part = typename type_at<Parts, J>::part;

  template <std::size_t J>
  static consteval bool is_elsewhere() {
    using device = typename type_at<Parts, J>::device;
    if constexpr (!std::is_void_v<device> && is_stage<part<J>>)
      return device::id.kind != device_kind::cpu;
    else
      return false;
  }
  static constexpr std::size_t elsewhere = first_true<Parts::size + 1>({is_elsewhere<I>()..., true});
  static constexpr std::size_t envelope = first_true<Parts::size + 1>({holds_envelope(sides_in<Parts, I>{})..., true});
};

/// A pipeline inside the stage `Name`, which gives it items of type `T`.
template <class Part, class T, fixed_string Name>
struct nested_pipeline {
  using parts = decltype(type_list<flat_part<nested_input<T, Name>, void>>{} + typename flatten<Part, void>::type{});
  using flat = flat_pipeline<parts>;
  using in = T;

  static consteval auto find_mistake() {
    if constexpr (changes_rate<parts>) {
      using rate = typename type_at<parts, rates_of<parts>.at[0]>::part;
      return rate_changes_inside_a_branch<decltype(rate::rate)::name>{};
    } else if constexpr (decltype(flat::first_mistake())::is_mistake) {
      return flat::first_mistake();
    } else if constexpr (constexpr std::size_t at = nested_places<flat>::elsewhere; at < parts::size) {
      return stages_inside_another_run_where_that_one_runs<Name, type_at<parts, at>::part::name,
                                                           typename type_at<parts, at>::device>{};
    } else if constexpr (constexpr std::size_t listening = nested_places<flat>::envelope; listening < parts::size) {
      return stages_inside_another_see_no_envelope<Name, type_at<parts, listening>::part::name>{};
    } else if constexpr (std::same_as<item_behind<parts>, nothing_more>) {
      return pipeline_inside_a_stage_ends_in_a_sink_and_gives_nothing<Name, place<parts, parts::size - 1>::name>{};
    } else if constexpr (is_uncollected<item_behind<parts>>) {
      return for_each_is_followed_by_no_collect<place<parts, parts::size - 1>::name>{};
    } else {
      return item_mistake();
    }
  }
  /// What a stage inside changes or consumes is a copy.
  static consteval auto item_mistake() {
    if constexpr (is_branch_items<T>) {
      constexpr auto graph = flat::describe();
      constexpr std::size_t node = [&] {
        for (std::size_t n = 0; n < graph.nodes.size(); ++n)
          if (consumes(graph.nodes[n]) && graph.values[graph.nodes[n].in].by_address) return n;
        return graph.nodes.size();
      }();
      if constexpr (node < graph.nodes.size())
        return stage_changes_or_consumes_an_item_that_another_branch_takes_too<
            flat::template node_place<node>::part::name>{};
      else
        return no_mistake{};
    } else if constexpr (std::is_copy_constructible_v<T>) {
      return no_mistake{};
    } else {
      constexpr auto graph = flat::describe();
      constexpr std::size_t node = [&] {
        for (std::size_t n = 0; n < graph.nodes.size(); ++n)
          if (consumes(graph.nodes[n]) && graph.nodes[n].in == 0) return n;
        return graph.nodes.size();
      }();
      if constexpr (node < graph.nodes.size())
        return stage_inside_another_changes_or_consumes_what_cannot_be_copied<
            Name, flat::template node_place<node>::part::name, T>{};
      else if constexpr (graph.result == 0)
        return item_cannot_be_copied_move_it_in<T>{};
      else
        return no_mistake{};
    }
  }
  using mistake = decltype(find_mistake());

  static consteval auto find_result() {
    if constexpr (mistake::is_mistake)
      return type_tag<unknown_item>{};
    else
      return type_tag<item_behind<parts>>{};
  }
  using out = typename decltype(find_result())::type;

  static constexpr bool is_serial = [] {
    if constexpr (mistake::is_mistake)
      return false;
    else
      return has_serial_node(flat::describe());
  }();
  static constexpr double flops = [] {
    double sum = 0;
    if constexpr (!mistake::is_mistake)
      for (const node_info& n : flat::describe().nodes) sum += n.flops;
    return sum;
  }();
  /// The first stage that filters; none: behind all.
  static consteval std::size_t filter() {
    if constexpr (!mistake::is_mistake) {
      constexpr auto graph = flat::describe();
      for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        if (filters(graph.nodes[n])) return n;
    }
    return flat::nodes;
  }
};

/// The names of the stages of pipelines, as text.
template <class... Pipelines>
struct nested_names {
  template <class Visit>
  static constexpr void write(Visit visit) {
    std::size_t p = 0;
    (
        [&] {
          if (p++ != 0) visit(" / ");
          std::size_t s = 0;
          for (const node_info& n : Pipelines::flat::describe().nodes) {
            if (s++ != 0) visit(", ");
            visit(n.name);
          }
          if (s == 0) visit("-");
        }(),
        ...);
  }
  static constexpr std::size_t length = [] {
    std::size_t n = 0;
    write([&](std::string_view name) { n += name.size(); });
    return n;
  }();
  static constexpr auto text = [] {
    std::array<char, length> all{};
    std::size_t n = 0;
    write([&](std::string_view name) {
      for (const char c : name) all[n++] = c;
    });
    return all;
  }();
};
template <class... Pipelines>
consteval std::string_view names_inside(type_list<Pipelines...>) {
  using names = nested_names<Pipelines...>;
  return {names::text.data(), names::text.size()};
}

/// The op is a stage that holds pipelines.
template <class Stage>
inline constexpr bool is_nesting = requires { typename Stage::op_type::holds_pipelines; };
/// Some stage of the flattened pipeline is one.
template <class Flat>
inline constexpr bool has_nesting = false;
template <class... Part, class... Device, class Indices>
inline constexpr bool has_nesting<flat_pipeline<type_list<flat_part<Part, Device>...>, Indices>> =
    any_true({is_nesting<Part>...});

}  // namespace levada::detail
