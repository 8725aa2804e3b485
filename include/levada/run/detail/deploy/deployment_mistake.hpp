// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/deployment_mistake.hpp: the first mistake of a deployment: in its call, its pipeline, its plan, or
// in the plan of its fallback.

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <levada/graph/detail/describe.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/run/detail/deploy/call_mistake.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/deploy/on_processor.hpp>
#include <levada/run/detail/deploy/plan_mistake.hpp>
#include <levada/run/detail/deploy/planned.hpp>

namespace levada::detail {

/// Options that mean one plan do not.
template <class Option>
inline constexpr bool goes_with_rates = !pins_plan<Option> && !std::same_as<Option, cpu_fallback>;

/// The parts of a pipeline, which may change its rate.
template <class Pipeline>
using flat_parts = typename flatten<Pipeline, void>::type;

/// The mistake in the plan of a pipeline, or of its regions.
template <class Pipeline, class Target, class... Options>
consteval auto mistake_of_plans() {
  if constexpr (changes_rate<flat_parts<Pipeline>>)
    return mistake_of_region_plans<flat_parts<Pipeline>, 0, Target, Options...>();
  else
    return plan_mistake<flat<Pipeline>, Target, Options...>();
}

/// Where a deployment promises time: the mistake in its plan, or what that does not keep: run/promises.hpp.
template <class Pipeline, class Target, class... Options>
struct promise_mistake : type_tag<no_mistake> {};
/// The options that a pipeline is planned with: run/promises.hpp.
template <class Pipeline, class Target, class... Options>
struct options_to_plan : type_tag<type_list<Options...>> {};

/// The mistake of a deployment, its fallback aside.
template <class Pipeline, class Target, class... Options>
consteval auto find_deployment_mistake() {
  constexpr bool promises = (promises_time<Options> || ... || is_paced<Pipeline>);
  using call_check = decltype(call_mistake<Pipeline, Target, Options...>());
  if constexpr (call_check::is_mistake) {
    return call_check{};
  } else if constexpr (pipeline_mistake<Pipeline>::is_mistake) {
    return pipeline_mistake<Pipeline>{};
  } else if constexpr (changes_rate<flat_parts<Pipeline>>) {
    constexpr std::size_t other = first_true<sizeof...(Options) + 1>({!goes_with_rates<Options>..., true});
    if constexpr (other < sizeof...(Options))
      return deploy_option_is_not_for_a_pipeline_that_changes_its_rate<type_at<type_list<Options...>, other>>{};
    else if constexpr (promises)
      return typename promise_mistake<Pipeline, Target, Options...>::type{};
    else
      return mistake_of_region_plans<flat_parts<Pipeline>, 0, Target, Options...>();
  } else if constexpr (promises) {
    return typename promise_mistake<Pipeline, Target, Options...>::type{};
  } else {
    return plan_mistake<flat<Pipeline>, Target, Options...>();
  }
}

/// Planned for the processor alone; what was said of the other plan's partition does not concern it.
template <class Pipeline, class Target, class Options>
struct fallback_of;
template <class Pipeline, class Target, class... Options>
struct fallback_of<Pipeline, Target, type_list<Options...>> {
  using pipeline = on_processor<Pipeline>;
  using target = typename processor_of<Target>::type;
  template <class... All>
  static planned<flat<pipeline>, target, All...> planned_with(type_list<All...>);
  using planning = decltype(planned_with(typename options_to_plan<pipeline, target, Options...>::type{}));
  using mistake = decltype(find_deployment_mistake<pipeline, target, Options...>());
};
template <class Pipeline, class Target, class... Options>
using fallback = fallback_of<Pipeline, Target,
                             decltype((type_list<>{} + ... +
                                       std::conditional_t<pins_plan<Options> || std::same_as<Options, cpu_fallback>,
                                                          type_list<>, type_list<Options>>{}))>;

template <class Pipeline, class Target, class... Options>
consteval auto find_mistake_of_all() {
  using first = decltype(find_deployment_mistake<Pipeline, Target, Options...>());
  if constexpr (first::is_mistake || !(std::same_as<Options, cpu_fallback> || ...))
    return first{};
  else if constexpr (!std::is_copy_constructible_v<Pipeline>)
    return cpu_fallback_deploys_a_copy_of_a_pipeline_that_cannot_be_copied{};
  else
    return typename fallback<Pipeline, Target, Options...>::mistake{};
}

/// The first mistake of a deployment.
template <class Pipeline, class Target, class... Options>
using deployment_mistake = decltype(find_mistake_of_all<Pipeline, Target, Options...>());

/// It is no pipeline and makes one.
template <class Given>
concept makes_pipeline = !pipeline_part<std::remove_cvref_t<Given>> && std::invocable<Given> &&
                         pipeline_part<std::decay_t<std::invoke_result_t<Given>>>;
template <makes_pipeline Maker>
using made_pipeline = std::decay_t<std::invoke_result_t<Maker>>;

/// The same of what `deploy` is called with, which is copied where it is somebody else's.
template <class Given, class Target, class... Options>
consteval auto find_call_mistake() {
  using pipeline = std::decay_t<Given>;
  if constexpr (makes_pipeline<Given>)
    return find_call_mistake<std::invoke_result_t<Given>, Target, Options...>();
  else if constexpr (!pipeline_part<pipeline> || std::is_constructible_v<pipeline, Given>)
    return deployment_mistake<pipeline, Target, Options...>{};
  else
    return pipeline_cannot_be_copied_write_std_move_around_it<std::remove_reference_t<Given>>{};
}
template <class Given, class Target, class... Options>
using deploy_call_mistake = decltype(find_call_mistake<Given&&, Target, Options...>());

}  // namespace levada::detail
