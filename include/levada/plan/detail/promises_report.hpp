// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/promises_report.hpp: what a deployment promises of its time beside what its plan is expected to take, for
// people and for programs.

#include <cstddef>
#include <string>
#include <string_view>

#include <levada/plan/detail/json_report.hpp>
#include <levada/plan/detail/promised_times.hpp>
#include <levada/plan/detail/text_report.hpp>
#include <levada/plan/detail/time_words.hpp>

namespace levada {
namespace detail {

inline std::string time_text(double seconds) {
  std::string text;
  append_time(text, seconds);
  return text;
}

/// "  cpu           82 % (54.2 ms on 2 workers, detect 35 ms of it)".
inline std::string load_text(const expected_load& load, double pace) {
  std::string text = "  ";
  append_loaded(text, load);
  if (load.of == expected_load::slots) text += " with " + printable_text(load.most.stage);
  text += ": ";
  if (pace > 0) append_percent(text, load.seconds() / pace), text += ", ";
  append_shared(text, load, 1);
  if (load.of != expected_load::device || load.most.seconds >= load.work) return text + '\n';
  text += ", ";
  append_most(text, load.most);
  return text + '\n';
}

inline void write_load(json_writer& json, const expected_load& load, double pace) {
  constexpr std::string_view kinds[] = {"device", "serial stage", "slots"};
  std::string name, most;
  append_loaded(name, load);
  append_part(most, load.most);
  json.open('{');
  json.field("of", kinds[load.of]);
  json.field("name", name);
  json.field("most_at", most);
  json.field("most_seconds", load.most.seconds);
  json.field("work_seconds", load.work);
  json.field("workers", load.workers);
  if (pace > 0) json.field("load", load.seconds() / pace);
  json.close('}');
}

inline void write_promises(json_writer& json, const promised_times& all) {
  const pipeline_time& time = all.time;
  json.open('{');
  if (time.pace > 0) json.field("pace_seconds", time.pace);
  json.field("drops", all.drops);
  json.key("budgets");
  json.open('[');
  for (std::size_t b = 0; b < all.bounds.size(); ++b) {
    json.open('{');
    json.field("of", all.bounds[b].of_latency ? std::string_view("latency") : std::string_view("interval"));
    json.field("most_seconds", all.bounds[b].most.seconds());
    json.field("quantile", all.bounds[b].at == quantile::p95 ? std::string_view("p95") : std::string_view("median"));
    json.field("expected_seconds", all.expected[b]);
    json.close('}');
  }
  json.close(']');
  json.field("latency_seconds", time.latency);
  json.field("waiting_seconds", time.waiting);
  if (time.depends_on_items.empty()) {
    json.field("interval_seconds", time.interval());
    if (time.pace > 0) json.field("dropped", time.dropped());
  }
  write_list(json, "loads", all.loads, [&](const expected_load& load) { write_load(json, load, time.pace); });
  json.key("costs");
  json.open('{');
  json.field("machine", all.machine);
  json.field("date", all.date);
  json.field("all", time.known.all);
  json.field("measured", time.known.measured);
  json.field("estimated", time.known.estimated);
  json.close('}');
  json.close('}');
}

}  // namespace detail

/// What is promised, what is expected, what is loaded how much, and by which costs.
inline std::string text_report(const promised_times& all) {
  using detail::printable_text;
  using detail::time_text;
  const pipeline_time& time = all.time;
  std::string text;
  if (time.pace > 0) text += "an item every " + time_text(time.pace) + '\n';
  for (std::size_t b = 0; b < all.bounds.size(); ++b) {
    text += "budget of ";
    detail::append_bound(text, all.bounds[b]);
    text += ", expected " + time_text(all.expected[b]) + '\n';
  }
  text += "latency " + time_text(time.latency);
  if (time.waiting > 0) text += ", ", detail::append_waiting(text, time);
  text += "; most at ";
  detail::append_part(text, time.longest);
  text += ", " + time_text(time.longest.seconds) + '\n';
  if (!time.depends_on_items.empty()) {
    text += "loads are not known: the rate of " + printable_text(time.depends_on_items) + " depends on its items\n";
  } else {
    text += "a result every " + time_text(time.interval()) + "; loads" +
            (time.pace > 0 ? " at this pace:\n" : " of an item:\n");
    for (const expected_load& load : all.loads) text += detail::load_text(load, time.pace);
    if (time.dropped() > 0) {
      text += "dropped, since items come faster: ";
      detail::append_percent(text, time.dropped());
      text += '\n';
    }
  }
  text += "costs ";
  if (!all.machine.empty()) text += "of " + printable_text(all.machine) + ", ";
  if (!all.date.empty()) text += printable_text(all.date) + ", ";
  detail::append_known(text, time.known);
  return text + '\n';
}

/// The same as one JSON object.
inline std::string json_report(const promised_times& all) {
  detail::json_writer json;
  detail::write_promises(json, all);
  return json.take();
}

}  // namespace levada
