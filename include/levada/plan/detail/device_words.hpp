// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/device_words.hpp: devices as reports write them. A plan knows a device elsewhere by a number; reports
// name it as the source does, which is how its one part is called.

#include <cstddef>
#include <string>

#include <levada/core/detail/device.hpp>
#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada::detail {

/// "cpu", "vulkan<0>", "remote<"edge">".
template <std::size_t N>
std::string device_text(const plan_info<N>& plan, device_id device) {
  if (device.kind != device_kind::remote && device.kind != device_kind::fleet) return name_of(device);
  for (std::size_t u = 0; u < plan.units; ++u)
    if (plan.segment[plan.unit[u].segment].device == device)
      return std::string(name_of(device.kind)) + "<\"" + std::string(plan.graph.nodes[plan.unit[u].first].name) + "\">";
  return name_of(device);
}

}  // namespace levada::detail
