// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/transfers.hpp: the values that each item has moved from one device to another, as a plan makes them. What
// a run moves follows from the same functions.

#include <array>
#include <cstddef>
#include <optional>

#include <levada/core/detail/device.hpp>
#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/plan/detail/hand_over.hpp>
#include <levada/plan/detail/plan_info.hpp>

namespace levada {

/// A value that is moved from one device to another for each item.
struct planned_transfer {
  std::size_t value = 0;
  device_id from{}, to{};
  std::size_t bytes = 0;  ///< at most: items that do not go as they lie have forms of several lengths
  std::size_t times = 1;  ///< for each item: once for each segment there that takes it
  cost price{};           ///< of one time

  constexpr double seconds() const { return static_cast<double>(times) * price.seconds; }
};

namespace detail {

/// Which segment gives each value, and who else takes it.
template <std::size_t N>
class value_ways {
 public:
  static constexpr std::size_t host = ~std::size_t{0};

  constexpr explicit value_ways(const plan_info<N>& plan) : plan_(plan) {
    made_in_.fill(host);
    for (const planned_unit& unit : plan.unit)
      if (unit.how != form::sink) made_in_[unit.out] = unit.segment;
    for (std::size_t v = 0; v < plan.value.size(); ++v)
      if (is_port_value(plan.graph, v)) made_in_[v] = made_in_[plan.graph.values[v].part_of];
  }

  /// `host`: it comes with the item.
  constexpr std::size_t made_in(std::size_t v) const { return made_in_[v]; }
  /// A unit of the segment takes what was made elsewhere.
  constexpr bool enters(std::size_t s, std::size_t v) const { return made_in_[v] != s && takes(s, v); }
  /// The segment finds it where another has left it on a device.
  constexpr bool is_taken_directly(std::size_t s, std::size_t v) const {
    const planned_segment& to = plan_.segment[s];
    return to.takes == hand_over::direct && to.takes_from == made_in_[v];
  }
  /// The host has it behind its segment: it is the result or a part of it, or others take it, or a part of it, there.
  constexpr bool reaches_host(std::size_t v) const {
    const graph_info<N>& graph = plan_.graph;
    if (plan_.has_result &&
        (v == graph.result || (graph.values[v].part_of == graph.result && !is_port_value(graph, v))))
      return true;
    for (std::size_t w = 0; w < graph.values.size(); ++w) {
      if (w != v && graph.values[w].part_of != v) continue;
      for (std::size_t s = 0; s < plan_.segments; ++s)
        if (enters(s, w) && !is_taken_directly(s, w)) return true;
    }
    return false;
  }
  /// The device has memory of its own for it. Where the host computes for a device, what cannot be copied as bytes is
  /// used where it is, and so are its parts.
  constexpr bool is_copied(std::size_t s, std::size_t v) const {
    const device_kind kind = plan_.segment[s].device.kind;
    return kind == device_kind::simulated ? moves_as_bytes(v) : kind != device_kind::cpu;
  }
  constexpr bool moves_as_bytes(std::size_t v) const {
    const value_info& value = plan_.graph.values[v];
    const bool is_inside = is_port_value(plan_.graph, v) && made_in_[v] != host;
    return value.trivial && !value.by_address && (!is_inside || plan_.graph.values[value.part_of].trivial);
  }

 private:
  constexpr bool takes(std::size_t s, std::size_t v) const {
    bool found = false;
    const planned_segment& segment = plan_.segment[s];
    for (std::size_t u = segment.first; u < segment.first + segment.count; ++u)
      for_each_input(plan_.unit[u], [&](std::size_t in) { found = found || in == v; });
    return found;
  }

  const plan_info<N>& plan_;
  std::array<std::size_t, N + 1> made_in_{};
};

}  // namespace detail

/// The transfers of a plan, segment by segment: what goes there, then what comes from there. Their prices are those
/// that were measured, else assumed.
template <std::size_t N>
constexpr detail::constexpr_vector<planned_transfer> transfers_of(const plan_info<N>& plan) {
  constexpr device_id host{device_kind::cpu};
  const detail::value_ways<N> ways(plan);
  detail::constexpr_vector<planned_transfer> found;
  const auto add = [&](std::size_t v, device_id from, device_id to) {
    if (from == to) return;
    for (planned_transfer& known : found)
      if (known.value == v && known.from == from && known.to == to) return static_cast<void>(++known.times);
    const value_info& item = plan.graph.values[v];
    const bool leaves_process = is_elsewhere_kind(from.kind) || is_elsewhere_kind(to.kind);
    const std::size_t bytes = leaves_process ? item.wire_bytes : item.bytes;
    const std::optional<crossing> way = find_transfer(plan.transfer_costs, from, to);
    const double seconds = way.value_or(assumed_transfer).seconds_for(bytes);
    found.push_back({v, from, to, bytes, 1, way ? cost::measured(seconds) : cost::estimated(seconds)});
  };
  for (std::size_t s = 0; s < plan.segments; ++s) {
    const device_id device = plan.segment[s].device;
    for (std::size_t v = 0; v < plan.value.size(); ++v)
      if (ways.is_copied(s, v) && ways.enters(s, v))
        add(v, ways.is_taken_directly(s, v) ? plan.segment[ways.made_in(v)].device : host, device);
    for (std::size_t v = 0; v < plan.value.size(); ++v)
      if (ways.is_copied(s, v) && ways.made_in(v) == s && !is_port_value(plan.graph, v) && ways.reaches_host(v))
        add(v, device, host);
  }
  return found;
}

}  // namespace levada
