// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/partition.hpp: which nodes are computed together, by whom, on which device, and where the segments end.
// Without costs: pinned nodes go where they are pinned, others to the first device named that can take them (alone,
// else within a run); ops go to the first backend named that takes them, in the longest run it takes as one that leaves
// no node behind that nobody takes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/candidate.hpp>
#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/region_runs.hpp>

namespace levada {

/// Nodes that run as one: a fused run of ops by a backend's kernel, or one callable.
struct partition_unit {
  static constexpr std::size_t callable = ~std::size_t{0};

  std::size_t first = 0;             ///< the first node
  std::size_t count = 1;             ///< how many nodes
  std::size_t backend = callable;    ///< whose kernel, or `callable`
  std::size_t candidate = callable;  ///< its index in the list of candidates, or `callable`
  device_id device{};
  bool starts_segment = false;

  friend constexpr bool operator==(const partition_unit&, const partition_unit&) = default;
};

/// A cover of the graph by units in order.
template <std::size_t N>
using partition = bounded<partition_unit, N>;

namespace detail {

constexpr bool runs_callables(device_id d) { return d.kind == device_kind::cpu || d.kind == device_kind::simulated; }

/// A backend of the processor also computes on a simulated device.
constexpr bool computes_on(const backend_info& backend, device_id d) {
  return backend.device == d.kind || (backend.device == device_kind::cpu && d.kind == device_kind::simulated);
}

/// Pins allow it; and several devices do not keep one stage's order.
constexpr bool may_run_on(const node_info& node, device_id d) {
  return (!node.pin || admits(node.pin, d)) && (node.order == concurrency::parallel || count_of(d) == 1);
}

}  // namespace detail

/// The device a node runs on, or none where no device of the target can take it.
template <class = void>
constexpr device_id choose_device(const node_info& node, std::size_t index, std::span<const device_info> devices,
                                  std::span<const candidate> candidates, std::span<const backend_info> backends) {
  device_id within_a_run{};
  for (const device_info& d : devices) {
    if (!detail::may_run_on(node, d.id)) continue;
    if (!is_op(node)) {
      if (detail::runs_callables(d.id)) return d.id;
      continue;
    }
    for (const candidate& c : candidates) {
      if (index < c.first || index >= c.first + c.count || !detail::computes_on(backends[c.backend], d.id)) continue;
      if (c.count == 1) return d.id;
      if (!within_a_run) within_a_run = d.id;
    }
  }
  return within_a_run;
}

/// Whether each node can be computed in a line with the node behind it: that takes what this one gives, and nobody else
/// does.
template <std::size_t N>
constexpr std::array<bool, N> feeds_only_the_next(const graph_info<N>& graph) {
  std::array<std::size_t, N + 1> takers{};
  for (const node_info& node : graph.nodes) for_each_input(node, [&](std::size_t v) { ++takers[v]; });
  std::array<bool, N> feeds{};
  for (std::size_t i = 0; i + 1 < graph.nodes.size(); ++i) {
    const node_info &node = graph.nodes[i], &next = graph.nodes[i + 1];
    feeds[i] = node.how != form::sink && next.in == node.out && next.more.empty() && takers[node.out] == 1 &&
               (graph.ends_in_sink || graph.result != node.out) && !is_part_value(graph.values[node.out]);
  }
  return feeds;
}

/// How many nodes, from the first on, the units cover.
template <std::size_t N>
constexpr std::size_t covered_nodes(const partition<N>& parts) {
  return parts.empty() ? 0 : parts.back().first + parts.back().count;
}

namespace detail {

inline constexpr std::size_t nobody = ~std::size_t{0};

/// The index of the device of each node, as `choose_device` says, but for the whole graph in one pass over the
/// candidates.
template <std::size_t N>
constexpr std::array<std::size_t, N> choose_places(const graph_info<N>& graph, std::span<const device_info> devices,
                                                   std::span<const candidate> candidates,
                                                   std::span<const backend_info> backends) {
  const std::size_t count = graph.nodes.size();
  std::array<std::size_t, N> alone{}, within_a_run{};
  for (std::size_t i = 0; i < count; ++i) {
    alone[i] = within_a_run[i] = nobody;
    if (is_op(graph.nodes[i])) continue;
    for (std::size_t d = devices.size(); d-- > 0;)
      if (runs_callables(devices[d].id) && may_run_on(graph.nodes[i], devices[d].id)) alone[i] = d;
  }
  for (const candidate& c : candidates)
    for (std::size_t d = 0; d < devices.size(); ++d) {
      bool allowed = c.first + c.count <= count && computes_on(backends[c.backend], devices[d].id);
      for (std::size_t i = c.first; allowed && i < c.first + c.count; ++i)
        allowed = is_op(graph.nodes[i]) && may_run_on(graph.nodes[i], devices[d].id);
      for (std::size_t i = c.first; allowed && i < c.first + c.count; ++i) {
        std::size_t& place = c.count == 1 ? alone[i] : within_a_run[i];
        place = std::min(place, d);
      }
    }
  for (std::size_t i = 0; i < count; ++i)
    if (alone[i] == nobody) alone[i] = within_a_run[i];
  return alone;
}

/// Every op's preferred candidate among those behind which most of the ops in its row can be covered too. `row_end` is
/// behind the last op of the row in which a node stands.
template <std::size_t N>
constexpr std::array<std::size_t, N> preferred_candidates(const region_runs<N>& runs,
                                                          const std::array<std::size_t, N>& row_end,
                                                          const std::array<std::size_t, N>& place, std::size_t count,
                                                          std::span<const device_info> devices,
                                                          std::span<const candidate> candidates,
                                                          std::span<const backend_info> backends) {
  std::array<std::size_t, N> best{}, last_at{}, covered{};  // up to which node
  constexpr_vector<std::size_t> before(candidates.size());  // the one before at the same node
  for (std::size_t i = 0; i < count; ++i) best[i] = last_at[i] = nobody;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (candidates[c].first >= count) continue;
    before[c] = last_at[candidates[c].first];
    last_at[candidates[c].first] = c;
  }
  for (std::size_t i = count; i-- > 0;) {
    covered[i] = i;
    for (std::size_t c = last_at[i]; c != nobody && place[i] != nobody; c = before[c]) {
      const candidate& one = candidates[c];
      const std::size_t end = i + one.count;
      const device_id device = devices[place[i]].id;
      if (end > row_end[i] || !computes_on(backends[one.backend], device)) continue;
      if (one.count > 1 && !runs.is_region(i, one.count)) continue;
      const std::size_t reaches = end == row_end[i] ? end : covered[end];
      const bool is_better = best[i] == nobody || reaches > covered[i] ||
                             (reaches == covered[i] &&
                              (one.backend < candidates[best[i]].backend ||
                               (one.backend == candidates[best[i]].backend && one.count >= candidates[best[i]].count)));
      if (reaches < covered[i] || !is_better) continue;
      best[i] = c;
      covered[i] = reaches;
    }
  }
  return best;
}

}  // namespace detail

