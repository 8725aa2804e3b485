// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/division.hpp: which units of a lone item are divided among threads that have none of their own. A part is
// some of the tiles that the unit's kernel has.

#include <algorithm>
#include <cstddef>
#include <span>

#include <levada/graph/detail/tile_range.hpp>
#include <levada/plan/detail/branches.hpp>
#include <levada/plan/detail/candidate.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/plan/detail/partition.hpp>

namespace levada {

/// A unit that takes less stays on its item's thread: others have neither its input nor its weights in their caches,
/// and come a microsecond later. What 200 GFLOP/s do in this time takes small convolutions two to four times as long.
inline constexpr double unit_worth_dividing = 5e-6;

namespace detail {

/// Divides what is worth it. `prices` are those of the units.
template <class Plan>
constexpr void divide_units(Plan& plan, std::span<const cost> prices, std::span<const candidate> candidates) {
  for (std::size_t u = 0; u < plan.units; ++u) {
    auto& unit = plan.unit[u];
    if (unit.candidate == partition_unit::callable || prices[u].seconds < unit_worth_dividing) continue;
    if (plan.segment[unit.segment].device.kind != device_kind::cpu) continue;
    unit.parts = std::min<std::size_t>(candidates[unit.candidate].tiles, static_cast<std::size_t>(plan.threads));
    if (unit.parts > 1) plan.part_bytes = std::max(plan.part_bytes, unit.scratch_bytes);
  }
  for (auto& fork : plan.fork) {
    double seconds = 0;
    for (std::size_t u = fork.first; u < fork.first + fork.count; ++u)
      seconds += prices[u].seconds / static_cast<double>(plan.unit[u].parts);
    fork.divided = fork.order == branch_order::at_once && seconds < fork.longest;
  }
}

/// Some unit is divided.
template <class Plan>
constexpr bool divides(const Plan& plan) {
  for (const auto& unit : plan.unit)
    if (unit.parts > 1) return true;
  return false;
}

}  // namespace detail
}  // namespace levada
