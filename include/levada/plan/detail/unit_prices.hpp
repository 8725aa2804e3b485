// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/unit_prices.hpp: what the units of a partition take, by which it is decided which branches run at once
// (plan/detail/branches.hpp) and which units are divided (plan/detail/division.hpp). Where there is no cost table the
// prices are estimated; measured ones are those of plan/detail/partition_by_cost.hpp.

#include <cstddef>
#include <span>

#include <levada/core/detail/bounded.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/plan/detail/partition.hpp>
#include <levada/plan/detail/region_runs.hpp>

namespace levada {

/// What a core can do where neither a table nor a backend says so: more than most can, so that what kernels are
/// estimated to take is rather too little.
inline constexpr roofline assumed_core{"", 200e9, 50e9};

namespace detail {

template <std::size_t N>
constexpr cost estimate_unit(const graph_info<N>& graph, const partition_unit& unit,
                             std::span<const backend_info> backends) {
  double flops = 0, bytes = static_cast<double>(graph.values[graph.nodes[unit.first + unit.count - 1].out].bytes);
  for (const std::size_t v : inputs_of_run(graph, unit.first, unit.count))
    bytes += static_cast<double>(graph.values[v].bytes);
  for (std::size_t n = unit.first; n < unit.first + unit.count; ++n) {
    flops += graph.nodes[n].flops;
    bytes += static_cast<double>(graph.nodes[n].parameter_bytes);
  }
  const roofline& own = backends[unit.backend].own;
  return estimate(own.flops_per_second > 0 ? own : assumed_core, flops, bytes);
}

}  // namespace detail

/// The prices of the units in order. Nobody knows those of callables.
template <std::size_t N>
constexpr bounded<cost, N> unit_prices(const graph_info<N>& graph, const partition<N>& parts,
                                       std::span<const backend_info> backends) {
  bounded<cost, N> prices;
  for (const partition_unit& unit : parts)
    prices.push_back(unit.backend == partition_unit::callable ? cost{} : detail::estimate_unit(graph, unit, backends));
  return prices;
}

}  // namespace levada
