// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/plan.hpp: from a partition to the constexpr answer: units and segments, how many items are in flight, and
// the memory of all values.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <levada/core/detail/device.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/branches.hpp>
#include <levada/plan/detail/candidate.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/plan/detail/division.hpp>
#include <levada/plan/detail/partition.hpp>
#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/region_runs.hpp>
#include <levada/plan/detail/sharing.hpp>
#include <levada/plan/detail/value_layout.hpp>
#include <levada/plan/detail/value_places.hpp>

namespace levada {
namespace detail {
/// In place of a number of slots: what suits the items, and what suits those that may hold more than their own bytes.
inline constexpr std::size_t suitable_slots = 0, slots_for_owners = ~std::size_t{0};
}  // namespace detail

/// What a deployment asks for besides its target.
struct plan_request {
  std::size_t slots = detail::usual_slots;  ///< or as many as suit the items: `suitable_slots`, `slots_for_owners`
  std::span<const cost> prices{};           ///< of the units: without them none runs beside another, nor in parts
  bool has_workers = true;                  ///< false: all runs on one thread, whatever the processor has
  std::span<const transfer_cost> transfer_costs{};  ///< of static storage, as far as the partition was chosen by them
};

namespace detail {

inline constexpr std::size_t largest_grain = 16;
inline constexpr std::size_t most_slots = 256;
/// What the items in flight take at most where nobody says how many they are.
inline constexpr std::size_t usual_bytes_in_flight = std::size_t{16} << 20;
/// More grains in flight than this make workers wait for each other's tickets (measured: 0.2 times the speed without a
/// cap).
inline constexpr std::size_t grains_in_flight = 12;

/// The items go through a feedback one after the other, each through all of it.
template <std::size_t N>
constexpr void connect_loops(plan_info<N>& plan) {
  std::array<std::size_t, N> heads{};
  std::size_t depth = 0;
  for (std::size_t u = 0; u < plan.units; ++u) {
    planned_unit& unit = plan.unit[u];
    unit.state_of = u;
    unit.in_loop = depth != 0;
    if (border_at(plan, u) == loop_border::begins) heads[depth++] = u;
    if (border_at(plan, u) == loop_border::ends) unit.state_of = heads[--depth];
  }
}

template <std::size_t N>
constexpr void connect_units(plan_info<N>& plan, const partition<N>& parts, std::span<const candidate> candidates) {
  const graph_info<N>& graph = plan.graph;
  for (const partition_unit& p : parts) {
    if (p.starts_segment) plan.segment.push_back({p.device, plan.unit.size(), 0});
    planned_unit u;
    u.first = p.first;
    u.count = p.count;
    u.backend = p.backend;
    u.candidate = p.candidate;
    if (p.candidate != partition_unit::callable) {
      u.scratch_bytes = candidates[p.candidate].scratch_bytes;
      u.weight_bytes = candidates[p.candidate].weight_bytes;
      u.method = candidates[p.candidate].method;
    }
    u.segment = plan.segment.size() - 1;
    const node_info& first = graph.nodes[p.first];
    const node_info& last = graph.nodes[p.first + p.count - 1];
    u.how = first.how;
    u.order = first.order;
    const auto inputs = inputs_of_run(graph, p.first, p.count);
    u.in = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i) u.more.push_back(inputs[i]);
    u.out = last.out;
    plan.unit.push_back(u);
    ++plan.segment.back().count;
  }
  plan.units = plan.unit.size();
  connect_loops(plan);
  if (plan.nodes == 0) plan.segment.push_back({device_id{device_kind::cpu}, 0, 0});  // items pass by, between two rates
  plan.segments = plan.segment.size();
}

/// How many items are at work at once in the segments of the processor, and whose values might lie in slots.
template <std::size_t N>
constexpr void choose_grains(plan_info<N>& plan, std::span<const device_info> devices) {
  for (planned_segment& s : plan.segment) {
    if (s.device.kind != device_kind::cpu) {
      s.grains = static_cast<std::size_t>(count_of(s.device));  // each of equal devices works on one item
      continue;
    }
    const device_info device = device_of(s, devices);
    const std::size_t live = std::max<std::size_t>(1, live_bytes(plan, s.first, s.first + s.count));
    s.grain = std::max<std::size_t>(1, std::min({largest_grain, device.l2_bytes / 2 / live, plan.slots / 8}));
    s.grains = std::min(plan.slots, std::max(grains_in_flight, 2 * static_cast<std::size_t>(device.max_threads)));
    // A scratchpad that is used by one item after the other stays in the cache, if it fits in there.
    s.in_slots = s.grain == 1 && s.grains >= plan.slots && live >= device.l2_bytes / 2;
  }
}

/// The memory of all values: scratchpads, which stay in the cache; slots instead only where that saves much.
template <std::size_t N>
constexpr void choose_memory(plan_info<N>& plan, std::span<const device_info> devices) {
  bool few_slots = false;
  for (const planned_segment& s : plan.segment) few_slots = few_slots || s.in_slots;
  if (!few_slots) return lay_out_plan(plan, devices);
  plan_info<N> in_slots = plan;
  for (planned_segment& s : plan.segment) s.in_slots = false;
  lay_out_plan(in_slots, devices);
  lay_out_plan(plan, devices);
  if (11 * arena_size(in_slots) < 10 * arena_size(plan)) plan = in_slots;
}

template <std::size_t N>
constexpr bool uses_devices(const plan_info<N>& plan) {
  for (const planned_segment& s : plan.segment)
    if (s.device.kind != device_kind::cpu) return true;
  return false;
}

template <std::size_t N>
constexpr bool runs_branches_at_once(const plan_info<N>& plan) {
  for (const planned_fork& fork : plan.fork)
    if (fork.order == branch_order::at_once) return true;
  return false;
}

/// Where nobody says how many items are in flight: more of them where all their slots stay in half of a first-level
/// cache, since threads then come to the ends of the ring less often, and devices have no memory for them.
template <std::size_t N>
constexpr void lengthen_ring(plan_info<N>& plan, std::span<const device_info> devices) {
  std::size_t cache = 0;
  for (const device_info& d : devices)
    if (d.id.kind == device_kind::cpu) cache = d.l1_bytes / 2;
  if (uses_devices(plan) || most_slots * plan.slot_bytes > cache) return;
  const std::size_t more_bytes = (most_slots - plan.slots) * plan.slot_bytes;
  plan.slots = most_slots;
  plan.slots_by = slot_bound::cache;
  plan.bytes_in_flight += more_bytes;
  plan.bytes_total += more_bytes;
}

/// What one more item in flight takes: a slot, and the scratchpads that each slot has on devices of their own.
template <std::size_t N>
constexpr std::size_t bytes_with_a_slot(const plan_info<N>& plan) {
  std::size_t bytes = plan.slot_bytes;
  for (const planned_segment& s : plan.segment)
    if (s.device.kind == device_kind::vulkan) bytes += s.scratch_bytes();
  return bytes;
}

/// A plan of that many slots, but for where values lie. What follows is done in steps, since a compiler bounds the
/// operations of one constant.
template <std::size_t N>
constexpr plan_info<N> plan_without_places(const graph_info<N>& graph, const partition<N>& parts,
                                           const plan_request& request, std::size_t slots,
                                           std::span<const device_info> devices, std::span<const candidate> candidates,
                                           std::span<const backend_info> backends) {
  plan_info<N> plan;
  plan.graph = graph;
  plan.nodes = graph.nodes.size();
  plan.slots = slots;
  plan.has_result = !graph.ends_in_sink;
  plan.transfer_costs = request.transfer_costs;
  for (const backend_info& b : backends) plan.backend.push_back(b);
  for (const device_info& d : devices)
    if (d.id.kind == device_kind::cpu) plan.threads = d.max_threads;

  if (covered_nodes(parts) != plan.nodes) return plan;
  connect_units(plan, parts, candidates);
  if (request.prices.size() == plan.units) {
    branch_finder<plan_info<N>, N>(plan, request.prices, request.has_workers).find();
    if (request.has_workers) divide_units(plan, request.prices, candidates);
  }
  find_lifetimes(plan);
  choose_grains(plan, devices);
  return plan;
}

/// Some unit joins values in one buffer, which it has from the first of them on: not where one is made long before.
template <std::size_t N>
constexpr bool joins_values(const plan_info<N>& plan) {
  for (std::size_t u = 0; u < plan.units; ++u)
    if (reuse_of(plan, u) == reuse::joins) return true;
  return false;
}

/// The places of all values, with or without values that are made where they are joined.
template <std::size_t N>
constexpr plan_info<N> with_places(plan_info<N> plan, bool join, std::span<const device_info> devices) {
  if (plan.units == 0 && plan.nodes != 0) return plan;  // the partition does not cover the graph
  buffer_sharing<plan_info<N>, N + 1>(plan).share(join);
  choose_memory(plan, devices);
  return plan;
}

/// A plan of that many slots.
template <std::size_t N>
constexpr plan_info<N> plan_with_slots(const graph_info<N>& graph, const partition<N>& parts,
                                       const plan_request& request, std::size_t slots,
                                       std::span<const device_info> devices, std::span<const candidate> candidates,
                                       std::span<const backend_info> backends) {
  const plan_info<N> begun = plan_without_places(graph, parts, request, slots, devices, candidates, backends);
  plan_info<N> plan = with_places(begun, false, devices);
  if (joins_values(begun))
    if (const plan_info<N> joined = with_places(begun, true, devices); joined.bytes_total <= plan.bytes_total)
      plan = joined;
  return plan;
}

/// How many slots a plan should have instead of those that it has; 0 where they suit.
template <std::size_t N>
constexpr std::size_t fewer_slots(const plan_info<N>& plan) {
  const std::size_t fewest =
      std::min(usual_slots, std::max({std::size_t{4}, 2 * static_cast<std::size_t>(plan.threads), 2 * plan.segments}));
  const std::size_t bytes = bytes_with_a_slot(plan);
  if (plan.segments == 0 || plan.slots <= fewest || plan.slots * bytes <= usual_bytes_in_flight) return 0;
  return std::max(fewest, usual_bytes_in_flight / bytes);
}

/// Why a plan whose number of slots was left to it has them: the usual number, or what `fewer_slots` of the plan before
/// it found.
template <std::size_t N>
constexpr plan_info<N> with_suitable_slots(plan_info<N> plan, std::size_t bytes_before, std::size_t wanted,
                                           std::span<const device_info> devices) {
  if (bytes_before == 0)
    plan.slots_by = slot_bound::usual;
  else
    plan.slots_by = usual_bytes_in_flight / bytes_before < plan.slots ? slot_bound::fewest : slot_bound::bytes;
  if (plan.segments != 0 && plan.slots_by == slot_bound::usual && wanted == suitable_slots)
    lengthen_ring(plan, devices);
  return plan;
}

}  // namespace detail

/// The plan that follows from a partition; one without units where the partition does not cover the graph.
template <std::size_t N>
constexpr plan_info<N> make_plan(const graph_info<N>& graph, const partition<N>& parts, const plan_request& request,
                                 std::span<const device_info> devices, std::span<const candidate> candidates,
                                 std::span<const backend_info> backends) {
  const auto with_slots = [&](std::size_t slots) {
    return detail::plan_with_slots(graph, parts, request, slots, devices, candidates, backends);
  };
  if (request.slots != detail::suitable_slots && request.slots != detail::slots_for_owners)
    return with_slots(request.slots);
  plan_info<N> plan = with_slots(detail::usual_slots);
  // With fewer slots the places of values may be others, and a slot larger.
  std::size_t bytes_before = 0;
  while (const std::size_t fewer = detail::fewer_slots(plan)) {
    bytes_before = detail::bytes_with_a_slot(plan);
    plan = with_slots(fewer);
  }
  return detail::with_suitable_slots(plan, bytes_before, request.slots, devices);
}

}  // namespace levada
