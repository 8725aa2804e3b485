// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/plan_mistake.hpp: what is wrong with the plan of a pipeline, or of its regions, for a target.

#include <cstddef>
#include <type_traits>

#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/region.hpp>
#include <levada/plan/detail/device_memory.hpp>
#include <levada/plan/detail/given.hpp>
#include <levada/plan/detail/plan.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/deploy/planned.hpp>
#include <levada/run/detail/program/accuracy.hpp>
#include <levada/run/detail/program/on_backend.hpp>

namespace levada::detail {

/// A backend that computes on such a device of the target, and whose kernels are not all included.
template <class Target, class Pin, class Backend>
consteval bool has_more_kernels() {
  if constexpr (requires { Backend::more_kernels; }) {
    for (const device_info& d : target_values<Target>::list) {
      bool here = d.id.kind == Backend::device;
      if constexpr (!std::is_void_v<Pin>) here = here && admits(Pin::id, d.id);
      if (here) return !has_all_kernels<Backend>;
    }
  }
  return false;
}
template <class Target, class Pin, class Backend>
struct more_kernels_of : type_tag<type_list<>> {};
template <class Target, class Pin, class Backend>
  requires(has_more_kernels<Target, Pin, Backend>())
struct more_kernels_of<Target, Pin, Backend>
    : type_tag<type_list<more_kernels_in<as_fixed_string<Backend::more_kernels.size()>(Backend::more_kernels)>>> {};

template <class Place, class Where, class... Header>
consteval auto no_backend_mistake(type_list<Header...>) {
  using stage = typename Place::part;
  return no_backend_takes_this_op_on_this_device<stage::name, typename stage::op_type, typename Place::in, Where,
                                                 Header...>{};
}
template <class Place, class Where, class Target, class... Backend>
consteval auto no_backend_of(type_list<Backend...>) {
  return no_backend_mistake<Place, Where>(
      (type_list<>{} + ... + typename more_kernels_of<Target, typename Place::device, Backend>::type{}));
}

/// The mistake in the plans of pipelines that stages hold: run/detail/deploy/nested.hpp.
template <class Flat, class Target, class... Options>
struct nested_mistake : type_tag<no_mistake> {};

/// The mistake in the plan of a pipeline, or of a region of it, that is right by itself.
template <class Flat, class Target, class... Options>
consteval auto plan_mistake() {
  if constexpr (nested_mistake<Flat, Target, Options...>::type::is_mistake) {
    return typename nested_mistake<Flat, Target, Options...>::type{};
  } else {
    using plan_type = planned<Flat, Target, Options...>;
    constexpr std::size_t node = plan_type::first_uncovered_node();
    if constexpr (decltype(given_mistake<plan_type>())::is_mistake) {
      return given_mistake<plan_type>();
    } else if constexpr (node < plan_type::nodes) {
      using place = typename plan_type::flat::template node_place<node>;
      using stage = typename place::part;
      if constexpr (!std::is_void_v<typename place::device>) {
        if constexpr (!plan_type::target::has(place::device::id))
          return stage_is_pinned_to_a_device_the_target_lacks<stage::name, typename place::device, Target>{};
        else if constexpr (plan_type::graph.nodes[node].order == concurrency::serial &&
                           plan_type::target::is_several(place::device::id))
          return stage_that_takes_its_items_in_order_cannot_run_on_several_devices_at_once<stage::name,
                                                                                           typename place::device>{};
        else if constexpr (!requires { typename stage::op_type; })
          return callable_cannot_run_on_this_device<stage::name, typename place::device>{};
        else
          return no_backend_of<place, typename place::device, Target>(typename plan_type::backend_types{});
      } else if constexpr (requires { typename stage::op_type; })
        return no_backend_of<place, Target, Target>(typename plan_type::backend_types{});
      else
        return callable_cannot_run_on_this_device<stage::name, Target>{};
    } else if constexpr (decltype(plan_type::pin_mistake())::is_mistake) {
      return plan_type::pin_mistake();
    } else if constexpr (decltype(plan_type::driver_mistake(type_tag<Target>{}))::is_mistake) {
      return plan_type::driver_mistake(type_tag<Target>{});
    } else if constexpr (device_memory_mistake<plan_type::plan, plan_type::devices>::is_mistake) {
      return device_memory_mistake<plan_type::plan, plan_type::devices>{};
    } else {
      using too_large = memory_mistake<plan_type::plan, memory_bound_of<Options...>()>;
      if constexpr (too_large::is_mistake)
        return too_large{};
      else
        return accuracy_mistake<Flat, loss_bound_of<Options...>()>();
    }
  }
}

/// What is wrong with the plans of what a rate holds.
template <class Rate, class In, class Planner>
struct planned_rate_mistake : type_tag<no_mistake> {};

template <class Region, class Target, class... Options>
using mistake_of_rate_plan = typename planned_rate_mistake<typename Region::rate, typename Region::out,
                                                           planner_of_rates<Target, Options...>>::type;

/// The first region whose plan has one.
template <class Parts, std::size_t R, class Target, class... Options>
consteval auto mistake_of_region_plans() {
  using here = region<Parts, R>;
  using found = decltype(plan_mistake<typename here::flat, Target, Options...>());
  if constexpr (found::is_mistake || here::is_last)
    return found{};
  else if constexpr (mistake_of_rate_plan<here, Target, Options...>::is_mistake)
    return mistake_of_rate_plan<here, Target, Options...>{};
  else
    return mistake_of_region_plans<Parts, R + 1, Target, Options...>();
}

}  // namespace levada::detail
