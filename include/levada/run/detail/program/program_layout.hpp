// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/program_layout.hpp: the part of a plan that the run time needs, as one constant.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <levada/plan/detail/plan.hpp>
#include <levada/plan/detail/transfers.hpp>

namespace levada::detail {

/// The part of a plan that the run time needs, as small numbers: a constant of some bytes a unit, where a whole plan
/// would become thousands of store instructions in the function that deploys.
struct program_layout {
  struct unit {
    std::uint16_t in, out, group_end, segment;
    more_inputs more;
    form how;
    concurrency order;
    bool item_by_item;
    std::uint16_t stage;
    std::uint16_t state_of;
    std::uint32_t scratch_offset;
    branch_place branch;
    bool in_divided_fork;
  };
  struct value {
    std::uint64_t offset, within, copied_bytes;
    std::uint16_t storage, part_of;  ///< `part_of`: itself where it is no part
    std::uint16_t made_in;           ///< `segment_count`: it comes in
    placement where;
    bool by_address, reaches_host;
  };
  struct segment {
    std::uint64_t item_bytes, scratch_bytes, kernel_offset;
    std::uint32_t grain, grains;
    std::uint16_t first, end;
    device_id device;
    std::uint16_t takes_from;  ///< itself: none
    bool keeps;
  };

  std::uint64_t slots, slot_bytes, side_offset, part_bytes;
  std::uint32_t alignment;
  std::uint16_t unit_count, value_count, segment_count;
  std::uint16_t stage_count, fork_count;
  std::uint16_t result;
  bool has_result, has_source;
};

/// The arrays of a layout.
struct layout_arrays {
  const program_layout::unit* units;
  const program_layout::value* values;
  const program_layout::segment* segments;
  const std::string_view* names;  ///< of the ops

  /// The unit changes its item where it is.
  bool keeps_place(std::size_t u) const {
    return units[u].how == form::in_place && values[units[u].in].storage == values[units[u].out].storage;
  }
};

template <std::size_t N>
struct layout_of_units : program_layout {
  unit units[N];
  value values[N + 1];
  segment segments[N];
  std::string_view names[N];

  layout_arrays arrays() const { return {units, values, segments, names}; }
};

/// Which values devices have in their memories, where they are made and whether they come back.
template <std::size_t N>
constexpr void note_copies(const plan_info<N>& plan, program_layout::value* values) {
  const value_ways<N> ways(plan);
  for (std::size_t v = 0; v < plan.value.size(); ++v) {
    if (ways.moves_as_bytes(v)) values[v].copied_bytes = plan.graph.values[v].bytes;
    if (ways.made_in(v) == ways.host) continue;
    values[v].made_in = static_cast<std::uint16_t>(ways.made_in(v));
    values[v].reaches_host = !is_port_value(plan.graph, v) && ways.reaches_host(v);
  }
}

template <std::size_t N>
constexpr layout_of_units<N> layout_of(const plan_info<N>& plan) {
  layout_of_units<N> l{};
  const auto small = [](std::size_t n) { return static_cast<std::uint16_t>(n); };
  l.unit_count = small(plan.units);
  l.value_count = small(plan.value.size());
  l.segment_count = small(plan.segments);
  l.stage_count = small(plan.nodes);
  for (const planned_fork& f : plan.fork)
    if (f.order == branch_order::at_once) ++l.fork_count;
  l.result = small(plan.graph.result);
  for (const planned_unit& u : plan.unit)  // a callable's text has its name
    if (u.backend != partition_unit::callable)
      for (std::size_t n = u.first; n < u.first + u.count; ++n) l.names[n] = plan.graph.nodes[n].name;
  l.slots = plan.slots;
  l.slot_bytes = plan.slot_bytes;
  l.side_offset = plan.side_offset;
  l.part_bytes = aligned(plan.part_bytes, plan.alignment);
  l.alignment = static_cast<std::uint32_t>(plan.alignment);
  l.has_result = plan.has_result;
  l.has_source = !plan.graph.source.empty();
  for (std::size_t u = 0; u < plan.units; ++u) {
    const planned_unit& p = plan.unit[u];
    const concurrency admits = p.in_loop ? concurrency::parallel : p.order;  // the head of its feedback does
    l.units[u] = {small(p.in),
                  small(p.out),
                  small(p.group_end),
                  small(p.segment),
                  p.more,
                  p.how,
                  admits,
                  p.item_by_item,
                  small(p.first),
                  small(p.state_of),
                  static_cast<std::uint32_t>(p.scratch_offset),
                  p.branch,
                  p.branch && plan.fork[p.branch.fork].divided};
  }
  for (std::size_t v = 0; v < plan.value.size(); ++v) {
    const planned_value& p = plan.value[v];
    const value_info& of = plan.graph.values[v];
    l.values[v] = {
        p.offset, p.within,      0,    small(p.storage), small(is_part_value(of) ? of.part_of : v), l.segment_count,
        p.where,  of.by_address, false};
  }
  if (uses_devices(plan)) note_copies(plan, l.values);
  for (std::size_t s = 0; s < plan.segments; ++s) {
    const planned_segment& p = plan.segment[s];
    l.segments[s] = {p.item_bytes,
                     p.scratch_bytes(),
                     p.grain * p.item_bytes + p.kernel_offset,
                     static_cast<std::uint32_t>(p.grain),
                     static_cast<std::uint32_t>(p.grains),
                     small(p.first),
                     small(p.first + p.count),
                     p.device,
                     small(p.takes == hand_over::direct ? p.takes_from : s),
                     p.keeps};
  }
  return l;
}

}  // namespace levada::detail
