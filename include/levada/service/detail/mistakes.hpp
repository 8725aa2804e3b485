// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/mistakes.hpp: the sentences about what a service cannot serve, and the first that is true.

#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/stage.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/service/detail/item_tensors.hpp>

namespace levada {

template <class App>
struct service_takes_an_app_or_an_any_pipeline : detail::mistake {};
template <class Item>
struct service_takes_items_that_are_tensors_or_numbers : detail::mistake {};
template <class Result>
struct service_gives_results_that_are_tensors_or_numbers : detail::mistake {};
struct service_needs_a_pipeline_that_gives_one_result_for_each_item : detail::mistake {};

namespace detail {

template <class App>
inline constexpr bool is_any_pipeline = is_instance_of<App, any_pipeline>;
template <class App>
concept an_app = requires {
  typename App::types;
  App::plan;
};

template <class App>
struct filters_in : std::bool_constant<false> {};
template <class Out, class In>
struct filters_in<any_pipeline<std::optional<Out>(In)>> : std::bool_constant<true> {};
template <an_app App>
struct filters_in<App> : std::bool_constant<App::types::filters> {};

/// Results may be waited for though nothing is left to do: a batch that is not full.
template <class App>
consteval bool gathers_items() {
  if constexpr (an_app<App>)
    return App::types::changes_rate;
  else
    return false;
}
/// As many results as items in the end.
constexpr bool gives_as_many(const auto& plan) {
  return plan.repetitions.front() == plan.repetitions.back() && plan.repetitions.front() != 0;
}
template <class App>
consteval bool gives_one_for_each_item() {
  if constexpr (gathers_items<App>())
    return !App::types::has_source && !filters_in<App>::value && gives_as_many(App::plan);
  else if constexpr (an_app<App>)
    return !App::types::has_source && !filters_in<App>::value;
  else
    return !filters_in<App>::value;
}
/// A stage keeps a state between items, or may.
template <an_app App>
consteval bool keeps_state() {
  if constexpr (App::types::changes_rate)
    return std::apply([](const auto&... of) { return (has_serial_node(of.graph) || ...); }, App::plan.region);
  else
    return has_serial_node(App::plan.graph);
}

template <class App>
consteval auto service_mistake() {
  if constexpr (!is_any_pipeline<App> && !an_app<App>)
    return service_takes_an_app_or_an_any_pipeline<App>{};
  else if constexpr (!has_item_tensors<typename App::item>)
    return service_takes_items_that_are_tensors_or_numbers<typename App::item>{};
  else if constexpr (!has_item_tensors<typename App::output>)
    return service_gives_results_that_are_tensors_or_numbers<typename App::output>{};
  else if constexpr (!gives_one_for_each_item<App>())
    return service_needs_a_pipeline_that_gives_one_result_for_each_item{};
  else
    return no_mistake{};
}

}  // namespace detail
}  // namespace levada
