// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/trace.hpp: a session's trace in the JSON trace event format, which Perfetto and chrome://tracing open.
// Workers are threads with grains and, inside, the stages; items that wait, items at devices and what these do are
// async events, and so are items that took longer than was promised and the requests of a service; the slots of each
// region are a counter.

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/detail/whole_file.hpp>
#include <levada/plan/detail/json_report.hpp>
#include <levada/run/detail/measure/trace_log.hpp>

namespace levada {
namespace detail {

/// Writes events one by one, times from `origin` on.
class trace_writer {
 public:
  trace_writer(std::ostream& to, std::uint64_t origin) : to_(to), origin_(origin) { to_ << "{\"traceEvents\":["; }
  void end(const session_trace& of) {
    to_ << "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten\":" << of.overwritten;
    if (of.context) to_ << ",\"traceparent\":\"" << of.context->text() << '"';
    to_ << "}}\n";
  }

  void name_thread(std::uint32_t thread) {
    json_writer json = head("thread_name", "M", thread);
    json.key("args"), json.open('{');
    json.field("name", "worker " + std::to_string(thread));
    close(json);
  }
  /// A slice of a thread's time.
  void complete(std::string_view name, const trace_event& e) {
    json_writer json = head(name, "X", e.thread);
    json.field("ts", microseconds(e.begin - origin_));
    json.field("dur", microseconds(e.end - e.begin));
    close_with_items(json, e);
  }
  /// Those of one name may overlap, and are told apart by their item.
  void async(std::string_view name, std::string_view category, const trace_event& e) {
    for (const bool begins : {true, false}) {
      json_writer json = async_head(name, category, begins, e, e.thread);
      close_with_items(json, e);
    }
  }
  void request(const traced_request& r) {
    for (const bool begins : {true, false}) {
      json_writer json = async_head("request", "request", begins, r, 0);
      json.key("args"), json.open('{');
      json.field("item", static_cast<std::size_t>(r.item));
      json.field("items", static_cast<std::size_t>(r.items));
      json.field("traceparent", r.caller.text());
      close(json);
    }
  }
  void counter(std::string_view name, const trace_event& e) {
    json_writer json = head(name, "C", 0);
    json.field("ts", microseconds(e.begin - origin_));
    json.key("args"), json.open('{');
    json.field("in use", std::size_t{e.count});
    close(json);
  }

 private:
  static double microseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }
  static json_writer head(std::string_view name, std::string_view phase, std::uint32_t thread) {
    json_writer json;
    json.open('{');
    json.field("name", name);
    json.field("ph", phase);
    json.field("pid", 1);
    json.field("tid", std::size_t{thread});
    return json;
  }
  json_writer async_head(std::string_view name, std::string_view category, bool begins, const auto& of,
                         std::uint32_t thread) const {
    json_writer json = head(name, begins ? "b" : "e", thread);
    json.field("cat", category);
    json.field("id", std::to_string(of.item));
    json.field("ts", microseconds((begins ? of.begin : of.end) - origin_));
    return json;
  }
  void close_with_items(json_writer& json, const trace_event& e) {
    json.key("args"), json.open('{');
    json.field("item", static_cast<std::size_t>(e.item));
    json.field("items", std::size_t{e.count});
    close(json);
  }
  void close(json_writer& json) {
    json.close('}'), json.close('}');
    to_ << (std::exchange(is_first_, false) ? "\n" : ",\n") << json.take();
  }

  std::ostream& to_;
  const std::uint64_t origin_;
  bool is_first_ = true;
};

}  // namespace detail

/// Writes the trace as one JSON object.
inline void write_trace(std::ostream& to, const session_trace& trace) {
  std::uint64_t origin = ~std::uint64_t{0};
  std::vector<std::uint32_t> threads;
  for (const trace_event& e : trace.events) {
    origin = std::min(origin, e.begin);
    if (e.kind == trace_kind::grain) threads.push_back(e.thread);
  }
  for (const traced_request& r : trace.requests) origin = std::min(origin, r.begin);
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());

  detail::trace_writer w(to, origin);
  for (const std::uint32_t t : threads) w.name_thread(t);
  for (const trace_event& e : trace.events) {
    switch (e.kind) {
      case trace_kind::grain:
        w.complete("segment " + std::to_string(e.what), e);
        break;
      case trace_kind::stage:
        w.complete(trace.stages[e.what], e);
        break;
      case trace_kind::waiting:
        w.async("before " + trace.stages[e.what], "waiting", e);
        break;
      case trace_kind::device:
        w.async("segment " + std::to_string(e.what), "device", e);
        break;
      case trace_kind::upload:
        w.async("upload", "device", e);
        break;
      case trace_kind::compute:
        w.async("compute", "device", e);
        break;
      case trace_kind::download:
        w.async("download", "device", e);
        break;
      case trace_kind::occupied:
        w.counter(e.what == 0 ? "slots" : "slots of rate region " + std::to_string(e.what), e);
        break;
      case trace_kind::late:
        w.async(e.what == trace_event::no_unit ? "late" : "late at " + trace.stages[e.what], "late", e);
        break;
    }
  }
  for (const traced_request& r : trace.requests) w.request(r);
  w.end(trace);
}

/// The same into a file. Throws levada::error where it cannot be written; what was there is there then.
inline void write_trace(const std::string& path, const session_trace& trace) {
  std::ostringstream text;
  write_trace(text, trace);
  detail::write_whole(path, text.view(), "trace");
}

}  // namespace levada
