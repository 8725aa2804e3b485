// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/meter.hpp: the reports of an engine while it is measured, and their storage. Grains are timed,
// not items: one reading of the clock for each unit of a grain. Allocated once, when it is first switched on.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/measure/histogram.hpp>
#include <levada/run/detail/measure/lanes.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/program/session_options.hpp>

namespace levada::detail {

/// Hears what became of items, and when, by the steady clock: run/detail/measure/late_watch.hpp.
class item_watcher {
 public:
  using sequence = std::uint64_t;
  using nanoseconds = std::uint64_t;

  explicit item_watcher(nanoseconds most_age) : most(most_age) {}
  virtual ~item_watcher() = default;

  virtual void entered(sequence, std::size_t, nanoseconds) {}
  /// A timed grain with an item that came at `since` was taken up. Before any of its units ran.
  virtual void begun(sequence item, nanoseconds since) = 0;
  virtual void ran(std::size_t unit, sequence first, std::size_t count, nanoseconds at) = 0;
  /// An item older than `most`. `at` is 0 where ages are of another clock.
  virtual void left(sequence item, nanoseconds since, nanoseconds age, nanoseconds at) = 0;
  virtual void write_to(session_statistics& all) const = 0;

  const nanoseconds most;
};

template <class = void>
class basic_meter {
 public:
  using sequence = std::uint64_t;
  using nanoseconds = std::uint64_t;
  using lane = meter_lane;

  static nanoseconds nanoseconds_of(std::chrono::steady_clock::time_point at) {
    return static_cast<nanoseconds>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
  }
  /// Of an item captured at that time: perhaps before the clock began to count, or by a clock that is ahead.
  static nanoseconds age_at(nanoseconds at, std::chrono::steady_clock::time_point captured) {
    const auto since = static_cast<std::int64_t>(at - nanoseconds_of(captured));
    return static_cast<nanoseconds>(std::max<std::int64_t>(since, 0));
  }
  static nanoseconds now() { return nanoseconds_of(std::chrono::steady_clock::now()); }

  /// A lane that a thread has to itself; none where nothing is measured.
  class turn {
   public:
    explicit turn(basic_meter* m) : of_(m) {
      if (m != nullptr) [[unlikely]]
        begin();
    }
    ~turn() {
      if (lane_ != nullptr) [[unlikely]]
        end();
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    explicit operator bool() const { return lane_ != nullptr; }
    basic_meter& of() const { return *of_; }
    typename basic_meter::lane& lane() const { return *lane_; }
    bool traces() const { return lane_->trace.is_on(); }
    /// The turn is for these items.
    void takes(std::size_t segment, sequence first, std::size_t count, nanoseconds at) {
      grain_ = {trace_kind::grain, small(segment), 0, small(count), first, at, at};
    }
    const trace_event& grain() const { return grain_; }
    void note(trace_event e) const {
      e.thread = small(thread_number());
      lane_->trace.add(e);
    }

   private:
    [[gnu::noinline]] void begin() {
      lane_ = &of_->lanes_.take();
      std::construct_at(&grain_);
    }
    [[gnu::noinline]] void end() {
      if (grain_.begin != 0 && lane_->trace.is_on()) {
        grain_.end = now();
        note(grain_);
      }
      lane_->taken.store(false, std::memory_order_release);
    }

    basic_meter* of_;
    typename basic_meter::lane* lane_ = nullptr;
    union {
      trace_event grain_;  ///< where there is a lane
    };
  };

  static constexpr std::uint32_t small(std::size_t n) { return static_cast<std::uint32_t>(n); }

  [[gnu::cold]] explicit basic_meter(const program& code)
      : stamps_(code.slots), devices_(on_devices(code) ? code.segments.size() : 0), lanes_(code) {}

  // ---- told by the pusher ----

