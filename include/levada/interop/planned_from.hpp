// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/planned_from.hpp: what the plan of an app was chosen from, as values again: devices, candidates, backends,
// costs.

#include <type_traits>

#include <levada/plan/detail/reasons.hpp>
#include <levada/run/deploy.hpp>

namespace levada::detail {

template <class Option>
inline constexpr const cost_table* table_of = nullptr;
template <class Option>
  requires requires { Option::goal; }
inline constexpr const cost_table* table_of<Option> = &Option::table;
template <class Option>
inline constexpr objective goal_of = objective::latency;
template <class Option>
  requires requires { Option::goal; }
inline constexpr objective goal_of<Option> = Option::goal;

template <class Option>
inline constexpr bool is_within = false;
template <class Option>
  requires requires { typename Option::preferred; }
inline constexpr bool is_within<Option> = true;

/// Of one region of a deployment. Copies, since the constants themselves would become symbols that spell out the
/// pipeline.
template <class Planning>
struct planned_from;
template <class Flat, class Target, class... Options>
struct planned_from<planned<Flat, Target, Options...>> {
  using planning = planned<Flat, Target, Options...>;
  using chooser = typename planning::chooser;

  /// Calls `visit(plan, choice)`.
  template <class Visit>
  [[gnu::always_inline]] static auto visit(Visit visit) {
    constexpr auto plan = planning::plan;
    constexpr auto candidates = planning::found::candidates;
    constexpr auto backends = backend_values<typename planning::backend_list>::values;
    return visit(plan, plan_choice{planning::devices,
                                   {candidates.data(), candidates.size()},
                                   backends,
                                   table_of<chooser>,
                                   goal_of<chooser>,
                                   !std::is_void_v<typename planning::pin>,
                                   is_within<chooser>});
  }
};

/// What an app is known by here: nothing where it is no app.
template <class App>
struct deployment_types_of;
template <class Types, class Executor>
struct deployment_types_of<executable<Types, Executor>> : type_tag<Types> {};

}  // namespace levada::detail