/// The partition. It ends ahead of the first node that nobody can take: see `covered_nodes`.
template <std::size_t N>
constexpr partition<N> choose_partition(const graph_info<N>& graph, std::span<const device_info> devices,
                                        std::span<const candidate> candidates, std::span<const backend_info> backends) {
  const std::size_t count = graph.nodes.size();
  const std::array<std::size_t, N> place = detail::choose_places(graph, devices, candidates, backends);
  const auto border_after = [&](std::size_t i) {
    return i + 1 == count || graph.nodes[i].split_after || place[i] != place[i + 1];
  };
  std::array<std::size_t, N> row_end{};
  for (std::size_t i = count; i-- > 0;)
    row_end[i] = border_after(i) || !is_op(graph.nodes[i + 1]) ? i + 1 : row_end[i + 1];
  const auto best =
      detail::preferred_candidates(region_runs(graph), row_end, place, count, devices, candidates, backends);

  partition<N> units;
  bool starts = true;
  for (std::size_t i = 0; i < count;) {
    if (place[i] == detail::nobody) return units;
    partition_unit unit{i, 1, partition_unit::callable, partition_unit::callable, devices[place[i]].id, starts};
    if (is_op(graph.nodes[i])) {
      if (best[i] == detail::nobody) return units;
      unit.candidate = best[i];
      unit.backend = candidates[best[i]].backend;
      unit.count = candidates[best[i]].count;
    }
    i += unit.count;
    starts = border_after(i - 1);
    units.push_back(unit);
  }
  return units;
}

}  // namespace levada
