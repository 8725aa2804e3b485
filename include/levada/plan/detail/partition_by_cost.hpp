// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/partition_by_cost.hpp: the partition that a deployment with a cost table has: `deploy<box,
// costs<table>>(pipeline)`.
//
// The offers are the candidates on each device that computes them, and every other stage on each device that runs
// callables. A unit of a partition is a region: consecutive nodes, of which only the last gives a value that is taken
// outside. Chains of ops stand together in any graph (graph/detail/node_order.hpp). Runs in the order of their first
// nodes are in an order in which they can run.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/apart_regions.hpp>
#include <levada/plan/detail/limits.hpp>
#include <levada/plan/detail/measured_whole.hpp>
#include <levada/plan/detail/partition.hpp>
#include <levada/plan/detail/region_runs.hpp>
#include <levada/plan/detail/search.hpp>
#include <levada/plan/detail/unit_prices.hpp>

namespace levada {

namespace detail {

/// The devices are the places; all backends on one leave their values alike.
template <std::size_t N>
constexpr void add_places(placement_problem<N>& problem, std::span<const device_info> devices,
                          const cost_table& table) {
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const bool works_itself = devices[d].id.kind != device_kind::cpu;
    problem.devices.push_back(
        {works_itself ? count_of(devices[d].id) : devices[d].max_threads, devices[d].memory_bytes});
    problem.places.push_back({d});
    if (!works_itself && problem.host == problem.nowhere) problem.host = d;
    for (std::size_t to = 0; to < devices.size(); ++to)
      problem.crossings[d][to] = transfer_of(table, devices[d].id, devices[to].id);
  }
}

/// How far a kernel could reach on a device: behind the last of the ops in a row that begin at each node, without a
/// border or a node that is pinned elsewhere.
template <std::size_t N>
constexpr std::array<std::size_t, N> row_ends(const graph_info<N>& graph, device_id device) {
  std::array<std::size_t, N> ends{};
  const std::size_t count = graph.nodes.size();
  for (std::size_t n = count; n-- > 0;) {
    const node_info& node = graph.nodes[n];
    ends[n] = n;
    if (!is_op(node) || !may_run_on(node, device)) continue;
    ends[n] = n + 1 < count && !node.split_after ? std::max(n + 1, ends[n + 1]) : n + 1;
  }
  return ends;
}

/// What a device keeps, at most, for a run of nodes on it: parameters, and for each item in flight what they take, give
/// and work in. Where no memory limits it, what they take is counted by who gives it, and the processor has two items
/// for each thread in flight.
template <std::size_t N>
constexpr std::size_t bytes_kept(const graph_info<N>& graph, const device_info& on, std::size_t first,
                                 std::size_t count, const candidate& kernel) {
  if (on.memory_bytes == device_capacity::any) {
    const std::size_t in_flight =
        on.id.kind == device_kind::cpu ? 2 * static_cast<std::size_t>(on.max_threads) : on.slots;
    const node_info& given = graph.nodes[first + count - 1];
    const std::size_t out = given.how == form::sink ? 0 : graph.values[given.out].bytes;
    return kernel.weight_bytes + in_flight * (kernel.scratch_bytes + out);
  }
  const node_info& last = graph.nodes[first + count - 1];
  std::size_t bytes = kernel.scratch_bytes + (last.how == form::sink ? 0 : graph.values[last.out].bytes);
  for (const std::size_t v : inputs_of_run(graph, first, count)) bytes += graph.values[v].bytes;
  return kernel.weight_bytes + on.slots * bytes;
}

/// The candidates that a device can compute.
template <std::size_t N>
constexpr void add_kernels(placement_problem<N>& problem, const graph_info<N>& graph, std::size_t place,
                           const device_info& on, std::span<const candidate> candidates,
                           std::span<const backend_info> backends, const graph_costs<N>& costs) {
  const device_id device = on.id;
  const std::array<std::size_t, N> ends = row_ends(graph, device);
  const region_runs runs(graph);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const candidate& c = candidates[i];
    if (!computes_on(backends[c.backend], device) || c.first >= N || c.first + c.count > ends[c.first] ||
        (c.count != 1 && !runs.is_region(c.first, c.count)))
      continue;
    problem.offers.push_back({node_set<N>::run(c.first, c.count), place, c.backend,
                              costs.of_run(c.backend, c.first, c.count), bytes_kept(graph, on, c.first, c.count, c),
                              false, i});
  }
}

