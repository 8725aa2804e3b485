// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/prometheus.hpp: measurements in Prometheus' text exposition format 0.0.4, for the program's own server.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/plan/detail/text.hpp>
#include <levada/run/detail/measure/statistics.hpp>

namespace levada {

/// A label of every sample: "pipeline", "camera 2".
struct prometheus_label {
  std::string_view name;
  std::string_view value;
};

/// One of several sessions on a page, and its label.
struct labelled_statistics {
  std::span<const prometheus_label> labels;
  session_statistics statistics;
};

namespace detail {

/// The value of a label as it stands in its quotes: a page is UTF-8, and to Prometheus it ends at a byte of 0.
inline void append_label_value(std::string& text, std::string_view value) {
  append_utf8(text, value, [&](char c) {
    if (c == '\0')
      text += "\xef\xbf\xbd";
    else if (c == '\n')
      text += "\\n";
    else if (c == '\\' || c == '"')
      (text += '\\') += c;
    else
      text += c;
  });
}

class prometheus_writer {
 public:
  /// Samples from here on are of the session of these labels.
  void begin_session(std::span<const prometheus_label> labels) {
    common_.clear();
    for (const prometheus_label& l : labels) append_label(common_, l.name, l.value);
  }
  /// The lines before the samples of a metric, whose names all begin with `name`.
  void metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
    text_.append(name).append(" ").append(type).append("\n");
  }
  void sample(const std::string& labels, std::string_view value, std::string_view suffix = {}) {
    text_.append(name_).append(suffix);
    if (!common_.empty() || !labels.empty()) {
      text_ += '{';
      text_ += common_;
      if (!common_.empty() && !labels.empty()) text_ += ',';
      text_ += labels;
      text_ += '}';
    }
    text_.append(" ").append(value).append("\n");
  }
  void sample(const std::string& labels, std::uint64_t value, std::string_view suffix = {}) {
    sample(labels, digits(value), suffix);
  }
  /// Of nanoseconds, in seconds.
  void summary(const std::string& labels, const distribution& d) {
    const auto quantile = [&](std::string_view q, std::uint64_t ns) {
      std::string with = labels;
      append_label(with, "quantile", q);
      sample(with, d.count != 0 ? seconds(ns) : "NaN");
    };
    quantile("0", d.min);
    quantile("0.5", d.median);
    quantile("0.99", d.p99);
    quantile("1", d.max);
    sample(labels, seconds(d.sum), "_sum");
    sample(labels, d.count, "_count");
  }

  /// Adds `name="value"`, escaped, to a list.
  static void append_label(std::string& list, std::string_view name, std::string_view value) {
    if (!list.empty()) list += ',';
    list.append(name).append("=\"");
    append_label_value(list, value);
    list += '"';
  }
  static std::string digits(std::uint64_t n) {
    return written_text([&](std::string& into) { append_number(into, static_cast<std::size_t>(n)); });
  }

  std::string text() && { return std::move(text_); }

