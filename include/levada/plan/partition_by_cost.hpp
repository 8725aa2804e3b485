// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/partition_by_cost.hpp: the partition that a deployment with a cost table has: `deploy<box, costs<table>>(pipeline)`.
//
// The offers are the candidates on each device that computes them, and every other stage on each device that runs callables.
// A unit of a partition is a run of consecutive nodes, and candidates are asked of the backends as such: a region whose nodes
// are apart in the order of execution is not offered. Sorting the nodes again so that they were together would need another
// order for each cover, while values, lifetimes and saved plans are numbered by the one that the pipeline was written in.
// Runs in the order of their first nodes are in an order in which they can run.

#include <array>
#include <cstddef>
#include <span>

#include <levada/plan/cost_table.hpp>
#include <levada/plan/partition.hpp>
#include <levada/plan/search.hpp>

namespace levada {

namespace detail {

/// The devices are the places; all backends on one leave their values alike.
template <std::size_t N>
constexpr void add_places(placement_problem<N>& problem, std::span<const device_info> devices,
                          const cost_table& table) {
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const bool works_itself = devices[d].id.kind != device_kind::cpu;
    problem.devices.push_back({works_itself ? 1 : devices[d].max_threads, device_capacity::any});
    problem.places.push_back({d});
    if (!works_itself && problem.host == problem.nowhere) problem.host = d;
    for (std::size_t to = 0; to < devices.size(); ++to)
      problem.crossings[d][to] = transfer_of(table, devices[d].id, devices[to].id);
  }
}

/// What a run on a graphics device can follow: the node that feeds it and nobody else, or a node that lies elsewhere for sure.
/// For nodes of a segment there are in a line.
template <std::size_t N>
constexpr bool is_in_line(const graph_info<N>& graph, const std::array<bool, N>& feeds, const node_set<N>& may_be_there,
                          std::size_t first) {
  if (first > 0 && feeds[first - 1]) return true;
  const bool begins = first == 0 || graph.nodes[first - 1].split_after || !may_be_there.contains(first - 1);
  return begins && graph.nodes[first].more.empty();
}

/// The nodes of a candidate are a chain without a border, and none is pinned elsewhere.
template <std::size_t N>
constexpr bool may_run_as_one(const graph_info<N>& graph, const std::array<bool, N>& feeds, const candidate& c,
                              device_id device) {
  const std::size_t behind = c.first + c.count;
  bool allowed = behind <= graph.nodes.size();
  for (std::size_t n = c.first; allowed && n < behind; ++n)
    allowed = is_op(graph.nodes[n]) && may_run_on(graph.nodes[n], device) &&
              (n + 1 == behind || (feeds[n] && !graph.nodes[n].split_after));
  return allowed;
}

template <std::size_t N>
constexpr void add_offers(placement_problem<N>& problem, const graph_info<N>& graph,
                          std::span<const device_info> devices, std::span<const candidate> candidates,
                          std::span<const backend_info> backends, const cost_table& table) {
  const graph_costs<N> known(graph, table);
  const std::array<bool, N> feeds = feeds_only_the_next(graph);
  problem.offers.reserve((candidates.size() + graph.nodes.size()) * devices.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (std::size_t d = 0; d < devices.size(); ++d)
      if (!is_op(graph.nodes[n]) && runs_callables(devices[d].id) && may_run_on(graph.nodes[n], devices[d].id))
        problem.offers.push_back({{n},
                                  d,
                                  0,
                                  known.of_callable(n),
                                  0,
                                  graph.nodes[n].order == concurrency::serial,
                                  partition_unit::callable});
  for (std::size_t d = 0; d < devices.size(); ++d) {
    node_set<N> may_be_there;
    for (const candidate& c : candidates)
      if (computes_on(backends[c.backend], devices[d].id) && may_run_as_one(graph, feeds, c, devices[d].id))
        may_be_there |= node_set<N>::run(c.first, c.count);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const candidate& c = candidates[i];
      if (!computes_on(backends[c.backend], devices[d].id) || !may_run_as_one(graph, feeds, c, devices[d].id)) continue;
      if (devices[d].id.kind == device_kind::vulkan && !is_in_line(graph, feeds, may_be_there, c.first)) continue;
      problem.offers.push_back({node_set<N>::run(c.first, c.count), d, c.backend,
                                known.of_run(backends[c.backend].name, c.first, c.count), c.weight_bytes, false, i});
    }
  }
}

}  // namespace detail

/// The question that a deployment asks.
template <std::size_t N>
constexpr placement_problem<N> deployment_problem(const graph_info<N>& graph, std::span<const device_info> devices,
                                                  std::span<const candidate> candidates,
                                                  std::span<const backend_info> backends, const cost_table& table) {
  placement_problem<N> problem = make_problem(graph);
  detail::add_places(problem, devices, table);
  detail::add_offers(problem, graph, devices, candidates, backends, table);
  return problem;
}

/// The units of a cover by runs of consecutive nodes.
template <std::size_t N>
constexpr partition<N> partition_of(const placement_problem<N>& problem, const cover<N>& chosen,
                                    const graph_info<N>& graph, std::span<const device_info> devices) {
  std::size_t offer_at[N]{};
  for (const std::size_t o : chosen.chosen) offer_at[problem.offers[o].nodes.first()] = o;
  partition<N> units;
  for (std::size_t n = 0; n < graph.nodes.size();) {
    const offer<N>& taken = problem.offers[offer_at[n]];
    partition_unit unit{n, taken.nodes.size()};
    unit.device = devices[taken.place].id;
    unit.candidate = taken.candidate;
    if (taken.candidate != partition_unit::callable) unit.backend = taken.rank;
    unit.starts_segment = n == 0 || graph.nodes[n - 1].split_after || units.back().device != unit.device;
    units.push_back(unit);
    n += unit.count;
  }
  return units;
}

/// The best partition by the costs of a table. Where there is no cover it is the one without costs, which tells what is wrong.
template <std::size_t N>
constexpr partition<N> choose_partition(const graph_info<N>& graph, std::span<const device_info> devices,
                                        std::span<const candidate> candidates, std::span<const backend_info> backends,
                                        const cost_table& table, objective goal = objective::latency) {
  if (devices.size() <= most_places) {
    const placement_problem<N> problem = deployment_problem(graph, devices, candidates, backends, table);
    const cover<N> chosen = best_cover(problem, goal);
    if (chosen.complete) return partition_of(problem, chosen, graph, devices);
  }
  return choose_partition(graph, devices, candidates, backends);
}

/// An option of `deploy`: backends, devices and what is fused are chosen by the costs of a table of static storage.
template <const cost_table& Table, objective Goal = objective::latency>
struct costs {
  template <std::size_t N>
  static constexpr partition<N> partition_for(const graph_info<N>& graph, std::span<const device_info> devices,
                                              std::span<const candidate> candidates,
                                              std::span<const backend_info> backends) {
    return choose_partition(graph, devices, candidates, backends, Table, Goal);
  }
};

}  // namespace levada
