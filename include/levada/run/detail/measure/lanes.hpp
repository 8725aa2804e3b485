// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/lanes.hpp: the places where threads that run stages write measurements. Each has a lane to itself
// for as long as it writes.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <levada/core/detail/exchange.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/measure/histogram.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// A small number of this thread's own.
inline std::size_t thread_number() {
  static atomic<std::size_t> threads{0};
  thread_local std::size_t mine = 0;
  if (mine == 0) mine = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine - 1;
}

/// The measurements of threads that run stages: one thread at a time.
struct alignas(64) meter_lane {
  struct unit_record {
    atomic<std::uint64_t> items{0};
    histogram time, waited;
    atomic<std::uint64_t> failed{0}, filtered{0}, overdue{0}, cancelled{0};
  };
  atomic<bool> taken{false};
  fixed_array<unit_record> units;
  fixed_array<histogram> waits;  ///< before segments
  std::uint32_t grains = 0;      ///< that were taken up here
  atomic<std::uint32_t> share{100};
  trace_ring trace;

  /// Whether the next grain is timed: as many as keep that under one part in `share` of the time that grains take.
  bool times(std::uint64_t expected_ns, std::size_t unit_count) {
    const std::uint64_t least_ns = share.load(std::memory_order_relaxed) * (100 + 50 * unit_count);
    if (trace.is_on()) return true;
    if (expected_ns == 0 || expected_ns >= least_ns) return true;
    return grains++ % std::min<std::uint64_t>(64, least_ns / expected_ns + 1) == 0;
  }
};

/// The lanes of an engine: one for each thread that has a permit, one for each device, and one for all others, who have
/// it for a moment.
template <class = void>
class basic_meter_lanes {
 public:
  [[gnu::cold]] explicit basic_meter_lanes(const program& code)
      : lanes_(static_cast<std::size_t>(code.threads) + code.segments.size() + 1) {
    for (meter_lane& l : lanes_) {
      l.units = fixed_array<meter_lane::unit_record>(code.units.size());
      l.waits = fixed_array<histogram>(code.segments.size());
    }
  }

  /// One that nobody has, until its `taken` is false.
  meter_lane& take() {
    for (std::size_t i = thread_number();; ++i) {
      meter_lane& l = lanes_[i % lanes_.size()];
      if (!l.taken.load(std::memory_order_relaxed) && !l.taken.exchange(true, std::memory_order_acquire)) return l;
    }
  }

  /// So many of the last events of each lane are kept from now on, in fresh rings; as before where there is no memory
  /// for them.
  void trace(std::size_t events) {
    fixed_array<trace_ring> fresh(lanes_.size(), [&](std::size_t) { return trace_ring(events); });
    traces_.store(false);
    for (std::size_t i = 0; i < lanes_.size(); ++i) in_lane(lanes_[i], [&] { swap_values(lanes_[i].trace, fresh[i]); });
    traces_.store(events != 0);
  }
  /// Timing grains takes at most one part in so many of their time.
  void set_share(std::uint32_t parts) {
    for (meter_lane& l : lanes_) l.share.store(parts, std::memory_order_relaxed);
  }
  bool traces() const { return traces_.load(std::memory_order_relaxed); }

  template <class Trace>
  void write_trace_to(Trace& t) {
    for (meter_lane& l : lanes_) in_lane(l, [&] { l.trace.copy_to(t); });
  }

  /// Of all lanes together.
  template <class Stages>
  void write_stages_to(Stages& stages) const {
    for (std::size_t u = 0; u < stages.size(); ++u) {
      merged_histogram time, waited;
      auto& to = stages[u];
      for (const meter_lane& l : lanes_) {
        const meter_lane::unit_record& r = l.units[u];
        time.add(r.time), waited.add(r.waited);
        to.items += r.items.load(std::memory_order_relaxed);
        to.failed += r.failed.load(std::memory_order_relaxed),
            to.filtered += r.filtered.load(std::memory_order_relaxed);
        to.overdue += r.overdue.load(std::memory_order_relaxed);
        to.cancelled += r.cancelled.load(std::memory_order_relaxed);
      }
      waited.add_zeros(time.count() - std::min(time.count(), waited.count()));
      to.time = time.summary(), to.waited = waited.summary();
    }
  }
  distribution waits_before(std::size_t segment) const {
    merged_histogram waits;
    for (const meter_lane& l : lanes_) waits.add(l.waits[segment]);
    return waits.summary();
  }

 private:
  template <class F>
  void in_lane(meter_lane& l, F f) {
    while (l.taken.exchange(true, std::memory_order_acquire)) yield_thread();
    struct leave {
      meter_lane& of;
      ~leave() { of.taken.store(false, std::memory_order_release); }
    } const at_end{l};
    f();
  }

  fixed_array<meter_lane> lanes_;
  atomic<bool> traces_{false};
};
using meter_lanes = basic_meter_lanes<>;

}  // namespace levada::detail
