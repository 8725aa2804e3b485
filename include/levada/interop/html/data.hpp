// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/html/data.hpp: what the page of a report reads, as JSON: plans with their reasons and bounds, and what a run
// measured.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <levada/core/detail/device_queue.hpp>
#include <levada/plan/arena.hpp>
#include <levada/plan/detail/device_words.hpp>
#include <levada/plan/detail/json_report.hpp>
#include <levada/plan/detail/queues_report.hpp>
#include <levada/plan/detail/reasons.hpp>
#include <levada/plan/detail/regions.hpp>
#include <levada/plan/detail/text_report.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/measure/trace_log.hpp>

namespace levada {

constexpr std::string_view name_of(plan_reason why) {
  constexpr std::string_view names[] = {"only way", "pinned", "preference", "cost",
                                        "noise",    "saved",  "whole",      "promise"};
  return names[static_cast<std::size_t>(why)];
}
constexpr std::string_view name_of(objective goal) {
  constexpr std::string_view names[] = {"latency", "throughput", "memory", "devices"};
  return names[static_cast<std::size_t>(goal)];
}

namespace detail {

inline void write_cost(json_writer& json, const cost& price) {
  json.key("cost");
  json.open('{');
  json.field("origin", name_of(price.origin));
  if (price.origin != cost_origin::unknown) {
    json.field("seconds", price.seconds);
    json.field("spread", price.spread);
  }
  json.close('}');
}

inline void write_alternative(json_writer& json, const plan_alternative& other, const plan_choice& choice) {
  json.open('{');
  json.field("backend", other.backend == partition_unit::callable ? std::string_view("callable")
                                                                  : choice.backends[other.backend].name);
  json.field("device", name_of(other.device));
  json.field("kernels", other.kernels);
  json.field("units", other.units);
  write_cost(json, other.price);
  json.field("more_seconds", other.more_seconds);
  json.field("within_noise", other.within_noise);
  json.close('}');
}

template <std::size_t N>
void write_reasons(json_writer& json, const plan_info<N>& plan, const plan_reasons& reasons,
                   const plan_choice& choice) {
  json.key("reasons");
  json.open('{');
  json.field("has_costs", reasons.has_costs);
  json.field("machine", choice.costs != nullptr ? choice.costs->machine : std::string_view());
  json.field("objective", name_of(choice.goal));
  json.field("seconds", reasons.seconds);
  json.field("least_seconds", reasons.least_seconds);
  write_list(json, "devices", reasons.loads, [&](const device_load& load) {
    json.open('{');
    json.field("device", device_text(plan, load.device));
    json.field("workers", load.workers);
    json.field("seconds", load.seconds);
    json.close('}');
  });
  write_list(json, "units", reasons.units, [&](const unit_reason& unit) {
    json.open('{');
    json.field("why", name_of(unit.why));
    write_cost(json, unit.price);
    json.field("move_seconds", unit.move_seconds);
    write_list(json, "others", unit.others,
               [&](const plan_alternative& other) { write_alternative(json, other, choice); });
    json.close('}');
  });
  json.close('}');
}

/// How much memory a plan takes, and how little it could.
template <std::size_t N>
void write_memory(json_writer& json, const plan_info<N>& plan) {
  json.key("memory");
  json.open('{');
  json.field("arena_bytes", arena_size(plan));
  json.field("arena_bound", arena_bound(plan));
  json.key("segments");
  json.open('[');
  for (std::size_t s = 0; s < plan.segments; ++s) {
    json.open('{');
    json.field("bound", scratchpad_bound(plan, s));
    json.field("kernel_offset", plan.segment[s].kernel_offset);
    json.close('}');
  }
  json.close(']');
  json.close('}');
}

/// A region of a pipeline and the rate that leads to it, the only one where the rate does not change.
template <std::size_t N>
void write_region(json_writer& json, const plan_info<N>& plan, const plan_choice& choice, const planned_rate& rate,
                  std::size_t repetitions, std::span<const deployed_streams> deployed = {}) {
  json.open('{');
  json.field("rate", rate.name);
  json.field("takes", rate.ratio.takes);
  json.field("gives", rate.ratio.gives);
  json.field("repetitions", repetitions);
  json.field("rate_bytes", rate.bytes);
  json.key("plan");
  write_plan(json, plan, deployed);
  write_list(json, "forks", plan.fork, [&](const planned_fork& fork) { json.string(fork_text(plan, fork)); });
  write_list(json, "queues", queues_of(plan), [&](const planned_queue& q) { json.string(queue_text(plan, q)); });
  write_memory(json, plan);
  write_reasons(json, plan, explain(plan, choice), choice);
  json.close('}');
}

inline void write_numbers(json_writer& json, std::string_view name,
                          std::initializer_list<std::pair<std::string_view, std::uint64_t>> numbers) {
  json.key(name);
  json.open('{');
  for (const auto& [part, value] : numbers) json.field(part, static_cast<std::size_t>(value));
  json.close('}');
}

inline void write_distribution(json_writer& json, std::string_view name, const distribution& d) {
  write_numbers(json, name, {{"count", d.count}, {"min", d.min}, {"median", d.median}, {"p99", d.p99}, {"max", d.max}});
}

inline void write_counts(json_writer& json, const item_counts& items) {
  write_numbers(json, "items",
                {{"pushed", items.pushed},
                 {"delivered", items.delivered},
                 {"failed", items.failed},
                 {"filtered", items.filtered},
                 {"dropped", items.dropped},
                 {"cancelled", items.cancelled},
                 {"in_flight", items.in_flight},
                 {"refused", items.refused}});
  json.key("drops");
  json.open('{');
  for (const auto& reason : drop_reason_texts)
    json.field(reason.text, static_cast<std::size_t>(items.drops.*reason.count));
  json.close('}');
}

inline void write_statistics(json_writer& json, const session_statistics& s) {
  json.open('{');
  write_counts(json, s.items);
  write_list(json, "regions_behind", s.regions_behind, [&](const item_counts& items) {
    json.open('{');
    write_counts(json, items);
    json.close('}');
  });
  json.field("slots", s.slots);
  json.field("latency_budget", static_cast<std::size_t>(s.latency_budget));
  json.field("late", static_cast<std::size_t>(s.late));
  write_list(json, "stages", s.stages, [&](const stage_statistics& stage) {
    json.open('{');
    json.field("name", stage.name);
    json.field("segment", stage.segment);
    json.field("items", static_cast<std::size_t>(stage.items));
    write_distribution(json, "time", stage.time);
    write_distribution(json, "waited", stage.waited);
    json.field("failed", static_cast<std::size_t>(stage.failed));
    json.field("filtered", static_cast<std::size_t>(stage.filtered));
    json.field("overdue", static_cast<std::size_t>(stage.overdue));
    json.field("cancelled", static_cast<std::size_t>(stage.cancelled));
    json.field("late", static_cast<std::size_t>(stage.late));
    json.close('}');
  });
  write_list(json, "segments", s.segments, [&](const segment_statistics& segment) {
    json.open('{');
    json.field("is_direct", segment.is_direct);
    write_distribution(json, "waited", segment.waited);
    write_distribution(json, "upload", segment.upload);
    write_distribution(json, "compute", segment.compute);
    write_distribution(json, "download", segment.download);
    json.close('}');
  });
  write_distribution(json, "age", s.age);
  write_distribution(json, "occupied", s.occupied);
  json.close('}');
}

/// So many events are drawn: the last ones.
inline constexpr std::size_t most_drawn_events = 6000;

constexpr std::string_view name_of(trace_kind kind) {
  constexpr std::string_view names[] = {"grain",   "stage",    "waiting",  "device", "upload",
                                        "compute", "download", "occupied", "late"};
  return names[static_cast<std::size_t>(kind)];
}

/// What ran: [kind, what, thread, items, first item, begin, ns], in the order of begins, those from the first on.
/// Waiting is no work.
inline void write_events(json_writer& json, const session_trace& trace) {
  std::vector<trace_event> drawn;
  for (const trace_event& e : trace.events)
    if (e.kind != trace_kind::waiting && e.kind != trace_kind::occupied) drawn.push_back(e);
  const auto key = [](const trace_event& e) { return std::tuple(e.begin, e.thread, e.kind, e.what, e.item, e.end); };
  std::sort(drawn.begin(), drawn.end(), [&](const trace_event& a, const trace_event& b) { return key(a) < key(b); });
  const std::size_t left_out = drawn.size() > most_drawn_events ? drawn.size() - most_drawn_events : 0;
  const std::uint64_t origin = left_out < drawn.size() ? drawn[left_out].begin : 0;
  json.open('{');
  json.field("overwritten", static_cast<std::size_t>(trace.overwritten));
  json.field("left_out", left_out);
  write_list(json, "stages", trace.stages, [&](const std::string& name) { json.string(name); });
  json.key("events");
  json.open('[');
  for (std::size_t i = left_out; i < drawn.size(); ++i) {
    const trace_event& e = drawn[i];
    json.open('[');
    json.string(name_of(e.kind));
    for (const std::uint64_t number : {std::uint64_t{e.what}, std::uint64_t{e.thread}, std::uint64_t{e.count}, e.item,
                                       e.begin - origin, e.end - e.begin})
      json.number(static_cast<std::size_t>(number));
    json.close(']');
  }
  json.close(']');
  json.close('}');
}

/// What a run said of itself: nothing where it was not asked.
inline void write_run(json_writer& json, const session_statistics* statistics, const session_trace* trace) {
  if (statistics != nullptr) {
    json.key("statistics");
    write_statistics(json, *statistics);
  }
  if (trace != nullptr && !trace->events.empty()) {
    json.key("trace");
    write_events(json, *trace);
  }
}

}  // namespace detail
}  // namespace levada
