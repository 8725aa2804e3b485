// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/partition_within.hpp: the best partition among those that keep what a deployment promises of its time, by
// the costs that a promise counts (plan/detail/unit_costs.hpp). Where none does, the one that exceeds it least.
//
// Branches that run at once, feedbacks and slots are no part of the search: all of an item's work counts one after the
// other. What is promised is checked of the plan, whatever was searched.

#include <algorithm>
#include <cstddef>
#include <span>

#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/limits.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>

namespace levada {

/// Which costs a promise counts, and for how many threads of the processor.
struct promised_costs {
  bool estimates_count = false;
  int threads = 1;
};

template <std::size_t N>
struct partition_within {
  partition<N> parts;       ///< empty where there is none at all
  bool has_choice = false;  ///< there are others
};

namespace detail {

/// The offers that may keep a promise, at their prices.
template <std::size_t N>
constexpr constexpr_vector<offer<N>> promised_offers(const placement_problem<N>& problem, const graph_info<N>& graph,
                                                     std::span<const backend_info> backends, const cost_table& table,
                                                     bool estimates_count) {
  const graph_costs<N> known(graph, backends, table);
  constexpr_vector<offer<N>> offers;
  for (offer<N> o : problem.offers) {
    const bool is_callable = o.candidate == partition_unit::callable;
    const std::size_t first = o.nodes.first();
    if (is_callable && graph.nodes[first].border != loop_border::none)
      o.price = cost::measured(0);
    else if (o.price.origin != cost_origin::measured && !estimates_count)
      continue;
    else if (!is_callable && o.price.origin == cost_origin::unknown)
      o.price = estimate_unit(graph, {.first = first, .count = o.nodes.size(), .backend = o.rank}, backends);
    offers.push_back(o);
  }
  return offers;
}

/// Nobody promises a way that was not measured.
template <std::size_t N>
constexpr void leave_out_assumed_ways(placement_problem<N>& problem, std::span<const device_info> devices,
                                      const cost_table& table) {
  constexpr double never = 100;
  for (std::size_t a = 0; a < devices.size(); ++a)
    for (std::size_t b = 0; b < devices.size(); ++b)
      if (a != b && find_transfer(table.transfers, devices[a].id, devices[b].id) == nullptr)
        problem.crossings[a][b] = {never, 0};
}

}  // namespace detail

template <std::size_t N>
constexpr partition_within<N> choose_partition_within(const graph_info<N>& graph, std::span<const device_info> devices,
                                                      std::span<const candidate> candidates,
                                                      std::span<const backend_info> backends, const cost_table& table,
                                                      objective goal, const plan_limits& limits,
                                                      const promised_costs& counted) {
  partition_within<N> answer;
  if (devices.size() > most_places) return answer;
  placement_problem<N> problem = deployment_problem(graph, devices, candidates, backends, table);
  problem.offers = detail::promised_offers(problem, graph, backends, table, counted.estimates_count);
  if (!counted.estimates_count) detail::leave_out_assumed_ways(problem, devices, table);
  for (std::size_t d = 0; d < devices.size(); ++d)
    if (devices[d].id.kind == device_kind::cpu) problem.devices[d].workers = counted.threads;
  answer.has_choice = problem.offers.size() != graph.nodes.size();
  const cover<N> chosen =
      best_cover_within(problem, goal, limits, detail::beam_of(objective::throughput, graph.nodes.size())).best;
  if (chosen.complete) answer.parts = partition_of(problem, chosen, graph, devices);
  return answer;
}

}  // namespace levada
