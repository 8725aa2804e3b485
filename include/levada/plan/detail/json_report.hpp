// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/json_report.hpp: a plan for programs (RFC 8259). Every number of the plan is in it; bytes are bytes.

#include <cstddef>
#include <span>
#include <string>

#include <levada/core/detail/device_queue.hpp>
#include <levada/plan/detail/device_words.hpp>
#include <levada/plan/detail/json_writer.hpp>
#include <levada/plan/detail/queues_report.hpp>
#include <levada/plan/detail/transfers.hpp>
#include <levada/plan/detail/words.hpp>

namespace levada {
namespace detail {

template <std::size_t N>
void write_unit(json_writer& json, const plan_info<N>& plan, const planned_unit& unit) {
  json.open('{');
  json.key("stages");
  json.open('[');
  for (std::size_t n = unit.first; n < unit.first + unit.count; ++n) {
    const node_info& node = plan.graph.nodes[n];
    json.open('{');
    json.field("name", node.name);
    json.field("kind", node.kind);
    if (!node.holds.empty()) json.field("holds", node.holds);
    json.field("form", name_of(node.how));
    json.field("flops", node.flops);
    json.field("parameter_bytes", node.parameter_bytes);
    json.close('}');
  }
  json.close(']');
  json.field("segment", unit.segment);
  json.field("backend", backend_name(plan, unit));
  if (!unit.method.empty()) json.field("method", unit.method);
  json.field("order", name_of(unit.order));
  json.key("in");
  json.open('[');
  for_each_input(unit, [&](std::size_t v) { json.number(v); });
  json.close(']');
  if (unit.how != form::sink) json.field("out", unit.out);
  if (plan.graph.nodes[unit.first].border == loop_border::ends) json.field("state_of", unit.state_of);
  json.field("item_by_item", unit.item_by_item);
  json.field("scratch_bytes", unit.scratch_bytes);
  json.field("weight_bytes", unit.weight_bytes);
  json.field("parts", unit.parts);
  if (unit.branch) {
    json.field("fork", std::size_t{unit.branch.fork});
    json.field("branch", std::size_t{unit.branch.branch});
    json.field("scratch_offset", unit.scratch_offset);
  }
  json.close('}');
}

template <std::size_t N>
void write_segment(json_writer& json, const plan_info<N>& plan, const planned_segment& s) {
  json.open('{');
  json.field("device", device_text(plan, s.device));
  json.field("first_unit", s.first);
  json.field("units", s.count);
  json.field("grain", s.grain);
  json.field("grains", s.grains);
  json.field("item_bytes", s.item_bytes);
  json.field("shared_bytes", s.shared_bytes);
  json.field("scratch_bytes", s.scratch_bytes());
  json.field("hand_over", name_of(s.takes));
  json.field("keeps", s.keeps);
  json.close('}');
}

inline void write_fork(json_writer& json, const planned_fork& fork) {
  json.open('{');
  json.field("first_unit", fork.first);
  json.field("units", fork.count);
  json.field("branches", fork.branches);
  json.field("order", name_of(fork.order));
  if (fork.divided) json.field("divided", true);
  json.field("seconds", fork.price.seconds);
  json.field("origin", name_of(fork.price.origin));
  json.field("longest_seconds", fork.longest);
  json.field("shortest_seconds", fork.shortest);
  json.close('}');
}

template <std::size_t N>
void write_transfer(json_writer& json, const plan_info<N>& plan, const planned_transfer& t) {
  json.open('{');
  json.field("value", t.value);
  json.field("from", device_text(plan, t.from));
  json.field("to", device_text(plan, t.to));
  json.field("bytes", t.bytes);
  json.field("times", t.times);
  json.field("seconds", t.seconds());
  json.field("origin", name_of(t.price.origin));
  json.close('}');
}

inline void write_value(json_writer& json, const value_info& item, const planned_value& value) {
  json.open('{');
  json.field("element", name_of(item.type));
  write_list(json, "shape", item.extents, [&](const std::size_t extent) { json.number(extent); });
  json.field("bytes", value.bytes);
  json.field("alignment", value.alignment);
  json.field("placement", name_of(value.where));
  json.field("offset", value.offset);
  json.field("storage", value.storage);
  if (is_part_value(item)) json.field("part_of", item.part_of);
  json.field("first_step", value.first);
  json.field("last_step", value.last);
  json.close('}');
}

/// The plan as one JSON object.
template <std::size_t N>
void write_plan(json_writer& json, const plan_info<N>& plan, std::span<const deployed_streams> deployed = {}) {
  json.open('{');
  json.field("source", plan.graph.source);
  json.field("has_result", plan.has_result);
  if (plan.has_result) json.field("result", plan.graph.result);
  json.field("threads", plan.threads);
  write_list(json, "segments", plan.segment, [&](const planned_segment& s) { write_segment(json, plan, s); });
  write_list(json, "units", plan.unit, [&](const planned_unit& unit) { write_unit(json, plan, unit); });
  write_list(json, "forks", plan.fork, [&](const planned_fork& fork) { write_fork(json, fork); });
  write_list(json, "transfers", transfers_of(plan), [&](const planned_transfer& t) { write_transfer(json, plan, t); });
  write_list(json, "queues", queues_of(plan), [&](const planned_queue& q) { write_queue(json, plan, q, deployed); });
  json.key("values");
  json.open('[');
  for (std::size_t v = 0; v < plan.value.size(); ++v) write_value(json, plan.graph.values[v], plan.value[v]);
  json.close(']');
  json.field("slots", plan.slots);
  json.field("slots_by", name_of(plan.slots_by));
  json.field("slot_bytes", plan.slot_bytes);
  json.field("bytes_in_flight", plan.bytes_in_flight);
  json.field("part_bytes", plan.part_bytes);
  json.field("bytes_scratch", plan.bytes_scratch);
  json.field("bytes_weights", plan.bytes_weights);
  json.field("bytes_total", plan.bytes_total);
  json.close('}');
}

}  // namespace detail

/// The plan as one JSON object. `deployed`: what a deployment bounds its streams by.
template <std::size_t N>
std::string json_report(const plan_info<N>& plan, std::span<const deployed_streams> deployed = {}) {
  detail::json_writer json;
  detail::write_plan(json, plan, deployed);
  return json.take();
}

}  // namespace levada
