// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/verification_report.hpp: what a deployment takes beside its plan, for people and for programs.

#include <string>
#include <string_view>
#include <vector>

#include <levada/plan/detail/json_report.hpp>
#include <levada/plan/detail/promises_report.hpp>
#include <levada/plan/detail/text_report.hpp>
#include <levada/run/detail/measure/verification.hpp>

namespace levada {
namespace detail {

/// "2.03 times", or "-".
inline std::string ratio_text(double ratio) {
  if (ratio == 0) return "-";
  std::string text;
  append_decimals(text, ratio, 2);
  return text + " times";
}
inline text_row verified_row(const std::string& name, const std::string& device, std::string_view origin,
                             const verified_time& time) {
  const auto known = [](double seconds) { return seconds > 0 ? time_text(seconds) : std::string("-"); };
  return {printable_text(name), device, known(time.expected), known(time.measured), ratio_text(time.ratio()),
          std::string(origin)};
}

inline void write_verified(json_writer& json, const verified_time& time) {
  json.field("expected_seconds", time.expected);
  json.field("measured_seconds", time.measured);
  if (time.ratio() > 0) json.field("ratio", time.ratio());
}

inline void write_verification(json_writer& json, const verification& all) {
  json.open('{');
  write_list(json, "parts", all.parts, [&](const verified_part& p) {
    json.open('{');
    json.field("name", std::string_view(p.name));
    json.field("device", std::string_view(p.device));
    json.field("cost", name_of(p.origin));
    write_verified(json, p);
    json.close('}');
  });
  for (const auto& [name, time] :
       {std::pair<std::string_view, const verified_time*>{"latency", &all.latency}, {"interval", &all.interval}}) {
    json.key(name);
    json.open('{');
    write_verified(json, *time);
    json.close('}');
  }
  write_list(json, "budgets", all.budgets, [&](const verified_budget& b) {
    json.open('{');
    json.field("of", b.bound.of_latency ? std::string_view("latency") : std::string_view("interval"));
    json.field("most_seconds", b.bound.most.seconds());
    write_verified(json, b);
    json.field("exceeded", b.is_exceeded());
    json.close('}');
  });
  if (all.pace > 0) json.field("pace_seconds", all.pace);
  json.field("keeps_up", all.keeps_up());
  json.field("ratio", all.ratio());
  json.field("costs_hold", all.costs_hold());
  json.field("costs_of", std::string_view(all.costs_of));
  json.field("date", std::string_view(all.date));
  json.field("here", std::string_view(all.here));
  json.field("is_of_this_machine", all.is_of_this_machine());
  json.close('}');
}

}  // namespace detail

/// A line for each unit and transfer, then the whole, and what does not hold.
inline std::string text_report(const verification& all) {
  using detail::time_text;
  std::vector<detail::text_row> rows{{"part", "device", "expected", "measured", "ratio", "cost"}};
  for (const verified_part& p : all.parts) rows.push_back(detail::verified_row(p.name, p.device, name_of(p.origin), p));
  rows.push_back(detail::verified_row("latency", "", "", all.latency));
  rows.push_back(detail::verified_row("between results", "", "", all.interval));
  std::string text = detail::text_table(rows);
  for (const verified_budget& b : all.budgets) {
    text += "budget of ";
    detail::append_bound(text, b.bound);
    text += (b.is_exceeded() ? ": exceeded, " : ": holds, ") + time_text(b.measured) + '\n';
  }
  if (!all.keeps_up()) text += "items come for a result every " + time_text(all.pace) + ", which is too fast\n";
  if (!all.costs_hold())
    text += "the parts take " + detail::ratio_text(all.ratio()) + " what their costs say: measure these again\n";
  if (!all.is_of_this_machine() && !all.costs_of.empty())
    text += "costs of " + detail::printable_text(all.costs_of) + "; this is " + detail::printable_text(all.here) + '\n';
  return text;
}

/// The same as one JSON object.
inline std::string json_report(const verification& all) {
  detail::json_writer json;
  detail::write_verification(json, all);
  return json.take();
}

}  // namespace levada
