// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/budget.hpp: which stage to look at when a plan needs more memory than it may.

#include <algorithm>
#include <cstddef>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/plan/detail/plan_info.hpp>

namespace levada {

// What a sentence about memory counts.
template <std::size_t Bytes>
struct needs_bytes {};
template <std::size_t Bytes>
struct allows_bytes {};
template <std::size_t Bytes>
struct bytes_of_a_slot {};
/// With so many, `slots<N>`, it would not be too much; 0: all the rest is too much already.
template <std::size_t Count>
struct slots_that_fit {};
template <fixed_string Stage, std::size_t Bytes>
struct most_bytes_at {};

/// Bytes of the whole plan and bytes allowed; the items in flight, which take most of them as a rule; and the stage
/// that takes most with its part.
template <class Needed, class Allowed, class Slots, class SlotBytes, class SlotsThatFit, class WorstStage>
struct plan_needs_more_memory_than_its_budget : detail::mistake {};

/// All bytes that a unit has a part in: the buffers it takes and gives, in all slots and scratchpads, its kernels'
/// scratch, its weights. A buffer is counted for both of its ends, so these do not add up to the plan's total.
template <std::size_t N>
constexpr std::size_t bytes_of_unit(const plan_info<N>& plan, std::size_t unit) {
  const planned_unit& u = plan.unit[unit];
  const planned_segment& s = plan.segment[u.segment];
  const auto buffer = [&](std::size_t v) {
    const planned_value& value = plan.value[v];
    const std::size_t copies = value.where == placement::slot    ? plan.slots
                               : value.where == placement::item  ? s.grains * s.grain
                               : value.where == placement::grain ? s.grains
                                                                 : 0;
    return copies * value.bytes;
  };
  const bool gives_another = plan.value[u.in].storage != plan.value[u.out].storage;
  std::size_t taken = 0;
  for_each_input(u, [&](std::size_t v) { taken += buffer(v); });
  return taken + (gives_another ? buffer(u.out) : 0) + s.grains * u.scratch_bytes + u.weight_bytes;
}

/// The unit that has a part in most bytes, the first of equals.
template <std::size_t N>
constexpr std::size_t worst_unit(const plan_info<N>& plan) {
  std::size_t worst = 0;
  for (std::size_t u = 1; u < plan.units; ++u)
    if (bytes_of_unit(plan, u) > bytes_of_unit(plan, worst)) worst = u;
  return worst;
}

/// With how many slots a plan takes `allowed` bytes at most, as it is otherwise.
template <std::size_t N>
constexpr std::size_t slots_within(const plan_info<N>& plan, std::size_t allowed) {
  std::size_t slots = plan.slots;
  const auto bytes = [&] {
    std::size_t sum = plan.bytes_weights + slots * plan.slot_bytes;
    for (const planned_segment& s : plan.segment) sum += std::min(s.grains, slots) * s.scratch_bytes();
    return sum;
  };
  while (slots > 0 && bytes() > allowed) --slots;
  return slots;
}

namespace detail {

template <const auto& Plan, std::size_t Allowed>
consteval auto memory_mistake_of() {
  if constexpr (Plan.bytes_total <= Allowed)
    return no_mistake{};
  else {
    constexpr std::size_t worst = worst_unit(Plan);
    constexpr std::string_view name = Plan.graph.nodes[Plan.unit[worst].first].name;
    return plan_needs_more_memory_than_its_budget<
        needs_bytes<Plan.bytes_total>, allows_bytes<Allowed>, slots<Plan.slots>, bytes_of_a_slot<Plan.slot_bytes>,
        slots_that_fit<slots_within(Plan, Allowed)>,
        most_bytes_at<as_fixed_string<name.size()>(name), bytes_of_unit(Plan, worst)>>{};
  }
}

}  // namespace detail

/// The mistake of a plan that needs more than `Allowed` bytes, or `no_mistake`.
template <const auto& Plan, std::size_t Allowed>
using memory_mistake = decltype(detail::memory_mistake_of<Plan, Allowed>());

}  // namespace levada