 private:
  /// All digits of them.
  static std::string seconds(std::uint64_t ns) {
    std::string text = digits(ns / 1'000'000'000) + ".";
    const std::string part = digits(ns % 1'000'000'000);
    return text.append(9 - part.size(), '0') + part;
  }

  std::string text_, common_;
  std::string_view name_;
};

/// Letters, digits and underscores, no digit first, and no name that is Prometheus' or ours.
constexpr bool is_label_name(std::string_view name) {
  if (name.empty() || name.starts_with("__") || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name)
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
  for (const std::string_view taken :
       {"stage", "position", "segment", "rate_region", "outcome", "part", "quantile", "le"})
    if (name == taken) return false;
  return true;
}

/// Label names are names, and no two sessions have the same labels: to Prometheus, in any order, and those without a
/// value are none.
inline void check_labels(std::span<const labelled_statistics> sessions) {
  std::vector<std::vector<std::pair<std::string_view, std::string>>> seen;
  for (const labelled_statistics& one : sessions) {
    auto& labels = seen.emplace_back();
    for (const auto& [name, value] : one.labels) {
      const auto has_name = [n = name](const prometheus_label& l) { return l.name == n; };
      if (!is_label_name(name) || std::count_if(one.labels.begin(), one.labels.end(), has_name) != 1)
        throw error("levada: prometheus_text: label \"" + std::string(name) + "\" cannot be used");
      if (value.empty()) continue;
      append_label_value(labels.emplace_back(name, std::string()).second, value);
    }
    std::sort(labels.begin(), labels.end());
    if (std::count(seen.begin(), seen.end(), labels) != 1)
      throw error("levada: prometheus_text: two sessions have the same labels");
  }
}

}  // namespace detail

/// The statistics of several sessions as Prometheus scrapes them: one page, since none may have a metric in two places.
/// Times are in seconds; `labels` tell sessions apart; stages are labelled with their name and their position.
///
/// Throws levada::error for a label name that Prometheus does not take, or that is used here, and for two sessions of
/// the same labels.
inline std::string prometheus_text(std::span<const labelled_statistics> sessions) {
  detail::check_labels(sessions);
  using writer = detail::prometheus_writer;
  using statistics = const session_statistics&;
  writer w;
  const auto metric = [&](std::string_view name, std::string_view type, std::string_view help, auto samples) {
    w.metric(name, type, help);
    for (const labelled_statistics& one : sessions) w.begin_session(one.labels), samples(one.statistics);
  };
  const auto label = [](std::string_view name, std::string_view value) {
    std::string list;
    writer::append_label(list, name, value);
    return list;
  };
  const auto of_stages = [&](std::string_view name, std::string_view type, std::string_view help, auto samples) {
    metric(name, type, help, [&](statistics s) {
      for (std::size_t i = 0; i < s.stages.size(); ++i) {
        std::string list = label("stage", s.stages[i].name);
        writer::append_label(list, "position", writer::digits(i));
        samples(list, s.stages[i]);
      }
    });
  };
  const auto of_segments = [&](std::string_view name, std::string_view help, auto samples) {
    metric(name, "summary", help, [&](statistics s) {
      for (std::size_t i = 0; i < s.segments.size(); ++i) samples(label("segment", writer::digits(i)), s.segments[i]);
    });
  };
  using list = const std::string&;

  metric("levada_items_pushed_total", "counter", "Items given to the pipeline.",
         [&](statistics s) { w.sample({}, s.items.pushed); });
  const auto by_outcome = [&](const std::string& before, const item_counts& c) {
    w.sample(before + label("outcome", "delivered"), c.delivered);
    w.sample(before + label("outcome", "failed"), c.failed);
    w.sample(before + label("outcome", "filtered"), c.filtered);
    w.sample(before + label("outcome", "dropped"), c.dropped);
    w.sample(before + label("outcome", "cancelled"), c.cancelled);
  };
  metric("levada_items_total", "counter", "Items that left the pipeline, by what became of them.",
         [&](statistics s) { by_outcome({}, s.items); });
  metric("levada_items_dropped_total", "counter", "Items that were dropped, by why.", [&](statistics s) {
    for (const auto& reason : detail::drop_reason_texts)
      w.sample(label("reason", reason.name), s.items.drops.*reason.count);
  });
  metric("levada_pushes_refused_total", "counter", "Pushes that found no room and left their item with the caller.",
         [&](statistics s) { w.sample({}, s.items.refused); });
  metric("levada_items_in_flight", "gauge", "Items in the pipeline.",
         [&](statistics s) { w.sample({}, s.items.in_flight); });
  metric("levada_slots", "gauge", "Items that fit into the pipeline.", [&](statistics s) { w.sample({}, s.slots); });

  of_stages("levada_stage_items_total", "counter", "Items that came to a stage.",
            [&](list of, const stage_statistics& s) { w.sample(of, s.items); });
  of_stages("levada_stage_ended_total", "counter", "Items that ended at a stage, by how.",
            [&](list of, const stage_statistics& s) {
              w.sample(of + "," + label("outcome", "failed"), s.failed);
              w.sample(of + "," + label("outcome", "filtered"), s.filtered);
              w.sample(of + "," + label("outcome", "overdue"), s.overdue);
              w.sample(of + "," + label("outcome", "cancelled"), s.cancelled);
            });
  of_stages("levada_stage_seconds", "summary", "Time that a stage takes for an item.",
            [&](list of, const stage_statistics& s) { w.summary(of, s.time); });
  of_stages("levada_stage_waiting_seconds", "summary", "Time that an item stands before a stage.",
            [&](list of, const stage_statistics& s) { w.summary(of, s.waited); });
  of_segments("levada_segment_waiting_seconds", "Time that an item waits to be begun by a segment.",
              [&](list of, const segment_statistics& s) { w.summary(of, s.waited); });
  of_segments("levada_device_seconds", "Time that a device takes for an item, by its own clock.",
              [&](list of, const segment_statistics& s) {
                const auto part = [&](std::string_view name, const distribution& d) {
                  if (d.count != 0) w.summary(of + "," + label("part", name), d);
                };
                part("upload", s.upload);
                part("compute", s.compute);
                part("download", s.download);
              });
  metric("levada_age_seconds", "summary", "Age of items at the output, since their capture.",
         [&](statistics s) { w.summary({}, s.age); });
  const auto changes_rate = [](const labelled_statistics& one) { return !one.statistics.regions_behind.empty(); };
  if (std::any_of(sessions.begin(), sessions.end(), changes_rate))
    metric("levada_region_items_total", "counter", "Items that left a region behind a change of the rate.",
           [&](statistics s) {
             for (std::size_t i = 0; i < s.regions_behind.size(); ++i)
               by_outcome(label("rate_region", writer::digits(i + 1)) + ",", s.regions_behind[i]);
           });
  const auto is_watched = [](const labelled_statistics& one) { return one.statistics.latency_budget != 0; };
  if (std::any_of(sessions.begin(), sessions.end(), is_watched)) {
    metric("levada_late_items_total", "counter", "Items that took longer than their deployment promises.",
           [&](statistics s) {
             if (s.latency_budget != 0) w.sample({}, s.late);
           });
    of_stages("levada_stage_late_items_total", "counter", "Late items that spent most at a stage, or before it.",
              [&](list of, const stage_statistics& s) { w.sample(of, s.late); });
  }
  metric("levada_slots_occupied_max", "gauge", "Most items that were in the pipeline at once, as pushes found it.",
         [&](statistics s) { w.sample({}, s.occupied.max); });
  return std::move(w).text();
}

/// The same of one session.
inline std::string prometheus_text(session_statistics s, std::span<const prometheus_label> labels = {}) {
  const labelled_statistics only[] = {{labels, std::move(s)}};
  return prometheus_text(only);
}

}  // namespace levada
