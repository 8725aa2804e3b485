// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/report.hpp: a plan for people, for programs and as a picture.

#include <cstddef>
#include <span>
#include <string>

#include <levada/core/detail/device_queue.hpp>
#include <levada/plan/detail/dot_report.hpp>
#include <levada/plan/detail/json_report.hpp>
#include <levada/plan/detail/text_report.hpp>

namespace levada {

/// What a report is written as.
enum class format { text, json, dot };

/// The plan in that format, and what a deployment bounds its streams by.
template <std::size_t N>
std::string report(format as, const plan_info<N>& plan, std::span<const deployed_streams> deployed = {}) {
  switch (as) {
    case format::json:
      return json_report(plan, deployed);
    case format::dot:
      return dot_report(plan);
    case format::text:
      break;
  }
  return text_report(plan, deployed);
}

}  // namespace levada
