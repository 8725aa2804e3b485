// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/device_memory.hpp: what a plan keeps on a device, against what the target allows there.

#include <cstddef>
#include <span>
#include <string_view>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/plan/detail/budget.hpp>
#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada {

/// Bytes of the plan on the device, bytes allowed, the items in flight, and the stage that takes most with its part.
template <fixed_string Device, class Needed, class Allowed, class Slots, class WorstStage>
struct plan_needs_more_of_the_memory_of_a_device_than_its_bound : detail::mistake {};

/// What a unit keeps on its device: packed parameters, and for each slot what it takes and gives.
template <std::size_t N>
constexpr std::size_t bytes_kept_by(const plan_info<N>& plan, std::size_t unit) {
  const planned_unit& u = plan.unit[unit];
  std::size_t values = u.how == form::sink || u.how == form::in_place ? 0 : plan.value[u.out].bytes;
  for_each_input(u, [&](std::size_t v) { values += plan.value[v].bytes; });
  return u.weight_bytes + plan.slots * values;
}

/// What a plan keeps on a device: parameters, for each slot what enters and leaves its segments there, and their
/// scratchpads.
template <std::size_t N>
constexpr std::size_t bytes_kept_on(const plan_info<N>& plan, device_id device) {
  std::size_t bytes = 0;
  for (const planned_segment& s : plan.segment) {
    if (s.device != device) continue;
    bytes += s.grains * s.scratch_bytes();
    for (std::size_t u = s.first; u < s.first + s.count; ++u) bytes += plan.unit[u].weight_bytes;
    for (std::size_t v = 0; v < plan.value.size(); ++v) {
      if (plan.value[v].where != placement::slot) continue;
      bool touched = false;
      for (std::size_t u = s.first; u < s.first + s.count; ++u) {
        touched = touched || (plan.unit[u].how != form::sink && plan.unit[u].out == v);
        for_each_input(plan.unit[u], [&](std::size_t in) { touched = touched || in == v; });
      }
      if (touched) bytes += plan.slots * plan.value[v].bytes;
    }
  }
  return bytes;
}

namespace detail {

/// The first device of which a plan needs more than it may have; their number where there is none.
template <std::size_t N>
constexpr std::size_t overfull_device(const plan_info<N>& plan, std::span<const device_info> devices) {
  std::size_t d = 0;
  while (d < devices.size() && bytes_kept_on(plan, devices[d].id) <= devices[d].memory_bytes) ++d;
  return d;
}

template <std::size_t N>
constexpr std::size_t worst_unit_on(const plan_info<N>& plan, device_id device) {
  std::size_t worst = plan.units;
  for (std::size_t u = 0; u < plan.units; ++u)
    if (plan.segment[plan.unit[u].segment].device == device &&
        (worst == plan.units || bytes_kept_by(plan, u) > bytes_kept_by(plan, worst)))
      worst = u;
  return worst;
}

template <const auto& Plan, const auto& Devices>
consteval auto device_memory_mistake_of() {
  constexpr std::size_t at = overfull_device(Plan, Devices);
  if constexpr (at == std::size(Devices)) {
    return no_mistake{};
  } else {
    constexpr const device_info& device = Devices[at];
    constexpr std::size_t worst = worst_unit_on(Plan, device.id);
    constexpr auto name = written_fixed_string<[](auto& into) { append_device(into, device.id); }>();
    constexpr auto stage =
        written_fixed_string<[](auto& into) { into += Plan.graph.nodes[Plan.unit[worst].first].name; }>();
    return plan_needs_more_of_the_memory_of_a_device_than_its_bound<
        name, needs_bytes<bytes_kept_on(Plan, device.id)>, allows_bytes<device.memory_bytes>, slots<Plan.slots>,
        most_bytes_at<stage, bytes_kept_by(Plan, worst)>>{};
  }
}

}  // namespace detail

/// The mistake of a plan that keeps more on a device than it may, or `no_mistake`.
template <const auto& Plan, const auto& Devices>
using device_memory_mistake = decltype(detail::device_memory_mistake_of<Plan, Devices>());

}  // namespace levada
