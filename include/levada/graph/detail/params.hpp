// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/params.hpp: parameters that are replaced while the app runs: those of the stages in a named group.
//
//   ... | params<"head">(nn::dense<"fc", 10>(weights)) | params<"keep">(stage<"keep">(adjustable<"threshold">(f,
//   0.5f)))
//
// app.params<"head">().set<"weight", "bias">(w, b): run/detail/program/params.hpp.

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/named_items.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {

/// A part whose stages' parameters can be replaced, by that name.
template <fixed_string Name, class Part>
struct params_part {
  Part part;
};
template <fixed_string Name, pipeline_part Part>
[[gnu::always_inline]] constexpr auto params(Part part) {
  return params_part<Name, Part>{std::move(part)};
}

namespace detail {

/// A callable and its settings, which it is called with behind its item.
template <class F, class... Settings>
struct adjusted {
  [[no_unique_address]] F callable;
  named_items<Settings...> settings;

  template <class... Items>
    requires std::is_invocable_v<const F&, Items..., const typename Settings::item&...>
  constexpr decltype(auto) operator()(Items&&... items) const {
    return call(std::index_sequence_for<Settings...>{}, std::forward<Items>(items)...);
  }

 private:
  template <std::size_t... I, class... Items>
  constexpr decltype(auto) call(std::index_sequence<I...>, Items&&... items) const {
    return callable(std::forward<Items>(items)..., settings.template at<I>()...);
  }
};
template <class F>
inline constexpr bool is_adjusted = false;
template <class F, class... Settings>
inline constexpr bool is_adjusted<adjusted<F, Settings...>> = true;
/// Its settings are the app's: it has no state of its own.
template <class F, class... Settings>
inline constexpr concurrency natural_concurrency<adjusted<F, Settings...>> = concurrency::parallel;

template <fixed_string Name, class Part>
inline constexpr bool is_part<params_part<Name, Part>> = true;

// ---- in the flattened pipeline: marks around a group's parts, which items pass ----

template <fixed_string Name>
struct params_begin {};
struct params_end {};

template <fixed_string Name, class Part, class Device>
struct flatten<params_part<Name, Part>, Device>
    : type_tag<concatenated<type_list<flat_part<params_begin<Name>, Device>>, typename flatten<Part, Device>::type,
                            type_list<flat_part<params_end, Device>>>> {};

template <fixed_string Name, class Part, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(params_part<Name, Part>& group, Visit& visit) {
  for_each_stage(group.part, visit);
}

template <class Part>
inline constexpr std::string_view begun_group{};
template <fixed_string Name>
inline constexpr std::string_view begun_group<params_begin<Name>> = Name.view();

}  // namespace detail

/// A callable without state, `f(item, settings...)`, and what its settings are at first: `adjustable<"low", "high">(f,
/// 0.2f, 0.8f)`.
template <fixed_string... Names, class F, class... Values>
  requires(sizeof...(Names) > 0 && sizeof...(Names) == sizeof...(Values) &&
           (std::is_empty_v<F> || detail::function_pointer<F>))
constexpr auto adjustable(F f, Values... values) {
  return detail::adjusted<F, named_item<Names, Values>...>{
      std::move(f), named_items<named_item<Names, Values>...>{std::move(values)...}};
}
template <fixed_string... Names, class F, class... Values, class Mistake = adjustable_takes_a_callable_without_state<F>>
  requires(!std::is_empty_v<F> && !detail::function_pointer<F>)
auto adjustable(const F& f, const Values&... values);

}  // namespace levada
