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
template <const cost_table& Table, objective Goal>
inline constexpr const cost_table* table_of<costs<Table, Goal>> = &Table;
template <class Option>
inline constexpr objective goal_of = objective::latency;
template <const cost_table& Table, objective Goal>
inline constexpr objective goal_of<costs<Table, Goal>> = Goal;

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
                                   !std::is_void_v<typename planning::pin>});
  }
};

/// What an app is known by here: nothing where it is no app.
template <class App>
struct deployment_types_of;
template <class Rim, class Executor>
struct deployment_types_of<executable<Rim, Executor>> : type_tag<Rim> {};

}  // namespace levada::detail
