// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/report.hpp: the plan of an app, for a person or a program to read, and the measurements of its sessions.

#include <string>

#include <levada/plan/detail/promises_report.hpp>
#include <levada/plan/detail/regions_report.hpp>
#include <levada/plan/detail/report.hpp>
#include <levada/plan/detail/saved.hpp>
#include <levada/run/detail/measure/statistics_report.hpp>
#include <levada/run/detail/measure/verification_report.hpp>

namespace levada {
namespace detail {

/// Adds what an app promises of its time (run/promises.hpp), if anything, to its plan.
template <format As, class App>
[[gnu::always_inline]] inline std::string with_promises_of(std::string plan) {
  if constexpr (As != format::dot && requires { typename App::types::promises; }) {
    constexpr promised_times promises = App::types::promises::values;
    if constexpr (As == format::json)
      plan.insert(plan.size() - 1, ",\"promises\":" + json_report(promises));
    else
      plan += "\npromises\n" + text_report(promises);
  }
  return plan;
}

}  // namespace detail

/// The plan of an app: text, or `report<format::json>(app)`, `report<format::dot>(app)`.
template <format As = format::text, class App>
  requires requires { App::plan.unit; }
[[gnu::always_inline]] inline std::string report(const App& app) {
  constexpr auto plan = App::plan;  // the constant itself would become a symbol that spells out the pipeline
  const auto deployed = app.streams_at_servers();
  return detail::with_promises_of<As, App>(report(As, plan, {deployed.begin(), deployed.end()}));
}

/// Of one that changes its rate: text, or `report<format::json>(app)`.
template <format As = format::text, class App>
  requires(As != format::dot && requires { App::plan.rate; })
[[gnu::always_inline]] inline std::string report(const App& app) {
  constexpr auto plan = App::plan;
  const auto deployed = app.streams_at_servers();
  if constexpr (As == format::json)
    return detail::with_promises_of<As, App>(json_report(plan, {deployed.begin(), deployed.end()}));
  else
    return detail::with_promises_of<As, App>(text_report(plan, {deployed.begin(), deployed.end()}));
}

/// What an app takes beside its plan: text, or `report<format::json>(app.verify(sample))`.
template <format As = format::text>
  requires(As != format::dot)
std::string report(const verification& all) {
  if constexpr (As == format::json)
    return json_report(all);
  else
    return text_report(all);
}

/// The partition of an app as one line, to be given back as `pinned<"...">`.
template <class App>
  requires requires { App::plan.unit; }
[[gnu::always_inline]] inline std::string save(const App&) {
  constexpr auto plan = App::plan;
  return save(plan);
}

}  // namespace levada
