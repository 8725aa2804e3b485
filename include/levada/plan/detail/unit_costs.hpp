// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/unit_costs.hpp: what each unit of a plan takes by a table, and how that is known: what promises of time
// are checked by (run/promises.hpp).

#include <cstddef>
#include <span>

#include <levada/core/detail/bounded.hpp>
#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/unit_prices.hpp>

namespace levada {

/// Of a plan's units in order: measured, else estimated by the roofline of the table, of the backend or of an assumed
/// core; unknown of a callable that nobody measured.
template <std::size_t N>
constexpr bounded<cost, N> unit_costs(const plan_info<N>& plan, const cost_table& table) {
  const std::span<const backend_info> backends(plan.backend.data(), plan.backend.size());
  const graph_costs<N> known(plan.graph, backends, table);
  bounded<cost, N> costs;
  for (const planned_unit& unit : plan.unit) {
    cost c;
    if (plan.graph.nodes[unit.first].border != loop_border::none)
      c = cost::measured(0);  // the ends of a feedback hand its state on
    else if (unit.backend == partition_unit::callable) {
      c = known.of_callable(unit.first);
      if (c.origin != cost_origin::measured) c = {};
    } else {
      c = known.of_run(unit.backend, unit.first, unit.count);
      if (c.origin == cost_origin::unknown)
        c = detail::estimate_unit(plan.graph, {.first = unit.first, .count = unit.count, .backend = unit.backend},
                                  backends);
    }
    costs.push_back(c);
  }
  return costs;
}

}  // namespace levada