/// The stages that are no ops.
template <std::size_t N>
constexpr void add_callables(placement_problem<N>& problem, const graph_info<N>& graph, std::size_t place,
                             const device_info& on, const graph_costs<N>& costs) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (const node_info& node = graph.nodes[n]; !is_op(node) && may_run_on(node, on.id))
      problem.offers.push_back({{n},
                                place,
                                0,
                                costs.of_callable(n),
                                bytes_kept(graph, on, n, 1, {}),
                                node.order == concurrency::serial,
                                partition_unit::callable});
}

}  // namespace detail

/// The question that a deployment asks.
template <std::size_t N>
constexpr placement_problem<N> deployment_problem(const graph_info<N>& graph, std::span<const device_info> devices,
                                                  std::span<const candidate> candidates,
                                                  std::span<const backend_info> backends, const cost_table& table) {
  placement_problem<N> problem = make_problem(graph);
  detail::add_places(problem, devices, table);
  const graph_costs<N> costs(graph, backends, table);
  problem.offers.reserve((candidates.size() + graph.nodes.size()) * devices.size());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    if (detail::runs_callables(devices[d].id)) detail::add_callables(problem, graph, d, devices[d], costs);
    detail::add_kernels(problem, graph, d, devices[d], candidates, backends, costs);
  }
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

namespace detail {

/// Ways that a compiler has the patience for: one to a state where only latency counts, many where loads are weighed.
constexpr std::size_t beam_of(objective goal, std::size_t nodes) {
  return goal == objective::latency ? default_beam : std::max<std::size_t>(1, 512 / nodes);
}

}  // namespace detail

/// The best partition by the costs of a table: for latency the one measured as a whole, if the table has it; else
/// the one that the search finds. Where there is no cover it is the one without costs, which names the mistake.
template <std::size_t N>
constexpr partition<N> choose_partition(const graph_info<N>& graph, std::span<const device_info> devices,
                                        std::span<const candidate> candidates, std::span<const backend_info> backends,
                                        const cost_table& table, objective goal = objective::latency) {
  if (goal == objective::latency)
    if (const partition<N> whole = measured_partition(graph, devices, candidates, backends, table); !whole.empty())
      return whole;
  if (devices.size() <= most_places) {
    const placement_problem<N> problem = deployment_problem(graph, devices, candidates, backends, table);
    const std::size_t beam = detail::beam_of(goal, graph.nodes.size());
    const bool is_of_time = goal == objective::latency || goal == objective::throughput;
    const cover<N> chosen =
        is_of_time ? best_cover(problem, goal, beam) : best_cover_within(problem, goal, {}, beam).best;
    if (chosen.complete) return partition_of(problem, chosen, graph, devices);
  }
  return choose_partition(graph, devices, candidates, backends);
}

namespace detail {

/// In place of an offer's candidate.
inline constexpr std::size_t joined_outputs_offer = ~std::size_t{1};

/// Offers for regions apart, on each device that computes them. How much memory their kernels keep is not known yet.
template <std::size_t N>
constexpr void add_apart(placement_problem<N>& problem, const graph_info<N>& graph,
                         std::span<const device_info> devices, std::span<const backend_info> backends,
                         const apart_regions<N>& apart) {
  for (const apart_region<N>& r : apart)
    for (std::size_t d = 0; d < devices.size(); ++d)
      if (computes_on(backends[r.backend], devices[d].id) && devices[d].id.kind != device_kind::vulkan &&
          may_run_on(graph.nodes[r.nodes.first()], devices[d].id))
        problem.offers.push_back({r.nodes, d, r.backend, r.price, 0, false, r.has_outputs ? joined_outputs_offer : 0});
}

}  // namespace detail

/// Looks up what regions apart cost where their nodes stand in a row; those that never can are taken away.
template <std::size_t N>
constexpr void price_apart(const graph_info<N>& graph, std::span<const backend_info> backends, const cost_table& table,
                           apart_regions<N>& apart) {
  const region_order<N> orders(graph);
  const graph_costs<N> costs(graph, backends, table);
  apart_regions<N> priced;
  priced.reserve(apart.size());
  for (apart_region<N> r : apart) {
    node_places<N> order = orders.order_with(bounded<node_set<N>, 1>{r.nodes});
    if (!orders.is_complete(order)) continue;
    if (r.has_outputs) order.joined.push_back(r);
    r.price = costs.of_run(graph_in_order<1>(graph, order), r.backend, order.place_of(r.nodes.first()), r.nodes.size());
    priced.push_back(r);
  }
  apart = priced;
}

