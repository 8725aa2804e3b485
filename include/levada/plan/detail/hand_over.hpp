// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/hand_over.hpp: how segments on Vulkan devices come by what others on such devices made: through the host,
// or where it lies. Whether the drivers allow the latter is found out when a session opens.

#include <cstddef>
#include <cstdint>

#include <levada/core/detail/device.hpp>
#include <levada/graph/detail/graph_info.hpp>

namespace levada {

/// How a segment on a Vulkan device comes by what another on such a device made.
enum class hand_over : std::uint8_t {
  none,         ///< it takes nothing of that kind
  direct,       ///< where it lies, if the drivers let both devices see it; if not, through the host
  through_host  ///< as one of several values that it takes, or that the other gives, or as a part of one
};

namespace detail {

/// The segment whose unit makes a value; none: it comes with the item.
template <class Plan>
constexpr std::size_t maker_of(const Plan& plan, std::size_t v) {
  const std::size_t made_behind = plan.value[v].first;  // units; 0: the item as it was pushed
  return made_behind == 0 ? ~std::size_t{0} : plan.unit[made_behind - 1].segment;
}

/// A segment gives that value and no other.
template <class Plan>
constexpr bool gives_alone(const Plan& plan, std::size_t segment, std::size_t v) {
  const auto& s = plan.segment[segment];
  bool made = false, others = false;
  for (std::size_t u = s.first; u < s.first + s.count; ++u) {
    const std::size_t out = plan.unit[u].out;
    bool leaves = plan.has_result && (out == plan.graph.result || plan.graph.values[out].part_of == plan.graph.result);
    for (const auto& taker : plan.unit)
      for_each_input(taker, [&](std::size_t in) {
        leaves = leaves || (taker.segment != segment && (in == out || plan.graph.values[in].part_of == out));
      });
    if (leaves) (out == v ? made : others) = true;
  }
  return made && !others;
}

/// What a segment takes, as long as it is one value, and all that its segment gives, can stay on the devices.
template <class Plan, class Segment>
constexpr void choose_hand_over(const Plan& plan, Segment& s) {
  const std::size_t here = plan.unit[s.first].segment, none = ~std::size_t{0};
  std::size_t one = none, from = none;
  bool several = false;
  for (std::size_t u = s.first; u < s.first + s.count; ++u)
    for_each_input(plan.unit[u], [&](std::size_t v) {
      const std::size_t maker = maker_of(plan, v);
      if (maker == here) return;
      several = several || (one != none && one != v);
      one = v;
      if (maker != none && plan.segment[maker].device.kind == device_kind::vulkan) from = maker;
    });
  if (from == none) return;
  s.takes = !several && gives_alone(plan, from, one) ? hand_over::direct : hand_over::through_host;
  s.takes_from = from;
}

/// What a segment gives need not come to the host, if all that take it do so directly.
template <class Plan>
constexpr void choose_kept(Plan& plan) {
  for (std::size_t i = 0; i < plan.segment.size(); ++i) {
    auto& s = plan.segment[i];
    if (s.device.kind != device_kind::vulkan) continue;
    bool taken = false, by_others = false;
    for (std::size_t u = s.first; u < s.first + s.count; ++u) {
      const std::size_t v = plan.unit[u].out;
      by_others = by_others || (plan.has_result && v == plan.graph.result);
      for (std::size_t other = 0; other < plan.value.size();
           ++other)  // parts of a buffer have takers that they are not named by
        by_others = by_others || (other != v && (plan.value[other].storage == v || plan.value[v].storage == other));
      for (const auto& taker : plan.unit)
        for_each_input(taker, [&](std::size_t in) {
          if (in != v || taker.segment == i) return;
          const auto& to = plan.segment[taker.segment];
          (to.takes == hand_over::direct && to.takes_from == i ? taken : by_others) = true;
        });
    }
    s.keeps = taken && !by_others;
  }
}

}  // namespace detail
}  // namespace levada
