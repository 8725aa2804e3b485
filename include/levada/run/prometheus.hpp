// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/prometheus.hpp: what was measured in Prometheus' text exposition format 0.0.4, to be served by whatever serves.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <levada/core/error.hpp>
#include <levada/plan/text.hpp>
#include <levada/run/statistics.hpp>

namespace levada {

/// A label of every sample: "pipeline", "camera 2".
struct prometheus_label {
  std::string_view name;
  std::string_view value;
};

namespace detail {

class prometheus_writer {
 public:
  explicit prometheus_writer(std::span<const prometheus_label> labels) {
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
    for (const char c : value) {
      if (c == '\n') {
        list += "\\n";
        continue;
      }
      if (c == '\\' || c == '"') list += '\\';
      list += c;
    }
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
  for (const std::string_view taken : {"stage", "position", "segment", "outcome", "part", "quantile", "le"})
    if (name == taken) return false;
  return true;
}

}  // namespace detail

/// The statistics as Prometheus scrapes them, times in seconds. `labels` tell sessions apart; stages are labelled with their
/// name and their position. Throws levada::error for a label name that Prometheus does not take, or that is used here.
inline std::string prometheus_text(const session_statistics& s, std::span<const prometheus_label> labels = {}) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    bool wrong = !detail::is_label_name(labels[i].name);
    for (std::size_t j = 0; j < i; ++j) wrong |= labels[j].name == labels[i].name;
    if (wrong) throw error("levada: prometheus_text: label \"" + std::string(labels[i].name) + "\" cannot be used");
  }
  using writer = detail::prometheus_writer;
  writer w(labels);
  const auto label = [](std::string_view name, std::string_view value) {
    std::string list;
    writer::append_label(list, name, value);
    return list;
  };
  const auto of_stage = [&](std::size_t i) {
    std::string list = label("stage", s.stages[i].name);
    writer::append_label(list, "position", writer::digits(i));
    return list;
  };
  const auto of_segment = [&](std::size_t i) { return label("segment", writer::digits(i)); };

  w.metric("levada_items_pushed_total", "counter", "Items given to the pipeline.");
  w.sample({}, s.items.pushed);
  w.metric("levada_items_total", "counter", "Items that left the pipeline, by what became of them.");
  w.sample(label("outcome", "delivered"), s.items.delivered);
  w.sample(label("outcome", "failed"), s.items.failed);
  w.sample(label("outcome", "filtered"), s.items.filtered);
  w.sample(label("outcome", "dropped"), s.items.dropped);
  w.sample(label("outcome", "cancelled"), s.items.cancelled);
  w.metric("levada_items_in_flight", "gauge", "Items in the pipeline.");
  w.sample({}, s.items.in_flight);
  w.metric("levada_slots", "gauge", "Items that fit into the pipeline.");
  w.sample({}, s.slots);

  w.metric("levada_stage_items_total", "counter", "Items that came to a stage.");
  for (std::size_t i = 0; i < s.stages.size(); ++i) w.sample(of_stage(i), s.stages[i].items);
  w.metric("levada_stage_ended_total", "counter", "Items that ended at a stage, by how.");
  for (std::size_t i = 0; i < s.stages.size(); ++i) {
    const stage_statistics& stage = s.stages[i];
    w.sample(of_stage(i) + "," + label("outcome", "failed"), stage.failed);
    w.sample(of_stage(i) + "," + label("outcome", "filtered"), stage.filtered);
    w.sample(of_stage(i) + "," + label("outcome", "dropped"), stage.dropped);
    w.sample(of_stage(i) + "," + label("outcome", "cancelled"), stage.cancelled);
  }
  w.metric("levada_stage_seconds", "summary", "Time that a stage takes for an item.");
  for (std::size_t i = 0; i < s.stages.size(); ++i) w.summary(of_stage(i), s.stages[i].time);
  w.metric("levada_stage_waiting_seconds", "summary", "Time that an item stands before a stage.");
  for (std::size_t i = 0; i < s.stages.size(); ++i) w.summary(of_stage(i), s.stages[i].waited);
  w.metric("levada_segment_waiting_seconds", "summary", "Time that an item waits to be begun by a segment.");
  for (std::size_t i = 0; i < s.segments.size(); ++i) w.summary(of_segment(i), s.segments[i].waited);
  w.metric("levada_device_seconds", "summary", "Time that a device takes for an item, by its own clock.");
  for (std::size_t i = 0; i < s.segments.size(); ++i) {
    const auto part = [&](std::string_view name, const distribution& d) {
      if (d.count != 0) w.summary(of_segment(i) + "," + label("part", name), d);
    };
    part("upload", s.segments[i].upload);
    part("compute", s.segments[i].compute);
    part("download", s.segments[i].download);
  }
  w.metric("levada_age_seconds", "summary", "Age of items at the output, since their capture.");
  w.summary({}, s.age);
  w.metric("levada_slots_occupied_max", "gauge", "Most items that were in the pipeline at once, as pushes found it.");
  w.sample({}, s.occupied.max);
  return std::move(w).text();
}

}  // namespace levada
