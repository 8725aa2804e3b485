// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/meter.hpp: what an engine tells while it is measured, and where that is kept. Grains are timed,
// not items: one reading of the clock for each unit of a grain. Allocated once, when it is first switched on.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <levada/core/detail/storage.hpp>
#include <levada/core/device_queue.hpp>
#include <levada/run/detail/measure/histogram.hpp>
#include <levada/run/detail/measure/lanes.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/program/unit_call.hpp>

namespace levada::detail {

class meter {
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
    explicit turn(meter* m) : of_(m) {
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
    meter& of() const { return *of_; }
    meter::lane& lane() const { return *lane_; }
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

    meter* of_;
    meter::lane* lane_ = nullptr;
    union {
      trace_event grain_;  ///< where there is a lane
    };
  };

  static constexpr std::uint32_t small(std::size_t n) { return static_cast<std::uint32_t>(n); }

  [[gnu::cold]] explicit meter(const program& code)
      : stamps_(code.slots), devices_(on_devices(code) ? code.segments.size() : 0), lanes_(code) {}

  // ---- told by the pusher ----

  /// Items from `first` on were pushed; so many slots are in use now.
  [[gnu::noinline]] void entered(sequence first, std::size_t count, std::uint64_t occupied) {
    const nanoseconds at = now();
    for_each_stamp(first, count, [&](sequence i, stamp& is) { is = {i, at, at, 0, 0}; });
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
      if (clock != nullptr || captured != std::chrono::steady_clock::time_point())
        ages.add(age_at(at, captured));
      else if (is.item == i)
        ages.add(at - is.entered);
    });
  }

  // ---- told by whoever runs stages ----

  /// Items are begun at segment `s`.
  void begun(lane& l, std::size_t s, sequence first, std::size_t count, nanoseconds at) {
    adding_runs waits(l.waits[s]);
    for_each_stamp(first, count, [&](sequence i, const stamp& is) {
      if (is.item == i && is.segment == s) waits.add(at - std::min(at, is.ready));
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
  [[gnu::noinline]] void returned(std::size_t s, sequence item) {
    const nanoseconds at = now();
    if (lanes_.traces())
      for_each_stamp(item, 1, [&](sequence i, const stamp& is) {
        if (is.item == i && is.handed != 0) turn(this).note({trace_kind::device, small(s), 0, 1, i, is.handed, at});
      });
    ready(s + 1, item, 1, at);
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

  /// So many of the last events of each lane are kept from now on: meter_lanes::trace.
  void trace(std::size_t events) { lanes_.trace(events); }

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
  alignas(64) histogram age_;
  alignas(64) histogram occupied_;
};

/// A grain on its way, as the meter sees it. Belongs to who runs the grain.
class grain_watch {
 public:
  /// The grain holds items that nobody has begun, and is not measured before `runs`.
  void restart() {
    turn_ = nullptr;
    state_ = claimed;
  }
  /// It is left to another worker.
  void deposited() {
    if (state_ == running) state_ = left;
  }
  /// The same grain for a thread that runs a branch of its item.
  grain_watch on_branch(meter::turn& turn, std::size_t s, std::uint64_t first) const {
    grain_watch w;
    if (!turn) return w;
    w.turn_ = &turn;
    if (mark_ != 0) turn.takes(s, first, 1, w.mark_ = meter::now());
    return w;
  }
  /// The branches of its item are done: what is behind them begins now, here or where `runs` says so next.
  void joined(bool here) {
    if (!has_statistics || state_ != running) return;
    if (mark_ != 0) mark_ = meter::now();
    if (!here) state_ = moved;
  }
  bool was_left() const { return has_statistics && __builtin_expect(state_ == left, false); }
  /// A worker runs it from here on, from this unit of segment `s`.
  void runs(meter::turn& turn, std::size_t s, std::size_t unit, std::uint64_t first, std::size_t count,
            std::uint64_t expected_ns) {
    turn_ = nullptr;
    if (turn) [[unlikely]]
      measures(turn, s, unit, first, count, expected_ns);
    else
      state_ = unknown;
  }

  /// Whether anything is measured: the only thing to be asked where nothing is.
  explicit operator bool() const { return has_statistics && __builtin_expect(turn_ != nullptr, false); }

  /// It stood before the unit.
  [[gnu::noinline]] void waited(std::size_t unit, std::uint64_t ns) {
    if (mark_ == 0) return;
    note(trace_kind::waiting, unit, mark_, mark_ + ns);
    if (unit != waited_at_) waited_ = 0;
    waited_at_ = unit;
    waited_ += ns;
    mark_ += ns;
  }
  /// An item ended at the unit.
  [[gnu::noinline]] void ended(std::size_t unit, item_state as) {
    if (as == item_state::failed || as == item_state::filtered) ++lost_;
    meter::ended(turn_->lane(), unit, as);
  }
  /// The unit ran.
  [[gnu::noinline]] void ran(std::size_t unit, const unit_call& call) {
    std::size_t count = call.count;
    const std::size_t lost = std::exchange(lost_, 0);
    if (call.some_ended) {
      count = lost;
      for (std::size_t i = 0; i < call.count; ++i) count += state_of(call.state[i]) == item_state::value ? 1u : 0u;
      if (count == 0) return;
    }
    auto& record = turn_->lane().units[unit];
    add_alone(record.items, count);
    if (mark_ == 0) return;
    const std::uint64_t at = meter::now(), took = at - mark_;
    note(trace_kind::stage, unit, mark_, at);
    mark_ = at;
    record.time.add(count == 1 ? took : took / count, count, took);
    if (waited_ != 0 && unit == waited_at_) record.waited.add(waited_, count);
  }
  /// The grain is ready for segment `s`.
  void ready(std::size_t s, std::uint64_t first, std::size_t count) {
    turn_->of().ready(s, first, count, mark_ != 0 ? mark_ : meter::now());
  }

 private:
  [[gnu::noinline]] void measures(meter::turn& turn, std::size_t s, std::size_t unit, std::uint64_t first,
                                  std::size_t count, std::uint64_t expected_ns) {
    turn_ = &turn;
    const auto came = std::exchange(state_, running);
    if (came == unknown) mark_ = 0;
    if (came == claimed) {
      mark_ = waited_ = 0;
      if (!turn.lane().times(expected_ns, turn.lane().units.size())) return;
      mark_ = meter::now();
      turn.of().begun(turn.lane(), s, first, count, mark_);
      turn.takes(s, first, count, mark_);
    } else if (came == moved) {
      if (mark_ != 0) turn.takes(s, first, count, mark_);
    } else if (mark_ != 0) {
      const std::uint64_t at = meter::now();
      turn.takes(s, first, count, at);
      waited(unit, at - mark_);
    }
  }
  void note(trace_kind kind, std::size_t unit, std::uint64_t begin, std::uint64_t end) const {
    if (!turn_->traces()) return;
    trace_event e = turn_->grain();
    e.kind = kind, e.what = meter::small(unit), e.begin = begin, e.end = end;
    turn_->note(e);
  }

  const meter::turn* turn_ = nullptr;
  std::uint64_t mark_ = 0;  ///< when what is timed next began; 0: this grain is not timed
  enum : std::uint8_t { claimed, running, left, moved, unknown } state_ = claimed;
  std::size_t lost_ = 0;      ///< items that the unit lost
  std::uint64_t waited_ = 0;  ///< before the unit
  std::size_t waited_at_ = 0;
};

}  // namespace levada::detail
