// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/dot_report.hpp: a plan as a picture for Graphviz: a box for each unit, a frame for each segment.

#include <cstddef>
#include <string>
#include <string_view>

#include <levada/plan/detail/device_words.hpp>
#include <levada/plan/detail/words.hpp>

namespace levada {
namespace detail {

/// Text inside a quoted label: DOT reads `\"` and `\\`, and `\n` as a line break; control characters have no place in
/// it.
inline void append_label(std::string& text, std::string_view raw) {
  append_utf8(text, raw, [&](char c) {
    if (is_control(c)) {
      text += '?';
      return;
    }
    text += '\\';
    text += c;
  });
}

/// What a unit's box goes by.
inline std::string box_id(std::size_t unit) {
  std::string id = "u";
  id += decimal_text(unit);
  return id;
}

inline void append_edge(std::string& dot, const std::string& from, const std::string& to, const value_info& item) {
  dot += "  " + from + " -> " + to + " [label=\"" + item_text(item) + "\"];\n";
}

template <std::size_t N>
void append_box(std::string& dot, const plan_info<N>& plan, std::size_t u) {
  const planned_unit& unit = plan.unit[u];
  dot += "    " + box_id(u) + " [label=\"";
  for (std::size_t n = unit.first; n < unit.first + unit.count; ++n) {
    append_label(dot, plan.graph.nodes[n].name);
    dot += "\\n";
  }
  append_label(dot, backend_name(plan, unit));
  dot += ", ";
  dot += name_of(unit.order);
  dot += "\"];\n";
}

}  // namespace detail

/// The plan as a digraph in the DOT language.
template <std::size_t N>
std::string dot_report(const plan_info<N>& plan) {
  using namespace detail;
  std::string dot = "digraph plan {\n  rankdir=LR;\n  node [shape=box];\n  in [shape=plaintext, label=\"";
  append_label(dot, plan.graph.source.empty() ? "input" : plan.graph.source);
  dot += "\"];\n";
  for (std::size_t s = 0; s < plan.segments; ++s) {
    const planned_segment& segment = plan.segment[s];
    dot += "  subgraph cluster_" + decimal_text(s) + " {\n    label=\"";
    append_label(dot, device_text(plan, segment.device));
    dot += ", grain " + decimal_text(segment.grain) +
           (segment.takes == hand_over::none ? "" : ", " + std::string(name_of(segment.takes))) + "\";\n";
    for (std::size_t u = segment.first; u < segment.first + segment.count; ++u) append_box(dot, plan, u);
    dot += "  }\n";
  }
  const auto maker = [&](std::size_t v) {
    return plan.value[v].first == 0 ? std::string("in") : box_id(plan.value[v].first - 1);
  };
  for (std::size_t u = 0; u < plan.units; ++u)
    for_each_input(plan.unit[u], [&](std::size_t v) { append_edge(dot, maker(v), box_id(u), plan.graph.values[v]); });
  if (plan.has_result && plan.units > 0) {
    dot += "  out [shape=plaintext, label=\"result\"];\n";
    append_edge(dot, maker(plan.graph.result), "out", plan.graph.values[plan.graph.result]);
  }
  return dot + "}\n";
}

}  // namespace levada
