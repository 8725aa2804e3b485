// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/statistics_report.hpp: measurements for people: a line for each stage, then the session as a
// whole.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <levada/plan/detail/text_report.hpp>
#include <levada/run/detail/measure/statistics.hpp>

namespace levada {
namespace detail {

inline std::string duration_text(std::uint64_t ns) {
  constexpr std::string_view units[] = {"ns", "us", "ms", "s"};
  return scaled_text(static_cast<double>(ns), 1000, units);
}

/// "median 1.2 us, p99 3.4 us, max 5.6 us", or "-".
inline std::string durations_text(const distribution& d) {
  if (d.count == 0) return "-";
  return "median " + duration_text(d.median) + ", p99 " + duration_text(d.p99) + ", max " + duration_text(d.max);
}

inline void append_ended(std::string& text, std::uint64_t count, std::string_view how) {
  if (count == 0) return;
  if (!text.empty()) text += ", ";
  append_number(text, count);
  text += ' ';
  text += how;
}

/// A line for each part of what a device did, where it said so.
inline std::string on_device_text(std::size_t segment, const segment_statistics& s) {
  std::string text;
  if (s.is_direct) text += "segment " + decimal_text(segment) + " takes items where the device before it left them\n";
  const auto line = [&](std::string_view part, const distribution& d) {
    if (d.count != 0) (text += part) += " of segment " + decimal_text(segment) + "  " + durations_text(d) + '\n';
  };
  line("upload", s.upload), line("compute", s.compute), line("download", s.download);
  return text;
}

inline text_row statistics_row(const stage_statistics& s) {
  std::string ended;
  append_ended(ended, s.failed, "failed");
  append_ended(ended, s.filtered, "filtered");
  append_ended(ended, s.overdue, "overdue");
  append_ended(ended, s.cancelled, "cancelled");
  const auto time = [&](std::uint64_t ns) { return s.time.count != 0 ? duration_text(ns) : std::string("-"); };
  return {decimal_text(s.segment),    printable_text(s.name),
          decimal_text(s.items),      time(s.time.min),
          time(s.time.median),        time(s.time.p99),
          time(s.time.max),           s.waited.count != 0 ? duration_text(s.waited.p99) : "-",
          ended.empty() ? "-" : ended};
}

/// "late              3 above 2.0 ms: 2 at detect".
inline std::string late_text(const session_statistics& s) {
  std::string text = "late              " + decimal_text(s.late) + " above " + duration_text(s.latency_budget), where;
  for (const stage_statistics& stage : s.stages) append_ended(where, stage.late, "at " + printable_text(stage.name));
  if (!where.empty()) text += ": " + where;
  return text;
}

/// "1000 pushed, 990 delivered, 10 failed".
inline std::string counts_text(const item_counts& c) {
  std::string items = decimal_text(c.pushed) + " pushed", why;
  append_ended(items, c.delivered, "delivered");
  append_ended(items, c.failed, "failed");
  append_ended(items, c.filtered, "filtered");
  append_ended(items, c.dropped, "dropped");
  for (const auto& reason : drop_reason_texts) append_ended(why, c.drops.*reason.count, reason.text);
  if (!why.empty()) (items += " (").append(why) += ')';
  append_ended(items, c.cancelled, "cancelled");
  append_ended(items, c.in_flight, "in flight");
  append_ended(items, c.refused, "refused beside them");
  return items;
}

}  // namespace detail

/// The measurements: a table of the stages, then waiting, age, slots and the outcomes of items, of each rate region.
inline std::string report(const session_statistics& s) {
  std::vector<detail::text_row> rows{
      {"segment", "stages", "items", "min", "median", "p99", "max", "waited p99", "ended here"}};
  for (const stage_statistics& stage : s.stages) rows.push_back(detail::statistics_row(stage));
  std::string text = detail::text_table(rows) + '\n';
  for (std::size_t i = 0; i < s.segments.size(); ++i)
    text += "before segment " + detail::decimal_text(i) + "  " + detail::durations_text(s.segments[i].waited) + '\n' +
            detail::on_device_text(i, s.segments[i]);
  text += "age at output     " + detail::durations_text(s.age);
  if (s.latency_budget != 0) text += '\n' + detail::late_text(s);
  text += "\nslots in use      ";
  if (s.occupied.count == 0)
    text += "-";
  else
    text += "median " + detail::decimal_text(s.occupied.median) + ", max " + detail::decimal_text(s.occupied.max);
  text += " of " + detail::decimal_text(s.slots) + "\nitems             ";
  text += detail::counts_text(s.items);
  for (std::size_t i = 0; i < s.regions_behind.size(); ++i)
    text += "\nof rate region " + detail::decimal_text(i + 1) + "  " + detail::counts_text(s.regions_behind[i]);
  return text + '\n';
}

}  // namespace levada
