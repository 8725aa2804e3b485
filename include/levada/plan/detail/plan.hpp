// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/plan.hpp: the constexpr answer. Units, segments, and every buffer with its place, offset and lifetime.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <levada/plan/detail/branches.hpp>
#include <levada/plan/detail/hand_over.hpp>
#include <levada/plan/detail/memory.hpp>
#include <levada/plan/detail/partition.hpp>
#include <levada/plan/detail/sharing.hpp>

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
  branch_place branch{};           ///< where it runs beside others of its item
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

  std::size_t nodes = 0, units = 0, segments = 0;
  std::size_t slots = 0;
  slot_bound slots_by = slot_bound::stated;
  std::size_t slot_bytes = 0;       ///< of one slot
  std::size_t side_offset = 0;      ///< of the data attached to the item, in its slot
  std::size_t alignment = 64;       ///< of slots, scratchpads, and the parts of these
  std::size_t bytes_in_flight = 0;  ///< slots
  std::size_t bytes_scratch = 0;    ///< the scratchpads of all grains in flight
  std::size_t bytes_weights = 0;    ///< packed parameters
  std::size_t bytes_total = 0;      ///< all of these
  bool has_result = true;           ///< false behind a sink
  int threads = 1;                  ///< at most, on the processor
};

namespace detail {
/// In place of a number of slots: what suits the items, and what suits those that may hold more than their own bytes.
inline constexpr std::size_t suitable_slots = 0, slots_for_owners = ~std::size_t{0};
}  // namespace detail

/// What a deployment asks for besides its target.
struct plan_request {
  std::size_t slots = detail::usual_slots;  ///< or as many as suit the items: `suitable_slots`, `slots_for_owners`
  std::span<const cost> prices{};           ///< of the partition's units: without them no branch is run beside another
  bool has_workers = true;                  ///< false: all runs on one thread, whatever the processor has
};

namespace detail {

inline constexpr std::size_t cache_line = 64;  // what plan_info::alignment is at least
inline constexpr std::size_t largest_grain = 16;
inline constexpr std::size_t most_slots = 256;
/// What the items in flight take at most where nobody says how many they are.
inline constexpr std::size_t usual_bytes_in_flight = std::size_t{16} << 20;
/// What no Vulkan device may exceed in asking for the alignment of a storage buffer's offset.
inline constexpr std::size_t device_buffer_alignment = 256;
/// More grains in flight than this make workers wait for each other's tickets (measured: 0.2 times the speed without a
/// cap).
inline constexpr std::size_t grains_in_flight = 12;

/// Buffers of at least a cache line start on one.
constexpr std::size_t buffer_alignment(const planned_value& v) {
  return std::max(v.alignment, v.bytes >= cache_line ? cache_line : std::size_t{1});
}

template <std::size_t N>
constexpr loop_border border_at(const plan_info<N>& plan, std::size_t unit) {
  return plan.graph.nodes[plan.unit[unit].first].border;
}

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
    }
    u.segment = plan.segment.size() - 1;
    const node_info& first = graph.nodes[p.first];
    const node_info& last = graph.nodes[p.first + p.count - 1];
    u.how = first.how;
    u.order = first.order;
    u.in = first.in;
    u.out = last.out;
    u.more = first.more;
    plan.unit.push_back(u);
    ++plan.segment.back().count;
  }
  plan.units = plan.unit.size();
  connect_loops(plan);
  if (plan.nodes == 0) plan.segment.push_back({device_id{device_kind::cpu}, 0, 0});  // items pass by, between two rates
  plan.segments = plan.segment.size();
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

/// Branches of an item that run at once have no step in common with which to tell what is alive. A buffer that begins
/// in one of them is kept from those of the others by its name; one in which several write is alive from the first unit
/// of all to the last, and so to the end is one that was there before.
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
  plan.bytes_in_flight = plan.slots * plan.slot_bytes;
  plan.bytes_total = plan.bytes_in_flight + plan.bytes_scratch + plan.bytes_weights;
}

}  // namespace detail

/// What the values of one item take, input and result included: in its slot, and in the scratchpad of each segment.
/// Kernels' own scratch is not among them.
template <std::size_t N>
constexpr std::size_t arena_size(const plan_info<N>& plan) {
  std::size_t bytes = plan.side_offset;
  for (const planned_segment& s : plan.segment) bytes += s.item_bytes + s.kernel_offset;
  return bytes;
}

namespace detail {

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

/// A plan of that many slots.
template <std::size_t N>
constexpr plan_info<N> plan_with_slots(const graph_info<N>& graph, const partition<N>& parts,
                                       const plan_request& request, std::size_t slots,
                                       std::span<const device_info> devices, std::span<const candidate> candidates,
                                       std::span<const backend_info> backends) {
  plan_info<N> plan;
  plan.graph = graph;
  plan.nodes = graph.nodes.size();
  plan.slots = slots;
  plan.has_result = !graph.ends_in_sink;
  for (const backend_info& b : backends) plan.backend.push_back(b);
  for (const device_info& d : devices)
    if (d.id.kind == device_kind::cpu) plan.threads = d.max_threads;

  if (covered_nodes(parts) != plan.nodes) return plan;
  connect_units(plan, parts, candidates);
  if (request.prices.size() == plan.units)
    branch_finder<plan_info<N>, N>(plan, request.prices, request.has_workers).find();
  find_lifetimes(plan);
  choose_grains(plan, devices);
  // What joins values has a larger buffer from the first of them on: not where one of them is made long before.
  bool joins = false;
  for (std::size_t u = 0; u < plan.units; ++u) joins = joins || reuse_of(plan, u) == reuse::joins;
  plan_info<N> joined;
  if (joins) {
    joined = plan;
    buffer_sharing<plan_info<N>, N + 1>(joined).share(true);
    choose_memory(joined, devices);
  }
  buffer_sharing<plan_info<N>, N + 1>(plan).share(false);
  choose_memory(plan, devices);
  if (joins && joined.bytes_total <= plan.bytes_total) plan = joined;
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
  plan.slots_by = slot_bound::usual;
  if (plan.segments == 0) return plan;
  const std::size_t fewest = std::min(
      detail::usual_slots, std::max({std::size_t{4}, 2 * static_cast<std::size_t>(plan.threads), 2 * plan.segments}));
  // With fewer slots the places of values may be others, and a slot larger.
  while (plan.slots > fewest && plan.slots * detail::bytes_with_a_slot(plan) > detail::usual_bytes_in_flight) {
    const std::size_t fit = detail::usual_bytes_in_flight / detail::bytes_with_a_slot(plan);
    plan = with_slots(std::max(fewest, fit));
    plan.slots_by = fit < fewest ? slot_bound::fewest : slot_bound::bytes;
  }
  if (plan.slots_by == slot_bound::usual && request.slots == detail::suitable_slots)
    detail::lengthen_ring(plan, devices);
  return plan;
}

}  // namespace levada
