// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/value_layout.hpp: where each value of a plan lies in its slot or scratchpad, and the bytes that this
// makes.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/device.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/branches.hpp>
#include <levada/plan/detail/candidate.hpp>
#include <levada/plan/detail/memory.hpp>
#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/value_places.hpp>

namespace levada::detail {

inline constexpr std::size_t cache_line = 64;  // what plan_info::alignment is at least

/// Buffers of at least a cache line start on one.
constexpr std::size_t buffer_alignment(const planned_value& v) {
  return std::max(v.alignment, v.bytes >= cache_line ? cache_line : std::size_t{1});
}

/// The values that the nodes of a segment give, which stand in a row: the first, and the one behind the last.
template <std::size_t N>
constexpr std::pair<std::size_t, std::size_t> values_made_by(const plan_info<N>& plan, const planned_segment& s) {
  std::size_t first = plan.value.size(), behind = 0;
  if (s.count == 0) return {first, behind};
  const planned_unit& last = plan.unit[s.first + s.count - 1];
  for (std::size_t n = plan.unit[s.first].first; n < last.first + last.count; ++n) {
    if (plan.graph.nodes[n].how == form::sink) continue;
    first = std::min(first, plan.graph.nodes[n].out);
    behind = plan.graph.nodes[n].out + 1;
  }
  return {first, behind};
}

/// Offsets of the buffers at one place among the given values; the bytes they take.
template <std::size_t N>
constexpr std::size_t lay_out_values(plan_info<N>& plan, placement where, std::size_t first_value, std::size_t behind) {
  bounded<buffer_lifetime, N + 1> buffers;
  bounded<std::size_t, N + 1> owners;
  for (std::size_t v = first_value; v < behind; ++v) {
    const planned_value& value = plan.value[v];
    if (value.storage != v || value.where != where) continue;
    buffers.push_back({value.bytes, buffer_alignment(value), value.first, value.last, value.branch});
    owners.push_back(v);
  }
  if (owners.empty()) return 0;
  std::optional<memory_layout<N + 1>> layout = from_both_ends(buffers);
  if (!layout) {
    // Padded sizes fit both ends of a line always; without them a long line would be searched for a few bytes.
    for (buffer_lifetime& b : buffers) b.bytes = aligned(b.bytes, b.alignment);
    layout = lay_out(buffers);
  }
  for (std::size_t i = 0; i < owners.size(); ++i) plan.value[owners[i]].offset = layout->offset[i];
  return aligned(layout->bytes, plan.alignment);
}

/// Where each kernel of a segment has its scratch; the bytes of all. One runs after the other, but those of branches.
template <std::size_t N>
constexpr std::size_t lay_out_scratch(plan_info<N>& plan, const planned_segment& s) {
  std::size_t most = 0;
  for (std::size_t u = s.first; u < s.first + s.count;) {
    if (!plan.unit[u].branch) {
      most = std::max(most, plan.unit[u++].scratch_bytes);
      continue;
    }
    const planned_fork& fork = plan.fork[plan.unit[u].branch.fork];
    std::size_t offset = 0;
    for (std::size_t b = 0; b < fork.branches; ++b) {
      std::size_t bytes = 0;
      for (std::size_t i = fork.first; i < fork.first + fork.count; ++i) {
        if (plan.unit[i].branch.branch != b) continue;
        plan.unit[i].scratch_offset = offset;
        bytes = std::max(bytes, plan.unit[i].scratch_bytes);
      }
      offset += aligned(bytes, plan.alignment);
    }
    most = std::max(most, offset);
    u = fork.first + fork.count;
  }
  return most;
}

/// The places and offsets of all values, and the bytes that this makes.
template <std::size_t N>
constexpr void lay_out_plan(plan_info<N>& plan, std::span<const device_info> devices) {
  const graph_info<N>& graph = plan.graph;
  place_values(plan, devices);
  for (const planned_value& v : plan.value) plan.alignment = std::max(plan.alignment, v.alignment);

  plan.alignment = std::max(plan.alignment, graph.side_alignment);
  plan.side_offset = aligned(lay_out_values(plan, placement::slot, 0, plan.value.size()), graph.side_alignment);
  plan.slot_bytes =
      graph.side_bytes == 0 ? plan.side_offset : aligned(plan.side_offset + graph.side_bytes, plan.alignment);
  for (planned_segment& s : plan.segment) {
    // Those that fused kernels keep inside are nowhere.
    const auto [first, behind] = values_made_by(plan, s);
    s.item_bytes = lay_out_values(plan, placement::item, first, behind);
    s.kernel_offset = lay_out_values(plan, placement::grain, first, behind);
    for (std::size_t u = s.first; u < s.first + s.count; ++u) plan.bytes_weights += plan.unit[u].weight_bytes;
    s.shared_bytes = s.kernel_offset + aligned(lay_out_scratch(plan, s), plan.alignment);
    plan.bytes_scratch += s.grains * s.scratch_bytes();
  }
  for (planned_value& v : plan.value) {
    v.offset = plan.value[v.storage].offset + v.within;
    if (v.where != placement::none) v.where = plan.value[v.storage].where;
  }
  plan.bytes_scratch += static_cast<std::size_t>(plan.threads - 1) * aligned(plan.part_bytes, plan.alignment);
  plan.bytes_in_flight = plan.slots * plan.slot_bytes;
  plan.bytes_total = plan.bytes_in_flight + plan.bytes_scratch + plan.bytes_weights;
}

}  // namespace levada::detail
