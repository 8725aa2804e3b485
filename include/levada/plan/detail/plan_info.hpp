// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/plan_info.hpp: the plan of a pipeline as values: units, segments, and every buffer with its place, offset
// and lifetime. plan/detail/plan.hpp makes it.

#include <cstddef>
#include <cstdint>
#include <span>

#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/device.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/branches.hpp>
#include <levada/plan/detail/candidate.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/plan/detail/hand_over.hpp>
#include <levada/plan/detail/partition.hpp>

namespace levada {

/// Where the memory of a value is.
enum class placement : std::uint8_t {
  none,  ///< nowhere: inside a fused kernel
  slot,  ///< one for each item in flight: crosses a segment border, enters or leaves the pipeline
  item,  ///< in the scratchpad of a grain, one for each of its items
  grain  ///< in the scratchpad of a grain, one for all of its items in turn
};

/// A value and its buffer.
struct planned_value {
  placement where = placement::none;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  std::size_t first = 0;    ///< the step that gives it: 0 for the input, u + 1 for unit u
  std::size_t last = 0;     ///< the last step that takes it
  std::size_t storage = 0;  ///< the value whose buffer it uses: its own, or that of another: plan/detail/sharing.hpp
  std::size_t within = 0;   ///< where it lies there
  branch_place branch{};    ///< of a buffer: the branch that has it first, where others run at once
};

/// What runs as one.
struct planned_unit {
  std::size_t first = 0, count = 1;  ///< its nodes
  std::size_t backend = partition_unit::callable;
  std::size_t candidate = partition_unit::callable;
  std::size_t segment = 0;
  concurrency order = concurrency::parallel;
  form how = form::map;
  std::size_t in = 0, out = 0;  ///< the values it takes and gives
  more_inputs more;             ///< that it takes besides
  std::size_t group_end = 0;    ///< the unit behind the last of its group
  bool item_by_item = false;    ///< its group runs over the items one by one, else unit by unit
  bool in_loop = false;         ///< inside a feedback, whose first unit admits the items to all of it
  std::size_t state_of = 0;     ///< the unit whose state it uses: its own, or at the end of a feedback that at its head
  std::size_t scratch_bytes = 0;   ///< that its kernel wants while it runs
  std::size_t scratch_offset = 0;  ///< where in the kernels' scratch: branches that run at once have their own
  std::size_t weight_bytes = 0;    ///< that its kernel's packed parameters take
  std::string_view method{};       ///< how its kernel computes, where its backend has several ways
  branch_place branch{};           ///< where it runs beside others of its item
  std::size_t parts = 1;           ///< in which idle threads compute a lone item: plan/detail/division.hpp
};

/// What one flow-graph node runs.
struct planned_segment {
  device_id device{};
  std::size_t first = 0, count = 0;  ///< its units
  std::size_t grain = 1;             ///< items that one scheduling step takes, at most
  std::size_t grains = 1;            ///< grains in flight, at most
  bool in_slots = false;  ///< as many large items at work as slots: their values lie there, and not in the scratchpad
  std::size_t item_bytes = 0;     ///< of the scratchpad, for each item of a grain
  std::size_t shared_bytes = 0;   ///< of the scratchpad, once for a grain: its `grain` values and the kernels' scratch
  std::size_t kernel_offset = 0;  ///< where in the shared part the kernels' scratch begins
  hand_over takes = hand_over::none;
  std::size_t takes_from = 0;  ///< the segment that gives it directly
  bool keeps = false;          ///< what it gives is taken directly, and by nobody else
  constexpr std::size_t scratch_bytes() const { return grain * item_bytes + shared_bytes; }
};

/// What the number of slots comes from.
enum class slot_bound : std::uint8_t {
  stated,  ///< an option, or a plan that was saved
  usual,   ///< 64
  cache,   ///< 256 of small items, which take half of a first-level cache at most
  bytes,   ///< of large items as many as take 16 MiB
  fewest   ///< of those that are larger still as many as keep the threads and the segments busy
};

/// The plan of a pipeline with at most `N` nodes.
template <std::size_t N>
struct plan_info {
  graph_info<N> graph;
  bounded<planned_unit, N> unit;
  bounded<planned_segment, N> segment;
  bounded<planned_value, N + 1> value;
  bounded<planned_fork, N> fork;  ///< those that run at once first
  bounded<backend_info, 8> backend;
  std::span<const transfer_cost> transfer_costs{};  ///< those that the partition was chosen by, of static storage

  std::size_t nodes = 0, units = 0, segments = 0;
  std::size_t slots = 0;
  slot_bound slots_by = slot_bound::stated;
  std::size_t slot_bytes = 0;       ///< of one slot
  std::size_t part_bytes = 0;       ///< of a kernel's scratch, for each part of an item but the first
  std::size_t side_offset = 0;      ///< of the data attached to the item, in its slot
  std::size_t alignment = 64;       ///< of slots, scratchpads, and the parts of these
  std::size_t bytes_in_flight = 0;  ///< slots
  std::size_t bytes_scratch = 0;    ///< the scratchpads of all grains in flight, and what the parts of one item need
  std::size_t bytes_weights = 0;    ///< packed parameters
  std::size_t bytes_total = 0;      ///< all of these
  bool has_result = true;           ///< false behind a sink
  int threads = 1;                  ///< at most, on the processor
};

/// What the values of one item take, input and result included: in its slot, and in the scratchpad of each segment.
/// Kernels' own scratch is not among them.
template <std::size_t N>
constexpr std::size_t arena_size(const plan_info<N>& plan) {
  std::size_t bytes = plan.side_offset;
  for (const planned_segment& s : plan.segment) bytes += s.item_bytes + s.kernel_offset;
  return bytes;
}

}  // namespace levada
