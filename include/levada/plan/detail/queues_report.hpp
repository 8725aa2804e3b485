// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/queues_report.hpp: what servers store for the parts of a plan, as text and as JSON.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <levada/core/detail/device_queue.hpp>
#include <levada/graph/detail/queue_info.hpp>
#include <levada/plan/detail/json_writer.hpp>
#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/queues.hpp>
#include <levada/plan/detail/text_table.hpp>
#include <levada/plan/detail/words.hpp>

namespace levada {

constexpr std::string_view name_of(retention keeps) {
  constexpr std::string_view names[] = {"work queue", "interest", "limits", "last of each subject"};
  return names[static_cast<std::size_t>(keeps)];
}

namespace detail {

/// What bounds the streams of a unit, as they are in a deployment; none of a plan alone.
template <std::size_t N>
std::span<const stream_bounds> bounds_of(const plan_info<N>& plan, const planned_queue& q,
                                         std::span<const deployed_streams> deployed) {
  for (const deployed_streams& d : deployed)
    if (d.device == plan.segment[plan.unit[q.unit].segment].device) return {d.streams.begin(), d.streams.end()};
  return {};
}

inline std::string count_text(std::size_t count, std::string_view word) {
  return decimal_text(count) + ' ' + std::string(word) + (count == 1 ? "" : "s");
}

/// "detect: 64 slots keep 52 to 64 threads busy, of 16 workers with 4 threads; up to 15 short items share a message,
/// and then 5 messages are all"
template <std::size_t N>
std::string queue_text(const plan_info<N>& plan, const planned_queue& q) {
  std::string text = printable_text(plan.graph.nodes[plan.unit[q.unit].first].name) + ": ";
  if (q.of->partitions != 0)
    text += count_text(q.of->partitions, "partition") + ", each run by one thread at a time, and ";
  const bool is_range = q.sure_threads != 0 && q.sure_threads != q.busy_threads;
  text += count_text(plan.slots, "slot") + " keep " + (is_range ? decimal_text(q.sure_threads) + " to " : "up to ") +
          count_text(q.busy_threads, "thread") + " busy";
  if (q.busy_workers != 0)
    text += ", of " + count_text(q.busy_workers, "worker") + " with " + count_text(q.of->worker_threads, "thread");
  if (q.of->items_a_message == 1) return text + "; each item has a message";
  return text + "; up to " + decimal_text(q.of->items_a_message) + " short items share a message, and then " +
         count_text(q.least_messages, "message") + (q.least_messages == 1 ? " is all" : " are all");
}

/// The streams of a unit, as a table under their titles.
template <std::size_t N>
std::string streams_table(const plan_info<N>& plan, const planned_queue& q,
                          std::span<const deployed_streams> deployed) {
  const auto bounds = bounds_of(plan, q, deployed);
  const auto or_none = [](std::size_t number, const std::string& words) { return number == 0 ? "-" : words; };
  text_row titles{"stream", "subject", "retention", "longest message", "streams"};
  if (!bounds.empty()) titles[5] = "messages", titles[6] = "bytes", titles[7] = "replicas";
  std::vector<text_row> rows{titles};
  for (std::size_t i = 0; i < q.of->streams.size(); ++i) {
    const stream_info& s = q.of->streams[i];
    text_row row{printable_text(s.name), printable_text(s.subject), std::string(name_of(s.keeps)),
                 or_none(s.message_bytes, bytes_text(s.message_bytes)), decimal_text(s.count)};
    if (i < bounds.size()) {
      row[5] = or_none(bounds[i].messages, decimal_text(bounds[i].messages));
      row[6] = or_none(bounds[i].bytes, bytes_text(bounds[i].bytes));
      row[7] = decimal_text(static_cast<std::size_t>(bounds[i].replicas));
    }
    rows.push_back(row);
  }
  return text_table(rows);
}

template <std::size_t N>
void write_queue(json_writer& json, const plan_info<N>& plan, const planned_queue& q,
                 std::span<const deployed_streams> deployed) {
  const auto bounds = bounds_of(plan, q, deployed);
  json.open('{');
  json.field("unit", q.unit);
  json.field("items_a_message", q.of->items_a_message);
  json.field("partitions", q.of->partitions);
  json.field("most_messages", q.most_messages);
  json.field("least_messages", q.least_messages);
  json.field("busy_threads", q.busy_threads);
  if (q.sure_threads != 0) json.field("sure_threads", q.sure_threads);
  if (q.busy_workers != 0) {
    json.field("worker_threads", q.of->worker_threads);
    json.field("busy_workers", q.busy_workers);
  }
  std::size_t i = 0;
  write_list(json, "streams", q.of->streams, [&](const stream_info& s) {
    json.open('{');
    json.field("name", s.name);
    json.field("subject", s.subject);
    json.field("retention", name_of(s.keeps));
    json.field("count", s.count);
    json.field("message_bytes", s.message_bytes);
    if (i < bounds.size()) {
      json.field("most_messages", bounds[i].messages);
      json.field("most_bytes", bounds[i].bytes);
      json.field("replicas", bounds[i].replicas);
    }
    json.close('}');
    ++i;
  });
  json.close('}');
}

}  // namespace detail
}  // namespace levada
