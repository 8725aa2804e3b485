// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/plan_file.hpp: the partition of an app in a file: as a header, from which the compiler builds the same again
// or says what changed; and as JSON, against which an app on another machine, or of another target, says what does not
// hold. Reading is nlohmann-json's work; interop/save_plan.hpp writes and needs none.
//
//   save(app, "box.plan.hpp");                       // deploy<box, pinned<box_plan>>(pipeline)
//   save(app, "box.plan.json");
//   for (const auto& sentence : check_plan(app, "box.plan.json")) ...

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/detail/log.hpp>
#include <levada/core/detail/whole_file.hpp>
#include <levada/interop/planned_from.hpp>
#include <levada/interop/save_plan.hpp>
#include <levada/interop/saved_plan.hpp>
#include <levada/plan/detail/saved_differences.hpp>
#include <levada/run/detail/workers/machine.hpp>

namespace levada {
namespace detail {

/// A text as it is behind a way through JSON.
inline std::string through_json(std::string_view raw) {
  std::string text;
  append_utf8(text, raw, [&](char c) { text += c; });
  return text;
}

/// Whether a table has all kernels of a plan; the log has a warning where it lacks some.
template <std::size_t N>
bool are_measured(const plan_info<N>& plan, const cost_table& table) {
  const graph_costs<N> costs(plan.graph, std::span<const backend_info>(plan.backend.data(), plan.backend.size()),
                             table);
  std::size_t kernels = 0, missing = 0;
  std::string first;
  for (const planned_unit& u : plan.unit) {
    if (u.backend == partition_unit::callable) continue;
    ++kernels;
    if (costs.of_run(u.backend, u.first, u.count).origin == cost_origin::measured) continue;
    if (missing++ == 0) append_signature(first, plan.graph, u.first, u.count);
  }
  if (missing == 0) return true;
  log(log_level::warning, "stale costs: of " + std::to_string(kernels) + " kernels of the plan " +
                              std::to_string(missing) + " are not among them, the first: " + first);
  return false;
}

}  // namespace detail

/// What of a plan saved as JSON does not hold for this app on this machine, a sentence each: another machine, costs
/// that were measured on another, a line that this target and these backends cannot build, stages that this app places
/// otherwise. Throws levada::error where the file cannot be read or is no plan's JSON.
template <class App>
  requires requires { typename detail::deployment_types_of<App>::type::planning; }
[[gnu::always_inline]] inline std::vector<std::string> check_plan(const App&, const std::string& path) {
  constexpr std::size_t largest = 64'000'000;
  const detail::saved_plan saved = detail::read_saved_plan(detail::read_whole(path, largest, "plan"), path);
  std::vector<std::string> found;
  if (const std::string here = detail::through_json(detail::machine_text()); saved.machine != here) {
    found.push_back("it was made on " + saved.machine.value_or("a machine that it does not name") + ", this is " +
                    here);
    if (!saved.costs.empty() && saved.costs != here) found.push_back("its costs are those of " + saved.costs);
  }
  detail::planned_from<typename detail::deployment_types_of<App>::type::planning>::visit([&](
      const auto& plan, const plan_choice& choice) __attribute__((always_inline)) {
    for (std::string& one : saved_differences(saved.line, plan, choice.devices, choice.candidates, choice.backends))
      found.push_back(std::move(one));
  });
  return found;
}

/// Whether the costs that an app was placed by hold: measured on this machine, by this compiler and for these
/// instructions, and each kernel of the plan among them. What does not hold is a warning in the log. True without
/// costs.
template <class App>
  requires requires { typename detail::deployment_types_of<App>::type::planning; }
[[gnu::always_inline]] inline bool costs_hold(const App&) {
  using from = detail::planned_from<typename detail::deployment_types_of<App>::type::planning>;
  constexpr const cost_table* table = detail::table_of<typename from::chooser>;
  if constexpr (table == nullptr)
    return true;
  else
    return from::visit([](const auto& plan, const plan_choice& choice) __attribute__((always_inline)) {
      const bool are_all = detail::are_measured(plan, *choice.costs);
      return detail::are_of_this_machine(choice.costs->machine) && are_all;  // both warn
    });
}

}  // namespace levada
