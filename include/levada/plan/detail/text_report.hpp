// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/text_report.hpp: a plan for people: one line for each unit, then what the memory is made of.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <levada/core/detail/device_queue.hpp>
#include <levada/plan/detail/device_words.hpp>
#include <levada/plan/detail/division.hpp>
#include <levada/plan/detail/queues_report.hpp>
#include <levada/plan/detail/text_table.hpp>
#include <levada/plan/detail/transfers.hpp>
#include <levada/plan/detail/words.hpp>

namespace levada {
namespace detail {

/// Where the output of a unit is: "slot +64", "scratchpad +0, in place", "-" behind a sink.
template <std::size_t N>
std::string output_text(const plan_info<N>& plan, const planned_unit& unit) {
  if (unit.how == form::sink) return "-";
  const planned_value& value = plan.value[unit.out];
  std::string text(name_of(value.where));
  text += " +" + decimal_text(value.offset);
  bool shares = false;
  for_each_input(unit, [&](std::size_t v) { shares = shares || plan.value[v].storage == value.storage; });
  if (shares)
    text += ", in place";
  else if (value.storage != unit.out)
    text += ", where it is joined";
  if (unit.count > 1) text += "; " + decimal_text(unit.count - 1) + " in registers";
  return text;
}

template <std::size_t N>
text_row unit_row(const plan_info<N>& plan, const planned_unit& unit) {
  std::string names;
  for (std::size_t n = unit.first; n < unit.first + unit.count; ++n) {
    if (n > unit.first) names += " + ";
    names += printable_text(plan.graph.nodes[n].name);
    if (!plan.graph.nodes[n].holds.empty()) names += " (" + printable_text(plan.graph.nodes[n].holds) + ")";
  }
  const value_info& out = plan.graph.values[unit.out];
  std::string items, sizes;
  for_each_input(unit, [&](std::size_t v) {
    items += (items.empty() ? "" : " + ") + item_text(plan.graph.values[v]);
    sizes += (sizes.empty() ? "" : " + ") + decimal_text(plan.graph.values[v].bytes);
  });
  if (unit.how != form::sink) {
    items += " -> " + item_text(out);
    sizes += " -> " + decimal_text(out.bytes);
  }
  return {decimal_text(unit.segment),
          printable_text(device_text(plan, plan.segment[unit.segment].device)),
          names,
          printable_text(backend_name(plan, unit)) + (unit.method.empty() ? "" : ", " + std::string(unit.method)),
          std::string(name_of(unit.order)),
          items,
          sizes,
          flops_text(flops_of(plan, unit)),
          output_text(plan, unit)};
}

inline std::string hand_over_text(const planned_segment& s) {
  if (s.takes == hand_over::none) return "";
  if (s.takes == hand_over::through_host) return ", items come through the host";
  return ", items are taken where segment " + decimal_text(s.takes_from) + " left them, if the drivers allow it";
}

template <std::size_t N>
std::string segment_text(const plan_info<N>& plan, std::size_t index) {
  const planned_segment& s = plan.segment[index];
  return "segment " + decimal_text(index) + " on " + printable_text(device_text(plan, s.device)) + ": grain " +
         decimal_text(s.grain) + ", " + decimal_text(s.grains) + " in flight, scratchpad " + decimal_text(s.grain) +
         " x " + bytes_text(s.item_bytes) + " + " + bytes_text(s.shared_bytes) + hand_over_text(s) + "\n";
}

/// "what neg gives goes from cpu to vulkan<0>: float[16], 64 B, once an item, 10.0 us, estimated"
template <std::size_t N>
std::string transfer_text(const plan_info<N>& plan, const planned_transfer& t) {
  std::string text = "what comes in";
  for (const planned_unit& unit : plan.unit)
    if (unit.how != form::sink && unit.out == t.value)
      text = "what " + printable_text(plan.graph.nodes[unit.first + unit.count - 1].name) + " gives";
  return text + " goes from " + printable_text(device_text(plan, t.from)) + " to " +
         printable_text(device_text(plan, t.to)) + ": " + item_text(plan.graph.values[t.value]) + ", " +
         bytes_text(t.bytes) + ", " + (t.times == 1 ? "once" : decimal_text(t.times) + " times") + " an item, " +
         seconds_text(t.seconds()) + ", " + std::string(name_of(t.price.origin));
}

/// Why the branches of a fork run as they do.
inline std::string branch_reason(const planned_fork& fork) {
  const auto times = [&] {
    return (fork.branches > 2 ? " from " : " ") + seconds_text(fork.longest) + (fork.branches > 2 ? " to " : " and ") +
           seconds_text(fork.shortest) + ", " + std::string(name_of(fork.price.origin));
  };
  const std::string in_a_row = "one after the other, since ";
  switch (fork.order) {
    case branch_order::at_once:
      return (fork.divided ? "at once where threads are idle, or divided, of a lone item:"
                           : "at once where threads are idle:") +
             times();
    case branch_order::too_short:
      return in_a_row + "no two take " + seconds_text(branch_worth_a_thread) + ":" + times();
    case branch_order::unknown:
      return in_a_row + "nobody knows what the callables take";
    case branch_order::serial:
      return in_a_row + "a stage among them takes items in order, or hears of more than items";
    case branch_order::one_thread:
      return in_a_row + "the processor has one thread";
    case branch_order::no_workers:
      break;
  }
  return in_a_row + "they run on the thread of what holds them";
}

template <std::size_t N>
std::string fork_text(const plan_info<N>& plan, const planned_fork& fork) {
  const auto name = [&](std::size_t unit) { return printable_text(plan.graph.nodes[plan.unit[unit].first].name); };
  return decimal_text(fork.branches) + " branches, " + name(fork.first) + " to " + name(fork.first + fork.count - 1) +
         ": " + branch_reason(fork);
}

/// Which units idle threads compute together; empty where none is divided.
template <std::size_t N>
std::string division_text(const plan_info<N>& plan) {
  std::string units;
  for (const planned_unit& unit : plan.unit)
    if (unit.parts > 1)
      units += (units.empty() ? " " : ", ") + printable_text(plan.graph.nodes[unit.first].name) + " in " +
               decimal_text(unit.parts) + " parts";
  if (units.empty()) return units;
  return "units of " + seconds_text(unit_worth_dividing) + " or more, of a lone item where threads are idle:" + units;
}

/// How much more than their parameters the units keep that compute by some way, where that is over a tenth:
/// ", 48.0 MiB more than the parameters by Winograd F(4x4, 3x3)".
template <std::size_t N>
std::string packed_text(const plan_info<N>& plan) {
  std::string text;
  for (std::size_t u = 0; u < plan.units; ++u) {
    const std::string_view method = plan.unit[u].method;
    std::size_t packed = 0, parameters = 0;
    bool is_first = !method.empty();
    for (std::size_t v = 0; v < plan.units && is_first; ++v) {
      const planned_unit& unit = plan.unit[v];
      if (unit.method != method) continue;
      is_first = v >= u;
      packed += unit.weight_bytes;
      for (std::size_t n = unit.first; n < unit.first + unit.count; ++n)
        parameters += plan.graph.nodes[n].parameter_bytes;
    }
    if (is_first && 10 * packed > 11 * parameters)
      text += ", " + bytes_text(packed - parameters) + " more than the parameters by " + std::string(method);
  }
  return text;
}

}  // namespace detail

/// The plan for people: a table of its units, its segments, its branches, which units are divided, what is moved
/// between devices, at costs that were measured or else are assumed, what servers store, and its bytes. `deployed`:
/// what a deployment bounds that by.
template <std::size_t N>
std::string text_report(const plan_info<N>& plan, std::span<const deployed_streams> deployed = {}) {
  std::string text = detail::decimal_text(plan.nodes) + " stages in " + detail::decimal_text(plan.units) + " units, " +
                     detail::decimal_text(plan.segments) + " segments";
  if (!plan.graph.source.empty()) text += ", fed by " + detail::printable_text(plan.graph.source);
  text += "\n\n";
  std::vector<detail::text_row> rows{
      {"segment", "device", "stages", "backend", "order", "item", "bytes", "work", "output in"}};
  for (const planned_unit& unit : plan.unit) rows.push_back(detail::unit_row(plan, unit));
  text += detail::text_table(rows) + '\n';
  for (std::size_t s = 0; s < plan.segments; ++s) text += detail::segment_text(plan, s);
  for (const planned_fork& fork : plan.fork) text += detail::fork_text(plan, fork) + '\n';
  if (const std::string divided = detail::division_text(plan); !divided.empty()) text += divided + '\n';
  for (const planned_transfer& t : transfers_of(plan)) text += detail::transfer_text(plan, t) + '\n';
  for (const planned_queue& q : queues_of(plan))
    text += '\n' + detail::queue_text(plan, q) + '\n' + detail::streams_table(plan, q, deployed);
  text += "\nslots        " + detail::decimal_text(plan.slots) + " x " + detail::bytes_text(plan.slot_bytes) + " = " +
          detail::bytes_text(plan.bytes_in_flight) + ", " + std::string(name_of(plan.slots_by)) + "\nscratchpads  " +
          detail::bytes_text(plan.bytes_scratch) + "\nweights      " + detail::bytes_text(plan.bytes_weights) +
          detail::packed_text(plan) + "\ntotal        " + detail::bytes_text(plan.bytes_total) + "\n";
  return text;
}

}  // namespace levada
