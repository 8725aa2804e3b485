// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/words.hpp: how all reports call the parts of a plan.

#include <cstddef>
#include <string>
#include <string_view>

#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/signature.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada {

constexpr std::string_view name_of(concurrency order) { return order == concurrency::serial ? "serial" : "parallel"; }

constexpr std::string_view name_of(form how) {
  constexpr std::string_view names[] = {"map",    "consume", "in_place", "destination", "filter", "consume_filter",
                                        "source", "sink",    "op"};
  return names[static_cast<std::size_t>(how)];
}

/// Where a value is: a value inside a fused kernel never leaves its registers and scratch.
constexpr std::string_view name_of(placement where) {
  constexpr std::string_view names[] = {"register", "slot", "scratchpad", "shared scratchpad"};
  return names[static_cast<std::size_t>(where)];
}

constexpr std::string_view name_of(branch_order order) {
  constexpr std::string_view names[] = {"at once", "too short", "unknown", "serial", "one thread", "no workers"};
  return names[static_cast<std::size_t>(order)];
}

constexpr std::string_view name_of(slot_bound by) {
  constexpr std::string_view names[] = {"as stated", "the usual number", "small items in half of a first-level cache",
                                        "large items in 16 MiB", "very large items, two for each thread and segment"};
  return names[static_cast<std::size_t>(by)];
}

constexpr std::string_view name_of(hand_over way) {
  constexpr std::string_view names[] = {"none", "direct", "through the host"};
  return names[static_cast<std::size_t>(way)];
}

namespace detail {

inline std::string decimal_text(std::size_t value) {
  std::string text;
  append_number(text, value);
  return text;
}

inline std::string item_text(const value_info& value) {
  return written_text([&](std::string& into) { append_item(into, value); });
}

template <std::size_t N>
std::string_view backend_name(const plan_info<N>& plan, const planned_unit& unit) {
  return unit.backend == partition_unit::callable ? "callable" : plan.backend[unit.backend].name;
}

template <std::size_t N>
double flops_of(const plan_info<N>& plan, const planned_unit& unit) {
  double flops = 0;
  for (std::size_t n = unit.first; n < unit.first + unit.count; ++n) flops += plan.graph.nodes[n].flops;
  return flops;
}

}  // namespace detail
}  // namespace levada
