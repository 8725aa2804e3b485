// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/saved_differences.hpp: what of a saved plan does not hold for a deployment, as sentences for people: what
// plan/detail/pinned.hpp says as a compile error, and where a plan that could be built is not the one that was.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <levada/plan/detail/saved.hpp>
#include <levada/plan/detail/words.hpp>

namespace levada {
namespace detail {

inline std::string text_of(written_name name) {
  std::string text;
  name.each([&](char c) { text += c; });
  return text;
}
inline std::string in_quotes(std::string_view name) { return '"' + std::string(name) + '"'; }

/// Why the line cannot be built; nothing where it can.
template <std::size_t N>
std::string fault_text(const plan_reading<N>& reading, const graph_info<N>& graph) {
  if (reading.change == plan_change::none) return {};
  if (reading.change == plan_change::malformed)
    return "the line is no plan from its byte " + decimal_text(reading.at) + " on";
  if (reading.change == plan_change::stage_count)
    return decimal_text(reading.count) + " stages there, " + decimal_text(graph.nodes.size()) + " here";
  const node_info& node = graph.nodes[reading.at];
  const std::string stage = in_quotes(node.name), device = name_of(reading.written.device),
                    backend = in_quotes(text_of(reading.written.backend));
  switch (reading.change) {
    case plan_change::stage:
      return "stage " + decimal_text(reading.at) + " is " + in_quotes(text_of(reading.written.name)) + " there, " +
             stage + " here";
    case plan_change::device:
      return stage + " is on " + device + ", which the target lacks";
    case plan_change::pin:
      return stage + " is on " + device + ", but pinned to " + name_of(node.pin);
    case plan_change::border:
      return "no segment ends behind " + stage + ", where the pipeline splits";
    case plan_change::callable_device:
      return stage + " is a callable, and " + device + " runs none";
    case plan_change::missing_backend:
      return stage + " is an op, and no backend stands there";
    case plan_change::backend:
      return stage + " is computed by " + backend + ", which does not compute on " + device + " here";
    default:
      return backend + " does not take the run of ops from " + stage + " on as one";
  }
}

/// What two lines decide otherwise, stage by stage.
template <std::size_t N>
void append_differences(std::vector<std::string>& found, const written_plan<N>& there, const written_plan<N>& here) {
  if (there.slots != here.slots)
    found.push_back(decimal_text(there.slots) + " slots there, " + decimal_text(here.slots) + " here");
  for (std::size_t i = 0; i < std::min(there.stages.size(), here.stages.size()); ++i) {
    const written_stage &a = there.stages[i], &b = here.stages[i];
    const std::string stage = in_quotes(text_of(a.name));
    const auto who = [](const written_stage& s) {
      return (s.is_callable ? "" : text_of(s.backend) + " on ") + name_of(s.device);
    };
    if (who(a) != who(b)) found.push_back(stage + " is computed by " + who(a) + " there, " + who(b) + " here");
    if (a.starts_unit != b.starts_unit)
      found.push_back(stage + (a.starts_unit ? " begins a kernel there, and is fused with the stage before it here"
                                             : " is fused with the stage before it there, and begins a kernel here"));
    if (a.starts_segment != b.starts_segment)
      found.push_back(stage +
                      (a.starts_segment ? " begins a segment there, not here" : " begins a segment here, not there"));
  }
}

}  // namespace detail

/// What of a saved line does not hold for a plan: that it cannot be built from those devices, candidates and backends,
/// or what this plan decides otherwise. Nothing where it is the same.
template <std::size_t N>
std::vector<std::string> saved_differences(std::string_view line, const plan_info<N>& plan,
                                           std::span<const device_info> devices, std::span<const candidate> candidates,
                                           std::span<const backend_info> backends) {
  std::vector<std::string> found;
  const auto reading = read_plan<N>(line, plan.graph, devices, candidates, backends);
  if (!reading) found.push_back(detail::fault_text(reading, plan.graph));
  if (reading.change == plan_change::malformed || reading.change == plan_change::stage ||
      reading.change == plan_change::stage_count)
    return found;
  const std::string own = save(plan);
  detail::append_differences(found, parse_plan<N>(line), parse_plan<N>(own));
  return found;
}

}  // namespace levada
