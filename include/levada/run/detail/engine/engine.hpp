// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/engine.hpp: one running instance of a program, the schedule itself. Knows no types and no oneTBB.
//
// Items wait in a ring of slots.
// - A segment has a frontier, the number of items that have arrived there in order, and a claim counter.
// - A worker claims the next items as a grain and runs it through all units of the segment.
// - A serial unit has a ticket, the next item it admits. A grain that finds it taken spins shortly and is then
//   deposited. Whoever is free resumes it.
// - A finished grain leaves a stamp. Who leaves the one that was waited for moves the next frontier on.
//
// engine_parts.hpp has the parts, and says which header has the calls of a topic. Here are the calls about the whole:
// measurements, the threads that are here, and the ends.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <levada/core/detail/trace_context.hpp>
#include <levada/run/detail/engine/engine_links.hpp>
#include <levada/run/detail/engine/engine_parts.hpp>
#include <levada/run/detail/engine/pop_results.hpp>
#include <levada/run/detail/measure/meter.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/workers/asymmetric_fence.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// One running instance of a program.
template <class = void>
class basic_engine final : public result_outlet {
 public:
  /// `borrows_input`: items are the caller's own objects.
  [[gnu::cold]] basic_engine(const program& code, const engine_links& links, permits& concurrency_limit,
                             event_count& event, engine_host& host, bool borrows_input,
                             const session_settings& settings)
      : result_outlet(code, links, concurrency_limit, event, host, borrows_input, settings) {}

  /// Fresh copies of the stage states; nothing may be in flight.
  void reset_states() { states_.reset(code_); }

  item_counts counts() const { return tally_.counts(ring_.pushed, first_); }

  // ---- what it measures of itself ----

  /// From now on, or not. Any thread may say so; the first time allocates.
  void measure(bool on) { meter_.measure(on); }
  /// Measures, and keeps so many events a worker, from now on; goes on as before where there is no memory for them.
  void trace(std::size_t events) { meter_.trace(events); }
  /// Devices that are other machines trace the session as a part of that trace.
  void trace_devices(const trace_context& of) noexcept {
    if (has_devices()) devices_->trace(of);
  }
  /// Before the first item.
  void watch(const watched_latency& what) { meter_.watch(what); }
  /// These are templates, and so is what they call: a program that never asks does not compile them.
  template <class Trace = session_trace>
  Trace traced() const {
    Trace t;
    for (const program_unit& unit : code_.units) t.stages.push_back(unit.name);
    if (meter* m = meter_.made()) m->write_trace_to(t);
    for (auto& event : t.events) event.item -= first_;
    return t;
  }
  template <class Statistics = session_statistics>
  Statistics statistics() const {
    Statistics s;
    s.items = counts();
    s.slots = ring_.slots;
    s.segments.resize(segments_.size());
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      s.segments[i].is_direct = segments_[i].is_direct;
      for (std::size_t u = code_.segments[i].first; u < code_.segments[i].end; ++u) {
        s.stages.emplace_back();
        s.stages.back().name = code_.units[u].name;
        s.stages.back().segment = i;
      }
    }
    if (const meter* m = meter_.made()) m->write_statistics_to(s);
    return s;
  }

  // ---- who is here ----

  /// Behind work that took one.
  void give_back_permit() noexcept {
    concurrency_limit_.release();
    waker_.tell_parked();  // to others of the session who wait for a permit
  }

  /// Changes when there may be more work, results or room than before: what an idle thread looks at, and leaves all
  /// other lines to those who write them. A change may be missed when two come at once; whoever parks looks at
  /// everything.
  std::uint32_t hints() const { return waker_.hints(); }

  void worker_awake() { waker_.worker_awake(); }
  /// The same of one that nobody invited: before it looks at what the one thread that was ever here does.
  void worker_awake_again() {
    worker_awake();
    if (!sole_.lets_others_in()) heavy_fence();
  }

  void worker_asleep() { waker_.worker_asleep(); }
  /// One that is awake has a permit, and gives it back.
  void worker_begins() { waker_.worker_begins(); }
  void worker_ends() { waker_.worker_ends(); }

  /// All there is to do is one stage in order, and what its caller does with the items.
  bool is_single_stage() const {
    return segments_.size() == 1 && !has_devices() && segments_.front().is_single_stage();
  }
  /// An item takes the thread that feeds and fetches so long. Where that is next to nothing beside the single stage, a
  /// second thread would only take the items to and fro.
  void caller_takes(std::uint64_t ns) {
    segment& seg = segments_.front();
    const bool alone = ns * 16 < seg.item_ns.load(std::memory_order_relaxed);
    seg.cheap_ns.store(alone ? ~std::uint32_t{0} : seg.own_cheap_ns(), std::memory_order_relaxed);
  }

  /// A thread that would help parks here; to be said before it looks for the last time.
  void helper_parks() { waker_.helper_parks(); }
  /// It goes on, and may not help any more: what it was relied on for is brought to a worker.
  [[gnu::noinline]] void helper_goes() {
    waker_.helper_goes([&] { return has_work(); });
  }

  /// Looks at devices that tell nobody what has come, in the place of one who is parked. Says whether it pays to look
  /// again at once.
  [[gnu::noinline, gnu::cold]] bool look_at_devices() {
    if (!has_devices() || !devices_->has_silent()) return false;
    helper_parks();
    const bool again = devices_->look();
    helper_goes();
    return again;
  }

  // ---- one stream behind the other ----

  bool borrows_input() const { return !destroys_input_; }
  /// All items have ended: gives up the states of their stages. Says whether others may come, behind `begin_again`;
  /// not where it was measured, where parameters have versions, or where it would keep much memory.
  bool end_for_another() noexcept {
    if (!is_usual_ || completed_ || versions_ || has_devices() || meter_.made() != nullptr) return false;
    if (!states_.can_reset() || bytes_of_items(code_) > most_bytes_kept) return false;
    free_kept();
    states_.end();
    return true;
  }
  /// Items are numbered on: a worker that is still here may look at any number. What is known of the time that they
  /// take stays so.
  void begin_again() {
    states_.begin_again();
    tally_.begin_again();
    first_ = pushed();
    row_ = {};
    segments_.front().forget_caller();
    closed_.store(false);
  }

  // ---- ends ----

  /// Items that are not finished become cancelled, at their next unit; no more are taken.
  void cancel() {
    cancelled_.store(true);
    end_of_items_.store(before_all_items);
    if (has_devices()) devices_->cancel();
    enter();
    wake();
  }

  bool all_finished() const { return finished() == ring_.pushed.load(); }
  /// Where results leave as they complete, slots may be free a moment later.
  bool all_popped() const { return (completed_ || ring_.popped.load() == ring_.pushed.load()) && all_ended(); }
  /// Each item has come to an end that is counted. Once that is so it stays so, until one is pushed.
  bool all_ended() const { return counts().in_flight == 0; }

  /// All that was pushed is finished; and counted, where no result waits before it.
  bool all_settled() {
    if (!all_finished()) return false;
    pass_over();
    return all_counted();
  }

 private:
  static constexpr std::size_t most_bytes_kept = 1'048'576;

  /// Of slots and scratchpads.
  static std::size_t bytes_of_items(const program& code) {
    std::size_t all = code.slots * code.slot_bytes;
    for (const program_segment& s : code.segments) all += s.grains * s.scratch_bytes;
    return all;
  }
};
using engine = basic_engine<>;

}  // namespace levada::detail