  /// Items from `first` on were pushed; so many slots are in use now.
  [[gnu::noinline]] void entered(sequence first, std::size_t count, std::uint64_t occupied) {
    const nanoseconds at = now();
    for_each_stamp(first, count, [&](sequence i, stamp& is) { is = {i, at, at, 0, 0}; });
    if (watcher_) watcher_->entered(first, count, at);
    occupied_.add(occupied);
    if (lanes_.traces())
      turn(this).note({trace_kind::occupied, 0, 0, small(static_cast<std::size_t>(occupied)), first, at, at});
  }
  /// The oldest of these gave way: each of the others is one place before, and the last is new.
  [[gnu::noinline]] void moved_up(sequence first, std::size_t count) {
    stamp* before = nullptr;
    for_each_stamp(first, count, [&](sequence i, stamp& is) {
      if (before != nullptr) *before = is.item == i ? stamp{i - 1, is.entered, is.ready, 0, 0} : stamp{};
      before = &is;
    });
    const nanoseconds at = now();
    *before = {first + count - 1, at, at, 0, 0};
    if (!watcher_) return;
    for_each_stamp(first, count, [&](sequence i, const stamp& is) {
      if (is.item == i) watcher_->entered(i, 1, is.entered);
    });
  }

  // ---- told by the popper ----

  /// Results leave from `first` on, whose envelopes lie side by side. `clock`: whose time their capture times are; all
  /// have one then.
  [[gnu::noinline]] void left(sequence first, std::size_t count, const item_envelope* envelope,
                              const virtual_clock* clock) {
    const nanoseconds at = clock != nullptr ? nanoseconds_of(clock->now()) : now();
    adding_runs ages(age_);
    for_each_stamp(first, count, [&](sequence i, const stamp& is) {
      const auto captured = envelope++->captured;
      const bool is_stamped = clock != nullptr || captured != std::chrono::steady_clock::time_point();
      if (!is_stamped && is.item != i) return;
      const nanoseconds age = is_stamped ? age_at(at, captured) : at - is.entered;
      ages.add(age);
      if (watcher_ && age > watcher_->most && is.item == i) [[unlikely]]
        watcher_->left(i, is.entered, age, clock == nullptr ? at : 0);
    });
  }

  // ---- told by the thread that runs stages ----

  /// Items are begun at segment `s`.
  void begun(lane& l, std::size_t s, sequence first, std::size_t count, nanoseconds at) {
    adding_runs waits(l.waits[s]);
    for_each_stamp(first, count, [&](sequence i, const stamp& is) {
      if (is.item != i) return;
      if (watcher_) watcher_->begun(i, is.entered);
      if (is.segment == s) waits.add(at - std::min(at, is.ready));
    });
  }
  /// They are ready for segment `s`.
  void ready(std::size_t s, sequence first, std::size_t count, nanoseconds at) {
    for_each_stamp(first, count, [&](sequence i, stamp& is) {
      if (is.item == i) is.ready = at, is.segment = s;
    });
  }
  /// An item is given to a device.
  [[gnu::noinline]] void handed(sequence item) {
    for_each_stamp(item, 1, [at = now()](sequence, stamp& is) { is.handed = at; });
  }
  /// It was computed there, by these units.
  [[gnu::noinline]] void computed(std::size_t first, std::size_t end) {
    const turn on(this);
    for (std::size_t u = first; u < end; ++u) add_alone(on.lane().units[u].items, 1);
  }
  /// The device of segment `s` was at it at these times. Told by one thread for each segment.
  [[gnu::noinline]] void on_device(std::size_t s, sequence item, const device_times& times) {
    constexpr trace_kind kinds[] = {trace_kind::upload, trace_kind::compute, trace_kind::download};
    const turn on(this);
    for (std::size_t p = 0; p < device_parts; ++p) {
      const auto [begin, end] = times.parts[p];
      if (end == 0) continue;
      devices_[s].parts[p].add(end - begin);
      if (on.traces()) on.note({kinds[p], small(s), 0, 1, item, begin, end});
    }
  }
  /// It comes back from there, through segment `s`.
  [[gnu::noinline]] void returned(std::size_t s, std::size_t first_unit, sequence item) {
    const nanoseconds at = now();
    for_each_stamp(item, 1, [&](sequence i, const stamp& is) {
      if (is.item != i) return;
      if (is.handed != 0 && lanes_.traces()) turn(this).note({trace_kind::device, small(s), 0, 1, i, is.handed, at});
      if (!watcher_) return;
      watcher_->begun(i, is.entered);
      watcher_->ran(first_unit, i, 1, at);
    });
    ready(s + 1, item, 1, at);
  }
  /// A unit of a timed grain is done with these.
  void ran(std::size_t unit, sequence first, std::size_t count, nanoseconds at) {
    if (watcher_) watcher_->ran(unit, first, count, at);
  }
  static void ended(lane& l, std::size_t unit, item_state as) {
    lane::unit_record& r = l.units[unit];
    add_alone(as == item_state::failed     ? r.failed
              : as == item_state::filtered ? r.filtered
              : as == item_state::dropped  ? r.overdue
                                           : r.cancelled,
              1);
  }

