// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/value_places.hpp: how long each value of a plan lives, and in which kind of memory: the slot of its item,
// or the scratchpad of a grain.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <levada/core/detail/device.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/branches.hpp>
#include <levada/plan/detail/candidate.hpp>
#include <levada/plan/detail/hand_over.hpp>
#include <levada/plan/detail/plan_info.hpp>

namespace levada::detail {

/// What no Vulkan device may exceed in asking for the alignment of a storage buffer's offset.
inline constexpr std::size_t device_buffer_alignment = 256;

template <std::size_t N>
constexpr loop_border border_at(const plan_info<N>& plan, std::size_t unit) {
  return plan.graph.nodes[plan.unit[unit].first].border;
}

/// Lifetimes in steps.
template <std::size_t N>
constexpr void find_lifetimes(plan_info<N>& plan) {
  const graph_info<N>& graph = plan.graph;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    planned_value value;
    value.bytes = graph.values[v].bytes;
    value.alignment = graph.values[v].alignment;
    value.storage = v;
    plan.value.push_back(value);
  }
  plan.value[0].where = placement::slot;
  for (std::size_t u = 0; u < plan.units; ++u) {
    const planned_unit& unit = plan.unit[u];
    for_each_input(unit, [&](std::size_t v) { plan.value[v].last = u + 1; });
    if (unit.how == form::sink) continue;
    planned_value& out = plan.value[unit.out];
    out.first = out.last = u + 1;
    out.where = placement::item;
  }
  if (plan.has_result) {
    planned_value& result = plan.value[graph.result];
    result.last = plan.units + 1;
    result.where = placement::slot;
  }
  for (std::size_t v = graph.values.size(); v-- > 0;) {
    if (!is_part_value(graph.values[v])) continue;
    planned_value &part = plan.value[v], &whole = plan.value[graph.values[v].part_of];
    if (is_port_value(graph, v)) {
      part.first = whole.first;
      part.where = whole.where;
      whole.last = std::max(whole.last, part.last);
    } else {
      whole.first = whole.first == 0 ? part.first : std::min(whole.first, part.first);
      part.last = whole.last;
      part.where = placement::slot;
    }
  }
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (!is_part_value(graph.values[v])) continue;
    const planned_value& whole = plan.value[graph.values[v].part_of];
    plan.value[v].storage = whole.storage;
    plan.value[v].within = whole.within + graph.values[v].part_offset;
  }
}

/// The most bytes that one item keeps alive at a step of a run of units: what a unit takes and what it gives.
template <std::size_t N>
constexpr std::size_t live_bytes(const plan_info<N>& plan, std::size_t first_unit, std::size_t behind) {
  std::size_t most = 0;
  for (std::size_t u = first_unit; u < behind; ++u) {
    const planned_unit& unit = plan.unit[u];
    const bool gives_another = unit.how != form::sink && unit.how != form::in_place;
    std::size_t live = gives_another ? plan.value[unit.out].bytes : 0;
    for_each_input(unit, [&](std::size_t v) { live += plan.value[v].bytes; });
    most = std::max(most, live);
  }
  return most;
}

constexpr device_info device_of(const planned_segment& s, std::span<const device_info> devices) {
  for (const device_info& d : devices)
    if (d.id == s.device) return d;
  return {};
}

/// Branches of an item that run at once have no step in common with which to tell what is alive.
///
/// A buffer that begins in one of them is kept from those of the others by its name; one in which several write is
/// alive from the first unit of all to the last, and so to the end is one that was there before.
template <std::size_t N>
constexpr void keep_branches_apart(plan_info<N>& plan) {
  for (const planned_fork& fork : plan.fork) {
    if (fork.order != branch_order::at_once) return;  // and none behind it
    const std::size_t first_step = fork.first + 1, last_step = fork.first + fork.count;
    std::array<bool, N + 1> has_several{};
    for (std::size_t u = fork.first; u < last_step; ++u) {
      if (plan.unit[u].how == form::sink) continue;
      const std::size_t v = plan.value[plan.unit[u].out].storage;
      planned_value& buffer = plan.value[v];
      if (buffer.first < first_step) continue;
      has_several[v] = has_several[v] || run_at_once(buffer.branch, plan.unit[u].branch);
      buffer.branch = plan.unit[u].branch;
    }
    for (std::size_t v = 0; v < plan.value.size(); ++v) {
      planned_value& buffer = plan.value[v];
      if (has_several[v]) {
        buffer.branch = {};
        buffer.first = first_step;
        buffer.last = std::max(buffer.last, last_step);
      } else if (buffer.first < first_step && buffer.last >= first_step) {
        buffer.last = std::max(buffer.last, last_step);
      }
    }
  }
}

/// Groups and the place of each value; then a buffer is where any of the values sharing it has to be.
template <std::size_t N>
constexpr void place_values(plan_info<N>& plan, std::span<const device_info> devices) {
  for (planned_segment& s : plan.segment) {
    const device_info device = device_of(s, devices);
    const std::size_t end = s.first + s.count;
    // Where a fork ends a group and items come one by one, two kinds of places would only be two arenas.
    bool forks = false;
    for (std::size_t u = s.first; u < end; ++u) forks = forks || plan.unit[u].branch;
    const bool shares_places = s.grain > 1 || !forks;
    if (s.device.kind == device_kind::vulkan) {
      s.grains = plan.slots;  // items do not wait for each other's memory
      choose_hand_over(plan, s);
      for (std::size_t u = s.first; u + 1 < end; ++u)
        plan.value[plan.unit[u].out].alignment =
            std::max(plan.value[plan.unit[u].out].alignment, device_buffer_alignment);
    }
    for (std::size_t u = s.first; u < end;) {
      std::size_t behind = u + 1;
      const auto goes_on = [&] {
        return plan.unit[behind].order == concurrency::parallel &&
               plan.unit[behind].branch.fork == plan.unit[u].branch.fork;
      };
      if (plan.unit[u].order == concurrency::parallel)
        while (behind < end && goes_on()) ++behind;
      const bool loops = border_at(plan, u) == loop_border::begins;
      while (loops && behind < end && plan.unit[behind].in_loop) ++behind;
      const bool by_item = loops || (s.device.kind != device_kind::vulkan && behind - u > 1 &&
                                     s.grain * live_bytes(plan, u, behind) > device.l1_bytes / 2);
      for (; u < behind; ++u) {
        plan.unit[u].group_end = behind;
        plan.unit[u].item_by_item = by_item;
        planned_value& out = plan.value[plan.unit[u].out];
        const bool makes = plan.unit[u].how != form::sink && out.where == placement::item;
        if (makes && s.in_slots)
          out.where = placement::slot;
        else if (by_item && shares_places && makes && u + 1 < behind && out.last <= behind)
          out.where = placement::grain;
      }
    }
    // What crosses a border.
    for (std::size_t u = s.first; u < end; ++u)
      for_each_input(plan.unit[u], [&](std::size_t v) {
        if (plan.value[v].first <= s.first) plan.value[v].where = placement::slot;
      });
  }
  choose_kept(plan);
  // A shared buffer is alive from its first value to its last, in the widest of their places.
  for (std::size_t v = 0; v < plan.value.size(); ++v) {
    planned_value& value = plan.value[v];
    planned_value& owner = plan.value[value.storage];
    if (value.storage == v || value.where == placement::none) continue;
    owner.first = std::min(owner.first, value.first);
    owner.last = std::max(owner.last, value.last);
    owner.where = std::min(owner.where, value.where);
  }
  keep_branches_apart(plan);
}

}  // namespace levada::detail
