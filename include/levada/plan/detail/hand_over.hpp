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
  through_host  ///< as one item of several, or of a value that was not the other's last
};

namespace detail {

/// What the first of a segment's units takes, as long as it is one value, and the last that its segment gives, can stay
/// on the devices.
template <class Plan, class Segment>
constexpr void choose_hand_over(const Plan& plan, Segment& s) {
  const auto& taker = plan.unit[s.first];
  for_each_input(taker, [&](std::size_t v) {
    const std::size_t made_behind = plan.value[v].first;  // units; 0: the item as it was pushed
    if (made_behind == 0) return;
    const std::size_t from = plan.unit[made_behind - 1].segment;
    const auto& giver = plan.segment[from];
    if (giver.device.kind != device_kind::vulkan) return;
    const bool direct =
        taker.more.size() == 0 && giver.first + giver.count == made_behind && plan.unit[made_behind - 1].out == v;
    s.takes = direct ? hand_over::direct : hand_over::through_host;
    s.takes_from = from;
  });
}

/// What a segment gives need not come to the host, if all that take it do so directly.
template <class Plan>
constexpr void choose_kept(Plan& plan) {
  for (std::size_t i = 0; i < plan.segment.size(); ++i) {
    auto& s = plan.segment[i];
    if (s.device.kind != device_kind::vulkan) continue;
    const std::size_t v = plan.unit[s.first + s.count - 1].out;
    bool taken = false, by_others = plan.has_result && v == plan.graph.result;
    for (std::size_t other = 0; other < plan.value.size();
         ++other)  // parts of a buffer have takers that they are not named by
      by_others = by_others || (other != v && (plan.value[other].storage == v || plan.value[v].storage == other));
    for (std::size_t u = s.first + s.count; u < plan.unit.size(); ++u)
      for_each_input(plan.unit[u], [&](std::size_t in) {
        if (in != v) return;
        const auto& taker = plan.segment[plan.unit[u].segment];
        const bool direct = taker.first == u && taker.takes == hand_over::direct && taker.takes_from == i;
        (direct ? taken : by_others) = true;
      });
    s.keeps = taken && !by_others;
  }
}

}  // namespace detail
}  // namespace levada
