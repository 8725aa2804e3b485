// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/tune.hpp: the search of plan/detail/search.hpp when the program runs: for graphs that a compiler has not the
// patience for, and for costs that were measured just now. What it finds is a plan in a file, from which the compiler
// builds that partition or says what changed.
//
//   profile<box>(pipeline, pictures, "box.costs.hpp");
//   tune<box>(pipeline, "box.costs.hpp", "box.plan.hpp");      // then deploy<box, pinned<box_plan>>(pipeline)

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <levada/core/detail/log.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/detail/sourced_graph.hpp>
#include <levada/interop/profile/cost_header.hpp>
#include <levada/interop/save_plan.hpp>
#include <levada/plan/detail/measured_whole.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/deploy.hpp>

namespace levada {

/// What a search found.
struct tuned_plan {
  std::string line;        ///< the partition, as `save` writes it
  double seconds = 0;      ///< of the objective, by the costs
  bool measured = false;   ///< the costs have this plan as a whole: nothing was searched
  bool exact = false;      ///< by these costs no other is better
  double gap = 0;          ///< else another may be, by this part at most
  std::size_t stages = 0;  ///< that were placed
};

namespace detail {

template <std::size_t N>
struct tuned_parts {
  partition<N> parts;
  tuned_plan found;
};

template <std::size_t N>
tuned_parts<N> search_partition(const graph_info<N>& graph, std::span<const device_info> devices,
                                std::span<const candidate> candidates, std::span<const backend_info> backends,
                                const cost_table& costs, objective goal) {
  tuned_parts<N> result;
  if (goal == objective::latency) {
    result.parts = measured_partition(graph, devices, candidates, backends, costs);
    result.found.measured = !result.parts.empty();
  }
  if (result.found.measured) {
    result.found.seconds = find_whole(costs, question_of(graph, devices, backends))->seconds;
  } else {
    if (devices.size() > most_places) throw error("levada: tune: the target has too many devices to search");
    const auto problem =
        std::make_unique<placement_problem<N>>(deployment_problem(graph, devices, candidates, backends, costs));
    const cover<N> chosen = best_cover(*problem, goal);
    if (!chosen.complete) throw error("levada: tune: no choice of devices and backends has room for all stages");
    result.parts = partition_of(*problem, chosen, graph, devices);
    result.found.seconds = chosen.seconds;
    result.found.exact = chosen.exact;
    result.found.gap = chosen.gap();
  }
  result.found.stages = graph.nodes.size();
  return result;
}

inline void log_tuned(const tuned_plan& found, const std::string& path) {
  if (!is_logged()) return;
  log(log_level::info, "tuned: " + std::to_string(found.stages) + " stages, " +
                           (found.measured ? "as they were measured as a whole"
                            : found.exact  ? "no other partition is better by these costs"
                                           : "another may be better by " + std::to_string(found.gap * 100) + " %") +
                           ", in \"" + path + "\"");
}

}  // namespace detail

/// Searches for the best partition of a pipeline by a table of costs and writes it: a header with the constant
/// "box_plan" where the path is "box.plan.hpp", JSON where it ends in ".json". `Options` are those of `deploy`. Throws
/// levada::error where it cannot be written, or no partition has room for all stages.
template <class Target, class... Options, class Pipeline>
  requires correct<detail::deployment_mistake<Pipeline, Target, Options...>> &&
           (!detail::changes_rate<detail::flat_parts<Pipeline>>)
tuned_plan
    tune(const Pipeline&, const cost_table& costs, const std::string& path, objective goal = objective::latency) {
  using planning = detail::planned<detail::flat<Pipeline>, Target, Options...>;
  constexpr auto graph = detail::sourced_graph<typename planning::flat>;
  constexpr auto candidates = planning::found::candidates;
  constexpr auto backends = detail::backend_values<typename planning::backend_list>::values;
  const std::span<const candidate> offered(candidates.data(), candidates.size());
  auto tuned = detail::search_partition(graph, planning::devices, offered, backends, costs, goal);
  const auto plan = std::make_unique<const std::remove_cvref_t<decltype(planning::plan)>>(
      make_plan(graph, tuned.parts, {detail::slots_wanted<detail::flat<Pipeline>, Options...>}, planning::devices,
                offered, backends));
  tuned.found.line = save(*plan);
  detail::write_plan_file(*plan, costs.machine, path);
  detail::log_tuned(tuned.found, path);
  return tuned.found;
}

/// By the costs that `profile` has written on this machine. Throws levada::error where there are none.
template <class Target, class... Options, class Pipeline>
  requires correct<detail::deployment_mistake<Pipeline, Target, Options...>> &&
           (!detail::changes_rate<detail::flat_parts<Pipeline>>)
tuned_plan tune(const Pipeline& pipeline, const std::string& costs, const std::string& path,
                objective goal = objective::latency) {
  detail::cost_header measured(costs, detail::machine_text());
  if (measured.size() == 0) throw error("levada: tune: \"" + costs + "\" has no costs of this machine");
  return tune<Target, Options...>(pipeline, measured.table(), path, goal);
}

}  // namespace levada