/// The order of a graph in which each region of its best cover stands in a row, those apart included, whose
/// prices are known.
template <std::size_t N>
constexpr node_places<N> order_by_cost(const graph_info<N>& graph, std::span<const device_info> devices,
                                       std::span<const candidate> candidates, std::span<const backend_info> backends,
                                       const cost_table& table, objective goal, const apart_regions<N>& apart) {
  const region_order<N> orders(graph);
  bounded<node_set<N>, N> together;
  bounded<apart_region<N>, N> joined;
  bounded<std::pair<node_set<N>, partition_unit>, N> units;
  if (devices.size() <= most_places) {
    placement_problem<N> problem = deployment_problem(graph, devices, candidates, backends, table);
    detail::add_apart(problem, graph, devices, backends, apart);
    const cover<N> chosen = best_cover(problem, goal, detail::beam_of(goal, graph.nodes.size()));
    if (!chosen.complete) return preferred_order(graph, apart, candidates);
    for (const std::size_t o : chosen.chosen) {
      const offer<N>& taken = problem.offers[o];
      partition_unit unit{0, taken.nodes.size()};
      unit.device = devices[taken.place].id;
      if (taken.candidate != partition_unit::callable) unit.backend = taken.rank;
      units.push_back({taken.nodes, unit});
      if (unit.count > 1) together.push_back(taken.nodes);
      if (taken.candidate == detail::joined_outputs_offer) joined.push_back({taken.nodes, taken.rank, true});
    }
  }
  node_places<N> order = orders.order_with(together);
  if (!orders.is_complete(order)) return preferred_order(graph, apart, candidates);
  order.joined = joined;
  for (std::size_t i = 0; i < order.node.size(); ++i)
    for (const auto& [nodes, unit] : units)
      if (nodes.first() == order.node[i]) {
        order.units.push_back(unit);
        order.units.back().first = i;
      }
  return order;
}

/// The prices of the units by a table, as far as it has them.
template <std::size_t N>
constexpr bounded<cost, N> unit_prices(const graph_info<N>& graph, const partition<N>& parts,
                                       std::span<const backend_info> backends, const cost_table& table) {
  bounded<cost, N> prices = unit_prices(graph, parts, backends);
  if (prices.empty()) return prices;
  const graph_costs<N> costs(graph, backends, table);
  for (std::size_t u = 0; u < parts.size(); ++u) {
    const partition_unit& unit = parts[u];
    const bool is_callable = unit.backend == partition_unit::callable;
    const cost known = is_callable ? costs.of_callable(unit.first) : costs.of_run(unit.backend, unit.first, unit.count);
    // Of a callable that nobody measured nothing is known; to place it, it is as if it took no time.
    const bool is_known = is_callable ? known.origin == cost_origin::measured : known.origin != cost_origin::unknown;
    if (is_known) prices[u] = known;
  }
  return prices;
}

/// An option of `deploy`: backends, devices and what is fused are chosen by the costs of a table of static storage,
/// within what the deployment promises (run/promises.hpp).
template <const cost_table& Table, objective Goal = objective::latency>
struct costs {
  static constexpr objective goal = Goal;
  static constexpr const cost_table& table = Table;
  static constexpr const std::string_view& machine = Table.machine;
  static constexpr const std::span<const transfer_cost>& transfers = Table.transfers;

  template <std::size_t N>
  static constexpr partition<N> partition_for(const graph_info<N>& graph, std::span<const device_info> devices,
                                              std::span<const candidate> candidates,
                                              std::span<const backend_info> backends) {
    return choose_partition(graph, devices, candidates, backends, Table, Goal);
  }
  template <std::size_t N>
  static constexpr void price(const graph_info<N>& graph, std::span<const backend_info> backends,
                              apart_regions<N>& apart) {
    price_apart(graph, backends, Table, apart);
  }
  template <std::size_t N>
  static constexpr node_places<N> order_for(const graph_info<N>& graph, std::span<const device_info> devices,
                                            std::span<const candidate> candidates,
                                            std::span<const backend_info> backends, const apart_regions<N>& apart) {
    return order_by_cost(graph, devices, candidates, backends, Table, Goal, apart);
  }
  template <std::size_t N>
  static constexpr bounded<cost, N> prices_for(const graph_info<N>& graph, const partition<N>& parts,
                                               std::span<const backend_info> backends) {
    return unit_prices(graph, parts, backends, Table);
  }
};

}  // namespace levada
