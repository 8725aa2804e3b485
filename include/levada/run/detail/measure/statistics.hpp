// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/statistics.hpp: the measurements of a session or stream, taken while it was asked to, as plain
// values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <levada/run/detail/program/item_counts.hpp>

namespace levada {

/// Whether sessions can measure themselves. Where the whole program is compiled with LEVADA_NO_STATISTICS they cannot:
/// no instruction is left of it, and `measure` and `trace` do nothing.
#ifdef LEVADA_NO_STATISTICS
inline constexpr bool has_statistics = false;
#else
inline constexpr bool has_statistics = true;
#endif

/// Many numbers, in short. Count, sum, minimum and maximum are exact, the others at most a sixteenth off. All 0 where
/// none.
struct distribution {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t min = 0;
  std::uint64_t median = 0;
  std::uint64_t p99 = 0;
  std::uint64_t max = 0;
};

/// The stages that run as one: a callable, or ops in one kernel.
struct stage_statistics {
  std::string name;         ///< as in the plan's report: "conv1 + relu"
  std::size_t segment = 0;  ///< where it runs
  std::uint64_t items = 0;  ///< that came to it
  /// ns an item. Items that a worker takes through together count as their mean; where stages are so short that reading
  /// the clock would show, some of them are timed, and `time.count` is less than `items`.
  distribution time;
  distribution
      waited;  ///< ns that the timed items stood before it, between two stages: for their turn, or for a worker
  std::uint64_t failed = 0;  ///< items that ended here, by how
  std::uint64_t filtered = 0;
  std::uint64_t overdue = 0;  ///< past their deadline, and dropped before it
  std::uint64_t cancelled = 0;
  std::uint64_t late = 0;  ///< of all late items those that spent most here, or before it
};

/// A segment as its items find it.
struct segment_statistics {
  /// ns from when an item was there, pushed or through the segment before, until it was begun; of the timed items.
  distribution waited;
  /// ns an item of a device's own clock, where it has one: copied in, computed, copied out. None where memory is used
  /// in place.
  distribution upload, compute, download;
  /// Its items are taken where the segment before, on a Vulkan device too, left them; the plan says which might be.
  /// Always holds.
  bool is_direct = false;
};

/// The measurements of the time when they were switched on; `items` and `slots` always hold. Taken while items are in
/// flight, figures may be some items apart.
template <class = void>
struct basic_session_statistics {
  item_counts items;
  std::vector<stage_statistics> stages;
  std::vector<segment_statistics> segments;
  distribution
      age;  ///< ns of values and failures at the output, since their capture, or their push where none was given
  distribution occupied;  ///< slots in use, after each push
  std::size_t slots = 0;
  std::uint64_t latency_budget = 0;         ///< ns that the deployment promises (run/promises.hpp); 0: nothing
  std::uint64_t late = 0;                   ///< items that took longer, from push, or capture, until they were popped
  std::vector<item_counts> regions_behind;  ///< of those behind a change of the rate, each of its own items
};
using session_statistics = basic_session_statistics<>;

template <class>
struct basic_session_trace;  ///< defined in run/detail/measure/trace_log.hpp
using session_trace = basic_session_trace<void>;

namespace detail {

/// A reason to drop items, as a name, for people, and its count.
struct drop_reason_text {
  std::string_view name, text;
  std::uint64_t drop_counts::*count;
};
inline constexpr drop_reason_text drop_reason_texts[] = {
    {"replaced", "replaced by newer ones", &drop_counts::replaced},
    {"rejected", "rejected at admission", &drop_counts::rejected},
    {"partnerless", "without partners", &drop_counts::partnerless},
    {"partial", "left over of a batch", &drop_counts::partial},
    {"overdue", "overdue before a stage", &drop_counts::overdue},
    {"overdue_at_output", "overdue at the output", &drop_counts::overdue_at_output}};

/// Adds the measurements behind a change of the rate to `all`. `items` and slots stay those of the first region, the
/// age becomes that of the last.
template <class Statistics>
void append(Statistics& all, Statistics behind) {
  for (auto& stage : behind.stages) stage.segment += all.segments.size();
  all.stages.insert(all.stages.end(), behind.stages.begin(), behind.stages.end());
  all.segments.insert(all.segments.end(), behind.segments.begin(), behind.segments.end());
  all.regions_behind.push_back(behind.items);
  all.age = behind.age;
  all.latency_budget = behind.latency_budget, all.late = behind.late;
}

}  // namespace detail
}  // namespace levada
