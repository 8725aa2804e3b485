// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/words.hpp: how all reports call the parts of a plan.

#include <cstddef>
#include <string>
#include <string_view>

#include <levada/plan/plan.hpp>
#include <levada/plan/signature.hpp>
#include <levada/plan/text.hpp>

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

/// The length of the well-formed UTF-8 sequence at `at`, or 0 (Unicode 15, table 3-7).
constexpr std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return within(1, 0x80, 0xbf) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool second = within(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
    return second && within(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool second = within(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
    return second && within(2, 0x80, 0xbf) && within(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

/// Appends well-formed UTF-8: what is not becomes U+FFFD; control characters, quotes and backslashes go to `escape`.
template <class Escape>
void append_utf8(std::string& text, std::string_view raw, Escape escape) {
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t length = utf8_length(raw, at);
    if (length == 0) {
      text += "\xef\xbf\xbd";
      ++at;
    } else if (is_control(raw[at]) || raw[at] == '"' || raw[at] == '\\') {
      escape(raw[at++]);
    } else {
      text += raw.substr(at, length);
      at += length;
    }
  }
}

}  // namespace detail
}  // namespace levada