  // ---- told by any thread ----

  /// Before anything is measured.
  void watch_by(item_watcher* watcher) { watcher_ = owner<item_watcher>(watcher); }
  /// meter_lanes::set_share.
  void set_share(std::uint32_t parts) { lanes_.set_share(parts); }

  /// So many of the last events of each lane are kept from now on: meter_lanes::trace.
  void trace(std::size_t events) { lanes_.trace(events); }
  bool traces() const { return lanes_.traces(); }

  // ---- read by any thread ----

  template <class Trace>
  void write_trace_to(Trace& t) {
    lanes_.write_trace_to(t);
  }

  template <class Statistics>
  void write_statistics_to(Statistics& s) const {
    lanes_.write_stages_to(s.stages);
    for (std::size_t i = 0; i < s.segments.size(); ++i) {
      s.segments[i].waited = lanes_.waits_before(i);
      if (devices_.empty()) continue;
      distribution* const parts[] = {&s.segments[i].upload, &s.segments[i].compute, &s.segments[i].download};
      for (std::size_t p = 0; p < device_parts; ++p) {
        merged_histogram times;
        times.add(devices_[i].parts[p]);
        *parts[p] = times.summary();
      }
    }
    merged_histogram age, occupied;
    age.add(age_), occupied.add(occupied_);
    s.age = age.summary(), s.occupied = occupied.summary();
    if (watcher_) watcher_->write_to(s);
  }

 private:
  /// When the item in a slot came. Items that were pushed while nothing was measured have none.
  struct stamp {
    sequence item = ~sequence{0};
    nanoseconds entered = 0, ready = 0;
    std::size_t segment = 0;  ///< that it is ready for
    nanoseconds handed = 0;   ///< to a device; 0: not
  };

  struct device_record {
    histogram parts[device_parts];
  };
  static bool on_devices(const program& code) {
    for (const program_segment& s : code.segments)
      if (s.device.kind != device_kind::cpu) return true;
    return false;
  }

  template <class F>
  void for_each_stamp(sequence first, std::size_t count, F f) {
    auto at = static_cast<std::size_t>(first % stamps_.size());
    for (sequence i = first; i < first + count; ++i) {
      f(i, stamps_[at]);
      if (++at == stamps_.size()) at = 0;
    }
  }

  fixed_array<stamp> stamps_;
  fixed_array<device_record> devices_;  ///< of segments; none where all are the processor's
  meter_lanes lanes_;
  owner<item_watcher> watcher_;  ///< where a deployment promises its latency
  alignas(64) histogram age_;
  alignas(64) histogram occupied_;
};
using meter = basic_meter<>;

}  // namespace levada::detail
