// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/route.hpp: one of several branches for each item, chosen while it runs:
//
//   ... | route<"sure">([](const scores& s) { return s(0) > 0.9f; }, identity, ask_the_large_model)      true: the
//   first ... | route<"size">([](const picture& p) { return p.kind; }, small, middle, large)                   by index
//
// All branches give the same type; only the chosen one runs, and all share one scratchpad. A route is one stage: items
// keep their order, several are routed at once, unless a stage inside or the choice is serial. Behind a fork the choice
// is of all items, which come to a join, or to the ports of a graph.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/nested.hpp>
#include <levada/graph/detail/part_pack.hpp>

namespace levada {
namespace detail {

/// What the choice says of an item, or of several.
template <class F, class In>
struct choice_of : std::invoke_result<F&, const In&> {};
template <class F, class... T>
struct choice_of<F, std::tuple<T...>> : std::invoke_result<F&, const T&...> {};
template <class F, class In>
concept chooses_for = !std::is_member_pointer_v<F> &&
                      requires { requires std::integral<std::remove_cvref_t<typename choice_of<F, In>::type>>; };

template <fixed_string Name, class F, concurrency Order, class... Branches>
struct route_op {
  using holds_pipelines = void;
  static constexpr std::string_view kind = "route";
  static constexpr std::string_view expects = "items, but no batch of tensors";

  F choose;  // with an address of its own: else clang 16 loses that of `branches` where both are made
  part_pack<Branches...> branches;

  template <std::size_t I>
  auto& inside() {
    return pack_at<I>(branches);
  }
  template <class In>
  using pipelines = type_list<nested_pipeline<Branches, typename nested_item<In>::type, Name>...>;
  template <class In, std::size_t I>
  using pipeline = type_at<pipelines<In>, I>;
  template <class In>
  using output = typename pipeline<In, 0>::out;
  template <class In>
  static constexpr std::array<parameter_info, 0> parameters{};
  /// Of the most expensive branch.
  template <class In>
  static constexpr double flops = std::max({nested_pipeline<Branches, typename nested_item<In>::type, Name>::flops...});
  template <class In>
  static constexpr concurrency order =
      Order == concurrency::serial ||
              (nested_pipeline<Branches, typename nested_item<In>::type, Name>::is_serial || ...)
          ? concurrency::serial
          : concurrency::parallel;

  template <class In>
  static consteval std::string_view holds() {
    return names_inside(pipelines<In>{});
  }

  template <class In>
  static consteval auto mistake_in() {
    return find_mistake<In>(std::index_sequence_for<Branches...>{});
  }

 private:
  template <class In, std::size_t... I>
  static consteval auto find_mistake(std::index_sequence<I...>) {
    constexpr std::size_t count = sizeof...(Branches);
    constexpr std::size_t wrong = first_true<count + 1>({pipeline<In, I>::mistake::is_mistake..., true});
    constexpr std::size_t other =
        first_true<count + 1>({!std::same_as<typename pipeline<In, I>::out, output<In>>..., true});
    constexpr std::size_t filtering =
        first_true<count + 1>({(pipeline<In, I>::filter() < pipeline<In, I>::flat::nodes)..., true});
    if constexpr (wrong < count) {
      return typename pipeline<In, wrong>::mistake{};
    } else if constexpr (!chooses_for<F, In>) {
      return route_is_chosen_by_a_bool_or_an_index_of_the_item<Name, In>{};
    } else if constexpr (std::same_as<std::remove_cvref_t<typename choice_of<F, In>::type>, bool> && count != 2) {
      return route_by_a_bool_has_two_branches<Name, count>{};
    } else if constexpr (other < count) {
      return branches_of_a_route_give_different_items<Name, output<In>, typename pipeline<In, other>::out>{};
    } else if constexpr (filtering < count) {
      using from = pipeline<In, filtering>;
      return filter_inside_a_route_belongs_behind_it<Name,
                                                     from::flat::template node_place<from::filter()>::part::name>{};
    } else {
      return no_mistake{};
    }
  }
};

template <fixed_string Name, concurrency Order, class F, class... Branches>
[[gnu::always_inline]] constexpr auto make_route(F&& choose, Branches&&... branches) {
  return op_stage<Name, route_op<Name, F, Order, Branches...>>{{std::move(choose), make_pack(std::move(branches)...)},
                                                               {}};
}

}  // namespace detail

/// The branch that `choose(item)` says: the first where it is true, the second where it is false; or the one of that
/// index, counted from 0, beyond the last of which the item fails. At most `most_branches` branches.
template <fixed_string Name = "route", class F, class... Branches>
  requires(sizeof...(Branches) >= 2 && sizeof...(Branches) <= most_branches && (pipeline_part<Branches> && ...))
[[gnu::always_inline]] constexpr auto route(F choose, Branches... branches) {
  return detail::make_route<Name, detail::natural_concurrency<F>>(std::move(choose), std::move(branches)...);
}
template <fixed_string Name = "route", class F, concurrency Stated, class... Branches>
  requires(sizeof...(Branches) >= 2 && sizeof...(Branches) <= most_branches && (pipeline_part<Branches> && ...))
[[gnu::always_inline]] constexpr auto route(with_concurrency<F, Stated> choose, Branches... branches) {
  return detail::make_route<Name, Stated>(std::move(choose.callable), std::move(branches)...);
}
template <fixed_string Name = "route", class F, class... Given,
          class Mistake = route_takes_a_choice_and_two_to_eight_branches<Name, sizeof...(Given)>>
  requires(sizeof...(Given) < 2 || sizeof...(Given) > most_branches)
auto route(const F& choose, const Given&... branches);
template <fixed_string Name = "route", class F, class... Given,
          class Mistake =
              no_part_of_a_pipeline_write_stage_with_a_name_around_it<typename detail::first_no_part<Given...>::type>>
  requires(sizeof...(Given) >= 2 && sizeof...(Given) <= most_branches)
auto route(const F& choose, const Given&... branches);

}  // namespace levada
