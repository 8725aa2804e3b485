// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/engine.hpp: one running instance of a program, the schedule itself. Knows no types and no oneTBB.
//
// Items wait in a ring of slots. Each segment has a frontier, the number of items that have arrived there in order, and a
// claim counter. A worker claims the next items as a grain and runs it through all units of the segment. A serial unit has a
// ticket, the next item it admits; a grain that finds it taken spins shortly, is then deposited, and is resumed by whoever is
// free. Finished grains leave a stamp; whoever leaves the one that was waited for moves the next frontier on.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <thread>

#include <levada/core/device_queue.hpp>
#include <levada/core/error.hpp>
#include <levada/core/storage.hpp>
#include <levada/run/branches.hpp>
#include <levada/run/event_count.hpp>
#include <levada/run/item_counts.hpp>
#include <levada/run/meter.hpp>
#include <levada/run/program.hpp>
#include <levada/run/session_options.hpp>

namespace levada {
namespace detail {

/// What wakes or brings threads from the outside: the deployment.
class engine_host {
 public:
  /// Asks for one more worker to visit the engine.
  virtual void invite() noexcept = 0;

 protected:
  ~engine_host() = default;
};

/// Permits to run stages, shared by all sessions of a deployment: `cpu<N>` runs at most N threads at once, helpers included.
class permits {
 public:
  explicit permits(int count) : count_(count) {}
  bool try_acquire() { return try_acquire_below(count_ - reserved_.load()); }
  bool available() const { return running_.load() < count_ - reserved_.load(); }

  /// The next permit is kept for the caller, who takes it as soon as there is one or says that it needs none any more.
  void reserve() { reserved_.fetch_add(1); }
  bool try_acquire_reserved() {
    if (!try_acquire_below(count_)) return false;
    reserved_.fetch_sub(1);
    return true;
  }
  void give_up_reserved() { reserved_.fetch_sub(1); }
  bool any_left() const { return running_.load() < count_; }

  int running() const { return running_.load(); }
  int count() const { return count_; }
  /// The caller then looks for work once more, or tells those who wait for a permit.
  void release() { running_.fetch_sub(1); }

 private:
  bool try_acquire_below(int most) {
    int running = running_.load();
    while (running < most)
      if (running_.compare_exchange_weak(running, running + 1)) return true;
    return false;
  }

  alignas(64) std::atomic<int> running_{0};
  std::atomic<int> reserved_{0};
  const int count_;
};

class completion;

/// Who hears of each item that fails, on the thread where it fails.
struct failure_hook {
  void (*call)(void* object, std::uint64_t sequence, const std::exception_ptr& why) noexcept = nullptr;
  void* object = nullptr;
};

/// Where the next items go: places a slot apart, their states, and where their addresses are noted when they are borrowed.
struct input_row {
  std::byte* first;
  std::size_t stride;
  item_state* states;
  const void** borrowed;
};

inline std::uint64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count());
}

class engine final : public device_client {
 public:
  using sequence = std::uint64_t;

  /// `queues[s]` is the device of segment `s`, null for the processor. `borrows_input`: items are the caller's own objects.
  [[gnu::cold]] engine(const program& code, fixed_array<device_queue*> queues, permits& crew, event_count& event,
                       engine_host& host, bool borrows_input, const session_settings& settings)
      : code_(code),
        settings_(settings),
        queues_(std::move(queues)),
        crew_(crew),
        event_(event),
        host_(host),
        destroys_input_(!borrows_input || code.owns_input),
        has_devices_(any_device(queues_)),
        goes_short_(!settings.latest_only && !code.board),
        slots_(code.slots),
        slots_mask_((code.slots & (code.slots - 1)) == 0 ? code.slots - 1 : 0),
        slot_memory_(code.slots * code.slot_bytes, code.alignment),
        input_(code.slots),
        state_(code.slots),
        error_(code.slots),
        envelope_(code.slots),
        completion_(code.slots),
        output_(settings.external_results ? code.slots : 0),
        states_(code),
        versions_(code.board ? code.board->open() : owner<object_versions>()),
        objects_(versions_ ? code.slots : 0),
        segments_(code.segments.size(),
                  [&](std::size_t s) {
                    return segment(code.segments[s], slots_, code.slot_bytes, code.alignment, code.threads);
                  }),
        lanes_(queues_.size(),
               [&](std::size_t s) {
                 return owner<device_lane>(queues_[s] != nullptr
                                               ? queues_[s]->open(code_.first_segment + s, slots_, *this).release()
                                               : nullptr);
               }),
        paths_(code.units.size()),
        is_chained_(code.units.size()) {
    for (std::size_t s = 0; s < segments_.size(); ++s)
      for (std::size_t u = code.segments[s].first; u < code.segments[s].end; ++u)
        paths_[u] = path_of_unit(segments_[s], u);
    for (std::size_t u = 0; u < paths_.size(); ++u) is_chained_[u] = is_chained(code.units[u]);
    if (has_devices_) connect_devices();
  }

  [[gnu::cold]] ~engine() {
    discard_results();
    delete meter_.load();
  }

  // ---- items in: one pusher ----

  sequence pushed() const { return pushed_.load(); }
  std::size_t free_slots() const { return slots_ - static_cast<std::size_t>(pushed_.load() - popped_.load()); }

  /// Where the item `ahead` places behind the last one pushed is constructed. Only for a free slot, only by the pusher.
  void* input_place(std::size_t ahead = 0) { return in_slot(0, input_index(ahead)); }
  /// The same of any item that has a slot, and whether it has; its envelope.
  void* input_place_of(sequence item) const { return in_slot(0, index(item)); }
  bool has_slot_for(sequence item) const { return item - popped_.load() < slots_; }
  item_envelope& envelope_at(sequence item) { return envelope_[index(item)]; }
  /// Where the next item's result goes, in a session with `external_results`. To be said before anything else of it.
  void set_output(void* to) { output_[input_index(0)] = static_cast<std::byte*>(to); }
  /// How many places lie side by side from there on.
  std::size_t places_in_a_row(std::size_t ahead) const { return slots_ - input_index(ahead); }
  input_row input_row_at(std::size_t ahead) {
    const std::size_t at = input_index(ahead);
    return {slot(at) + code_.values[0].offset, code_.slot_bytes, &state_[at], &input_[at]};
  }

  /// Makes that item known to be there: at its place, or as the caller's own object where that is borrowed.
  void set_input(std::size_t ahead, const void* item) {
    const std::size_t at = input_index(ahead);
    if (!destroys_input_) input_[at] = item;
    set_state(state_[at], item_state::value);
  }

  /// The next `count` items, set before, enter the first segment. `runs_here`: the calling thread goes on to work on them.
  void publish(std::size_t count, bool runs_here = false) {
    if (meter* m = measuring()) [[unlikely]] {
      const sequence first = pushed_.load(std::memory_order_relaxed);
      m->entered(first, count, first + count - popped_.load(std::memory_order_relaxed));
    }
    if (versions_) [[unlikely]]
      note_versions(count);
    pushed_.store(pushed_.load(std::memory_order_relaxed) + count);
    hint();
    if (settings_.polls) return;  // its worker finds the work
    if (runs_here) return event_.notify_all();
    hand_over();
  }
  /// A thread that waits in pop finds the work itself; else a worker is brought where the work pays for it.
  void hand_over() {
    if (invites_always_.load(std::memory_order_relaxed)) {
      wake();
    } else {
      event_.notify_all();
      invite_if_it_pays();
    }
  }

  /// The next item comes as one that has failed before it came.
  void push_failed(std::exception_ptr why, const item_envelope& envelope) {
    const std::size_t at = input_index(0);
    envelope_[at] = envelope;
    error_[at] = std::move(why);
    set_state(state_[at], item_state::failed);
    some_come_failed_.store(true, std::memory_order_relaxed);
    publish(1);
  }
  /// Some that were popped as values went into nothing behind that.
  void count_dropped_behind(std::size_t count) {
    delivered_.fetch_sub(count);
    dropped_.fetch_add(count);
  }

  item_envelope& input_envelope() { return envelope_[input_index(0)]; }
  const item_envelope& head_envelope() const { return envelope_[head_index_]; }

  /// Items that no stage has begun, taken back from the workers: the pusher has them to itself until `give_back`.
  std::size_t take_back_waiting() {
    segment& seg = segments_.front();
    if (has_devices_ && seg.submitting.exchange(true)) return 0;  // they are being handed over just now
    sequence begin = seg.claimed.load();
    const sequence end = pushed_.load(std::memory_order_relaxed);
    while (begin < end)
      if (seg.claimed.compare_exchange_weak(begin, end)) return static_cast<std::size_t>(end - begin);
    if (has_devices_) seg.submitting.store(false);
    return 0;
  }
  /// Where the `i`-th of `count` items taken back is, and its envelope.
  void* waiting_place(std::size_t i, std::size_t count) {
    return slot(waiting_index(i, count)) + code_.values[0].offset;
  }
  item_envelope& waiting_envelope(std::size_t i, std::size_t count) { return envelope_[waiting_index(i, count)]; }
  /// The workers may have them again.
  void give_back(std::size_t count) {
    segment& seg = segments_.front();
    if (meter* m = measuring()) [[unlikely]]
      m->moved_up(pushed_.load(std::memory_order_relaxed) - count, count);
    seg.claimed.store(pushed_.load(std::memory_order_relaxed) - count);
    if (has_devices_) seg.submitting.store(false);
    if (settings_.polls)
      hint();
    else
      wake();
  }
  /// An item was dropped at the door, without a place in the order of items: it gave way to a newer one, or came too late.
  void count_dropped_at_the_door() { dropped_at_the_door_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t next_sequence() const {
    return pushed_.load(std::memory_order_relaxed) + dropped_at_the_door_.load(std::memory_order_relaxed);
  }
  const session_settings& settings() const { return settings_; }

  /// From the first item on, filtered, dropped and cancelled ones wait at the head like results.
  void hand_out_all() { hands_out_all_ = true; }
  bool hands_out_all() const { return hands_out_all_; }
  /// Who is to be told what becomes of the next item, of the one at the head, of one taken back.
  completion*& input_completion() { return completion_[input_index(0)]; }
  completion* head_completion() const { return completion_[head_index_]; }
  completion*& waiting_completion(std::size_t i, std::size_t count) { return completion_[waiting_index(i, count)]; }

  /// Before the first item.
  void set_failure_hook(failure_hook hook) { on_failure_ = hook; }

  /// Fresh copies of the stage states; nothing may be in flight.
  void reset_states() { states_.reset(code_); }

  /// Work that nobody may ever wait for has to be brought to a worker: behind `try_push`, and before a sink.
  void invite_always() { invites_always_.store(true, std::memory_order_relaxed); }
  bool invites_always() const { return invites_always_.load(std::memory_order_relaxed); }
  /// From a thread that only looks for results: work that nobody is at is brought to a worker.
  void invite_if_idle() {
    invite_always();
    if (has_work()) invite_first();
  }
  void invite_first() {
    if (awake_.load() == 0 && parked_.load() == 0) host_.invite();
  }

  // ---- results out: one popper ----

  sequence finished() const { return segments_.back().finished.load(); }

  /// Items wait to be worked on.
  bool has_waiting() const { return pushed_.load(std::memory_order_relaxed) != segments_.front().claimed.load(); }

  /// Seen from any thread: something finished was not popped.
  bool has_unpopped() const { return finished() != popped_.load(); }

  /// A result waits at the head.
  bool has_result() {
    if (kept_ == 0 && head_ != popped_.load()) move_head(popped_.load());
    for (;;) {
      if (head_ >= known_finished_ && head_ >= (known_finished_ = finished())) return false;
      // Others may have passed over a silent item meanwhile, and its slot may have another one: only what is still the head
      // says anything.
      const bool silent = is_silent(std::atomic_ref(state_[head_index_]).load(std::memory_order_acquire));
      if (kept_ == 0 && head_ != popped_.load()) {
        move_head(popped_.load());
        continue;
      }
      if (!silent) return true;
      if (kept_ == 0) {  // others pass over items as well
        pass_over();
        move_head(popped_.load());
      } else {
        count_of(state_of(state_[head_index_])).fetch_add(1, std::memory_order_relaxed);
        keep_head();
      }
    }
  }
  /// Which result is at the head, in the order of items.
  sequence head() const { return head_; }

  /// Moves `at` to the first result from there on; false: none has come. For who looks ahead of the head, which does not pass over a
  /// result that is being looked at.
  bool find_result(sequence& at) {
    for (;;) {
      at = std::max(at, popped_.load());
      if (at >= finished()) return false;
      const bool silent = is_silent(std::atomic_ref(state_[index(at)]).load(std::memory_order_acquire));
      if (at < popped_.load()) continue;  // a silent one whose slot may have another item by now
      if (!silent) return true;
      ++at;
    }
  }
  bool has_failed(sequence at) { return state_of(state_[index(at)]) == item_state::failed; }
  const std::exception_ptr& error_of(sequence at) { return error_[index(at)]; }
  void* value_of(sequence at) { return in_slot(code_.result, index(at)); }

  item_state head_state() { return state_of(state_[head_index_]); }
  /// The data of that type attached to the item at the head. Throws levada::error where no stage attaches any.
  const void* head_side(const side_key& key) const {
    for (const side_place& place : code_.sides)
      if (place.key == &key) return slot(head_index_) + code_.side_offset + place.offset;
    throw error("levada: pop: no stage attaches side data of this type");
  }
  void* head_value() { return in_slot(code_.result, head_index_); }
  const std::exception_ptr& head_error() { return error_[head_index_]; }

  /// How many values wait from the head on, side by side in their slots; `most` at most. Behind `has_result`.
  std::size_t values_in_a_row(std::size_t most) {
    const std::size_t there = std::min({most, static_cast<std::size_t>(known_finished_ - head_), slots_ - head_index_});
    item_state* const states = &state_[head_index_];
    std::size_t n = 0;
    for (; n + 8 <= there; n += 8) {
      std::uint8_t ended = 0;  // without a branch for each
      for (std::size_t i = 0; i < 8; ++i) ended |= static_cast<std::uint8_t>(state_of(states[n + i]));
      if (ended != static_cast<std::uint8_t>(item_state::value)) break;
    }
    while (n < there && state_of(states[n]) == item_state::value) ++n;
    return n;
  }
  std::size_t slot_bytes() const { return code_.slot_bytes; }
  /// So many values from the head on were destroyed by the popper. Their slots are kept until `free_kept`.
  void drop_values(std::size_t count) {
    if (meter* m = measuring(); m != nullptr && count != 0) [[unlikely]]
      m->left(head_, count, &envelope_[head_index_], settings_.clock);
    delivered_.store(delivered_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    kept_ += count;
    head_ += count;
    head_index_ += count;
    if (head_index_ == slots_) head_index_ = 0;
  }

  /// Destroys the result at the head. Its slot is kept until `free_kept`.
  void drop_head() {
    if (meter* m = measuring(); m != nullptr && !gives_nothing(head_state())) [[unlikely]]
      m->left(head_, 1, &envelope_[head_index_], settings_.clock);
    if (head_state() == item_state::failed) {
      error_[head_index_] = nullptr;
      count_by_popper(failed_);
    } else if (head_state() == item_state::value) {
      destroy_value(code_.result, head_index_);
      count_by_popper(delivered_);
    } else {
      count_of(head_state()).fetch_add(1, std::memory_order_relaxed);
    }
    keep_head();
  }

  /// The slots of the results dropped since the last call become free, and who waits for one hears of it.
  void free_kept() {
    if (kept_ == 0) return;
    kept_ = 0;
    popped_.store(head_);
    if (head_ != finished()) pass_over();
    hint();
    if (!settings_.polls) event_.notify_all();
  }
  std::size_t kept() const { return kept_; }

  item_counts counts() const {
    item_counts c;
    c.delivered = delivered_.load(), c.failed = failed_.load(), c.filtered = filtered_.load();
    const std::uint64_t at_the_door = dropped_at_the_door_.load();
    c.dropped = dropped_.load() + at_the_door, c.cancelled = cancelled_count_.load();
    c.pushed = pushed_.load() + at_the_door;
    c.in_flight = c.pushed - c.delivered - c.failed - c.filtered - c.dropped - c.cancelled;
    return c;
  }

  // ---- what it measures of itself ----

  /// From now on, or not. Any thread may say so; the first time allocates.
  void measure(bool on) {
    if constexpr (!has_statistics) return;
    if (on && meter_.load() == nullptr) {
      auto* const fresh = new meter(code_);
      meter* none = nullptr;
      if (!meter_.compare_exchange_strong(none, fresh)) delete fresh;
    }
    measuring_.store(on ? meter_.load() : nullptr);
  }
  /// Measures, and keeps so many events a worker, from now on.
  void trace(std::size_t events) {
    measure(events != 0 || measuring() != nullptr);
    if (meter* m = meter_.load()) m->trace(events);
  }
  /// These are templates, and so is what they call: a program that never asks does not compile them.
  template <class Trace = session_trace>
  Trace traced() const {
    Trace t;
    for (const program_unit& unit : code_.units) t.stages.push_back(unit.name);
    if (meter* m = meter_.load()) m->write_trace_to(t);
    return t;
  }
  template <class Statistics = session_statistics>
  Statistics statistics() const {
    Statistics s;
    s.items = counts();
    s.slots = slots_;
    s.segments.resize(segments_.size());
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      s.segments[i].is_direct = segments_[i].is_direct;
      for (std::size_t u = code_.segments[i].first; u < code_.segments[i].end; ++u) {
        s.stages.emplace_back();
        s.stages.back().name = code_.units[u].name;
        s.stages.back().segment = i;
      }
    }
    if (const meter* m = meter_.load()) m->write_statistics_to(s);
    return s;
  }

  // ---- work ----

  /// One grain, at most, at each segment in turn. Says whether anything was done. The caller holds a permit.
  [[gnu::noinline]] bool visit() noexcept {
    bool any = false;
    for (std::size_t s = 0; s < segments_.size(); ++s) any |= step(s);
    return any;
  }

  /// One grain, at most, at segment `s`; or what is ready there is handed to its device.
  bool step(std::size_t s) noexcept {
    segment& seg = segments_[s];
    if (queues_[s] != nullptr) return submit(s);
    if (run_short(s)) return true;
    if (grain* g = resume(seg)) {
      run(s, *g);
      return true;
    }
    if (seg.offered.load() != 0 && help_with_branch(s)) return true;
    if (grain* g = claim(s)) {
      run(s, *g);
      return true;
    }
    return false;
  }

  /// Behind a visit that did something: another may find more.
  bool may_have_more() const {
    return segments_.size() != 1 || has_waiting() || segments_.front().deposited.load() != 0;
  }

  /// Something could be done now.
  bool has_work() const {
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const segment& seg = segments_[s];
      if (arrived(s) > seg.claimed.load() && (queues_[s] != nullptr || (!is_backed_up(seg) && has_free_grain(seg))))
        return true;
      if (seg.deposited.load() != 0 && has_admitted_grain(seg)) return true;
      if (seg.offered.load() != 0) return true;
    }
    return false;
  }

  /// Changes when there may be more work, results or room than before: what an idle thread looks at, and leaves all other
  /// lines to those who write them. A change may be missed when two come at once; whoever parks looks at everything.
  std::uint32_t hints() const { return hints_.load(std::memory_order_relaxed); }

  void worker_awake() { awake_.fetch_add(1); }
  /// Workers are at this session, so that its items go from processor to processor.
  bool is_shared() const { return awake_.load(std::memory_order_relaxed) != 0; }
  bool has_devices() const { return has_devices_; }
  /// A worker that is here does more good than harm.
  bool pays_for_a_worker() const {
    if (invites_always() || has_devices_) return true;
    for (const auto& seg : segments_)
      if (!is_cheap(seg)) return true;
    return false;
  }
  void worker_asleep() { awake_.fetch_sub(1); }
  /// One that is awake has a permit, and gives it back.
  void worker_begins() { busy_.fetch_add(1); }
  void worker_ends() { busy_.fetch_sub(1); }

  /// All there is to do is one stage in order, and what its caller does with the items.
  bool is_lone_stage() const { return segments_.size() == 1 && !has_devices_ && segments_.front().is_lone_stage(); }
  /// An item takes the thread that feeds and fetches so long. Where that is next to nothing beside the lone stage, a second
  /// thread would only take the items to and fro.
  void caller_takes(std::uint64_t ns) {
    segment& seg = segments_.front();
    const bool alone = ns * 16 < seg.item_ns.load(std::memory_order_relaxed);
    seg.cheap_ns.store(alone ? ~std::uint32_t{0} : seg.own_cheap_ns(), std::memory_order_relaxed);
  }

  /// A thread that would help parks here; to be said before it looks for the last time.
  void helper_parks() { parked_.fetch_add(1); }
  /// It goes on, and may not help any more: what it was relied on for is brought to a worker.
  void helper_goes() {
    parked_.fetch_sub(1);
    if (invites_always_.load(std::memory_order_relaxed) && awake_.load() == 0 && has_work()) host_.invite();
  }

  // ---- ends ----

  /// Items that are not finished become cancelled, at their next unit; no more are taken.
  void cancel() {
    cancelled_.store(true);
    wake();
  }
  bool is_cancelled() const { return cancelled_.load(); }
  bool all_finished() const { return finished() == pushed_.load(); }
  bool all_popped() const { return popped_.load() == pushed_.load() && all_counted(); }
  /// Nobody is between freeing the slot of an item that gave no result and counting it.
  bool all_counted() const { return passing_over_.load() == 0; }
  /// All that was pushed is finished; and counted, where no result waits before it.
  bool all_settled() {
    if (!all_finished()) return false;
    pass_over();
    return all_counted();
  }
  /// Devices have nothing more to report and their threads are out of here: a short wait once all is finished.
  void wait_for_devices() const {
    while (at_devices_.load() != 0) std::this_thread::yield();
  }

  /// Destroys what was finished and not popped, counted as cancelled.
  void discard_results() {
    for (; has_result(); keep_head()) {
      if (head_state() == item_state::failed)
        error_[head_index_] = nullptr;
      else if (head_state() == item_state::value)
        destroy_value(code_.result, head_index_);
      cancelled_count_.fetch_add(1, std::memory_order_relaxed);
    }
    free_kept();
  }

  // ---- a device reports ----

  // It knows the segments by their numbers among those of all regions.
  void execute(std::size_t number, sequence item) noexcept override {
    const std::size_t s = number - code_.first_segment;
    segment& seg = segments_[s];
    grain& g = grain_of_device(seg);
    g.begin = item;
    g.end = item + 1;
    g.slot = index(item);
    g.some_ended = true;
    meter::turn turn(measuring());
    g.watch.restart();
    g.watch.runs(turn, s, seg.code.first, item, 1, 0);
    for (std::size_t u = seg.code.first; u < seg.code.end; ++u) run_unit(seg, g, u, 0, 1);
    g.state.store(grain_state::free, std::memory_order_release);
  }
  const void* input(std::size_t number, sequence item) noexcept override {
    segment& seg = segments_[number - code_.first_segment];
    const program_unit& unit = code_.units[seg.code.first];
    grain g;  // only its slot is asked for, as in `fail`
    g.slot = index(item);
    if (cancelled_.load(std::memory_order_relaxed))
      cancel_items(seg, g, unit, 0, 1);
    else if (settings_.deadline.count() != 0)
      drop_late_items(seg, g, unit, 0, 1);
    if (state_of(state_[g.slot]) != item_state::value) return nullptr;
    std::size_t stride;
    return is_borrowed(unit.in) ? borrowed(unit.in, g.slot) : place(seg, g, unit.in, 0, stride);
  }
  void* const* kept_for(std::size_t number, sequence item) noexcept override {
    return versions_ ? objects_[index(item)] + segments_[number - code_.first_segment].code.first : nullptr;
  }
  void* output(std::size_t number, sequence item) noexcept override {
    const program_unit& unit = code_.units[segments_[number - code_.first_segment].code.end - 1];
    return in_slot(unit.out, index(item));
  }
  bool asks_times() const noexcept override { return measuring() != nullptr; }
  void timed(std::size_t number, sequence item, const device_times& times) noexcept override {
    if (meter* m = measuring()) m->on_device(number - code_.first_segment, item, times);
  }
  void complete(std::size_t number, sequence item) noexcept override {
    const std::size_t s = number - code_.first_segment;
    end_inputs_of_kernels(s, item);
    if (meter* m = measuring()) [[unlikely]] {
      const program_segment& code = segments_[s].code;
      if (code_.units[code.first].kernel != nullptr && state_of(state_[index(item)]) == item_state::value)
        m->computed(code.first, code.end);
      m->returned(s, item);
    }
    if (finish(s, item, item + 1, true)) wake();
    at_devices_.fetch_sub(1);  // the last touch: whoever destroys the session waits for it
  }
  [[gnu::cold]] void fail(std::size_t number, sequence item, std::exception_ptr why) noexcept override {
    const std::size_t s = number - code_.first_segment;
    segment& seg = segments_[s];
    const std::size_t at = index(item);
    if (state_of(state_[at]) == item_state::value) {
      grain g;  // only its slot is asked for: what crosses the border into a device lives in slots
      g.slot = at;
      for (const std::size_t v : code_.units[seg.code.first].alive) destroy(seg, g, v, 0);
      error_[at] = std::move(why);
      tell_of_failure(at);
      set_state(state_[at], item_state::failed);
      if (const meter::turn turn(measuring()); turn) meter::ended(turn.lane(), seg.code.first, item_state::failed);
    }
    complete(number, item);
  }

 private:
  static constexpr std::uint32_t cheap_item_ns = 60, ticket_ns = 4, cheap_lone_stage_ns = 300;

  enum class grain_state : std::uint8_t { free, running, deposited };

  struct alignas(64) grain {
    std::atomic<grain_state> state{grain_state::free};
    sequence begin = 0, end = 0;
    std::size_t slot = 0;  ///< of `begin`; a grain never wraps around the ring
    std::size_t unit = 0;  ///< the next to run
    std::byte* memory = nullptr;
    std::uint64_t waited_ns = 0;  ///< at tickets
    bool some_ended = false;      ///< not all of its items are values any more
    grain_watch watch;
    // Of a deposited grain, for those who look for one that is admitted now.
    std::atomic<const std::atomic<sequence>*> ticket{nullptr};
    std::atomic<sequence> first{0};
    std::atomic<sequence> always{0};  ///< the ticket of a unit that has none
  };

  struct alignas(64) ticket {
    std::atomic<sequence> next{0};
  };

  struct segment {
    [[gnu::cold]] segment(const program_segment& of, std::size_t slots, std::size_t slot_bytes, std::size_t alignment,
                          int threads)
        : code(of),
          memory(of.grains * of.scratch_bytes, alignment),
          grains(of.grains),
          tickets(of.tickets),
          branches(of.forks ? of.grains : 0),
          done(slots) {
      for (std::size_t i = 0; i < grains.size(); ++i) grains[i].memory = memory.get() + i * of.scratch_bytes;
      cheap_ns.store(own_cheap_ns(), std::memory_order_relaxed);
      limit.store(1, std::memory_order_relaxed);
      // Where nothing of an item lies in the scratchpad, cheap items may come in longer grains.
      longest = of.item_bytes == 0 ? std::clamp(longest_grain_bytes / slot_bytes, of.grain, slots) : of.grain;
      const std::size_t grains_wanted = std::max<std::size_t>(4, 2 * static_cast<std::size_t>(threads));
      longest_shared = std::min(longest, std::max(of.grain, std::min(largest_grain, slots / grains_wanted)));
    }

    static constexpr std::size_t longest_grain_bytes = 16 * 1024;  // half of a first-level cache

    /// One stage, in order: a second thread can only feed and fetch.
    bool is_lone_stage() const { return code.end - code.first == 1 && code.tickets == 1; }
    /// A grain that goes from thread to thread takes the line of every ticket along.
    std::uint32_t own_cheap_ns() const {
      return is_lone_stage() ? cheap_lone_stage_ns
                             : cheap_item_ns + ticket_ns * static_cast<std::uint32_t>(code.tickets);
    }

    const program_segment& code;
    bool is_direct = false;                  ///< its input stays where a device left it
    std::atomic<std::uint32_t> cheap_ns{0};  ///< items that take less are not worth a second thread
    std::size_t longest;                     ///< of a grain of items so cheap that they are not shared
    std::size_t longest_shared;              ///< of the others
    arena_bytes memory;
    fixed_array<grain> grains;
    fixed_array<ticket> tickets;
    fixed_array<shared_branches> branches;    ///< of the items of grains, by these; where there may be some
    fixed_array<std::atomic<sequence>> done;  ///< where a finished grain began: its end
    alignas(64) std::atomic<sequence> claimed{0};
    alignas(64) std::atomic<sequence> finished{0};
    alignas(64) std::atomic<std::uint32_t> deposited{0};
    std::atomic<std::uint32_t> offered{0};  ///< grains with branches that nobody has begun
    std::atomic<std::size_t> limit{1};      ///< of a grain, by what items take; one until that is known
    std::atomic<std::uint32_t> item_ns{0};  ///< a running mean; 0: not known yet
    std::atomic<std::uint32_t> grains_run{0};
    std::atomic<bool> submitting{false};  ///< to a device: one thread at a time
  };

  std::size_t index(sequence item) const {
    return static_cast<std::size_t>(slots_mask_ != 0 ? item & slots_mask_ : item % slots_);
  }
  std::size_t waiting_index(std::size_t i, std::size_t count) const {
    return index(pushed_.load(std::memory_order_relaxed) - count + i);
  }
  std::size_t input_index(std::size_t ahead) const { return index(pushed_.load(std::memory_order_relaxed) + ahead); }
  void move_head(sequence to) {
    head_ = to;
    head_index_ = index(to);
  }
  void keep_head() {
    ++kept_;
    ++head_;
    head_index_ = head_index_ + 1 == slots_ ? 0 : head_index_ + 1;
  }
  bool is_silent(item_state state) const { return !hands_out_all_ && gives_nothing(state); }
  bool gives_nothing(item_state state) const {
    return state == item_state::value ? !code_.has_result : state != item_state::failed;
  }
  /// Only the popper counts there: no locked addition.
  static void count_by_popper(std::atomic<std::uint64_t>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::byte* slot(std::size_t i) const { return slot_memory_.get() + i * code_.slot_bytes; }
  /// A value that crosses a border, or the place that the caller gave for it.
  [[gnu::always_inline]] std::byte* in_slot(std::size_t v, std::size_t at) const {
    if (is_external(v)) [[unlikely]]
      return output_[at] + code_.values[v].within;
    return slot(at) + code_.values[v].offset;
  }
  /// Items are the caller's own objects.
  bool is_borrowed(std::size_t v) const { return code_.values[v].of_input && !destroys_input_; }
  const void* borrowed(std::size_t v, std::size_t at) const {
    return static_cast<const std::byte*>(input_[at]) + code_.values[v].within;
  }
  bool is_external(std::size_t v) const { return !output_.empty() && code_.values[v].is_result; }
  sequence arrived(std::size_t s) const { return s == 0 ? pushed_.load() : segments_[s - 1].finished.load(); }

  /// What can go from device to device does not come to the host.
  [[gnu::cold]] void connect_devices() {
    fixed_array<bool> kept(segments_.size(), [&](std::size_t s) { return code_.segments[s].keeps; });
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const std::size_t from = code_.segments[s].takes_from;
      if (from == program_segment::none || !lanes_[s] || !lanes_[from]) continue;
      segments_[s].is_direct = lanes_[s]->take_from(*lanes_[from]);
      kept[from] = kept[from] && segments_[s].is_direct;
    }
    for (std::size_t s = 0; s < segments_.size(); ++s)
      if (kept[s] && lanes_[s]) lanes_[s]->keep_output();
  }

  static bool any_device(const fixed_array<device_queue*>& queues) {
    for (const device_queue* q : queues)
      if (q != nullptr) return true;
    return false;
  }

  void note_versions(std::size_t count) {
    const sequence first = pushed_.load(std::memory_order_relaxed);
    void* const* const now = versions_->current(first, popped_.load());
    for (std::size_t i = 0; i < count; ++i) objects_[input_index(i)] = now;
  }
  /// How many of those items are of one version.
  sequence of_one_version(std::size_t at, sequence count) const {
    sequence n = 1;
    while (n < count && objects_[at + n] == objects_[at]) ++n;
    return n;
  }

  // ---- claiming ----

  static bool has_free_grain(const segment& seg) {
    if (seg.claimed.load() == seg.finished.load()) return true;
    for (std::size_t i = 1; i < seg.grains.size(); ++i)
      if (seg.grains[i].state.load(std::memory_order_relaxed) == grain_state::free) return true;
    return false;
  }

  grain* claim(std::size_t s) {
    segment& seg = segments_[s];
    if (arrived(s) <= seg.claimed.load(std::memory_order_relaxed) || is_backed_up(seg)) return nullptr;
    sequence begin = seg.claimed.load();
    // Where nothing is in flight, whoever moves `claimed` has the segment to itself: the first grain is kept for that.
    grain* mine = &seg.grains.front();
    bool alone = begin == seg.finished.load();
    if (!alone && !(mine = take_free_grain(seg))) return nullptr;
    for (;;) {
      const sequence there = arrived(s);
      if (begin >= there) {
        if (!alone) mine->state.store(grain_state::free);
        return nullptr;
      }
      const std::size_t at = index(begin);
      sequence count = std::min({there - begin, static_cast<sequence>(seg.limit.load(std::memory_order_relaxed)),
                                 static_cast<sequence>(slots_ - at)});
      if (versions_) [[unlikely]]
        count = of_one_version(at, count);
      if (!seg.claimed.compare_exchange_strong(begin, begin + count)) {
        if (!alone) continue;
        alone = false;  // another was faster
        if (!(mine = take_free_grain(seg))) return nullptr;
        continue;
      }
      mine->begin = begin;
      mine->end = begin + count;
      mine->slot = at;
      mine->unit = seg.code.first;
      mine->waited_ns = 0;
      mine->some_ended = (s != 0 || some_come_failed_.load(std::memory_order_relaxed)) && some_ended(at, count);
      mine->watch.restart();
      break;
    }
    if (is_shared()) fetch(seg, *mine);
    invite_if_it_pays();
    return mine;
  }

  /// As many grains wait at tickets as there are threads: another one would only wait, too.
  bool is_backed_up(const segment& seg) const {
    if (settings_.latest_only && &seg == &segments_.front()) return would_wait_inside();
    return seg.deposited.load(std::memory_order_relaxed) >= static_cast<std::uint32_t>(crew_.count());
  }

  /// An item that was begun can no longer give way to a newer one: it is begun when every serial stage could take it at once,
  /// and no device has more than one before it.
  bool would_wait_inside() const {
    const sequence begin = segments_.front().claimed.load();
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const segment& seg = segments_[s];
      if (queues_[s] != nullptr && begin > seg.finished.load() + 1) return true;
      for (const ticket& t : seg.tickets)
        if (queues_[s] == nullptr && t.next.load(std::memory_order_relaxed) < begin) return true;
    }
    return false;
  }

  static grain* take_free_grain(segment& seg) {
    for (std::size_t i = 1; i < seg.grains.size(); ++i) {
      grain& g = seg.grains[i];
      grain_state expected = grain_state::free;
      if (g.state.load(std::memory_order_relaxed) == grain_state::free &&
          g.state.compare_exchange_strong(expected, grain_state::running))
        return &g;
    }
    return nullptr;
  }

  /// Items that ended in an earlier segment pass through as they are.
  bool some_ended(std::size_t at, sequence count) {
    for (sequence i = 0; i < count; ++i)
      if (state_of(state_[at + i]) != item_state::value) return true;
    return false;
  }

  /// The items were made on another processor: all of them are asked for at once, not one after the other.
  void fetch(const segment& seg, const grain& g) const {
    if (seg.code.first == seg.code.end) return;
    const program_unit& first = code_.units[seg.code.first];
    const std::size_t count = static_cast<std::size_t>(g.end - g.begin);
    if (is_borrowed(first.in)) {
      for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(borrowed(first.in, g.slot + i));
    } else if (code_.values[first.in].where == placement::slot) {
      const std::byte* const from = slot(g.slot) + code_.values[first.in].offset;
      for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(from + i * code_.slot_bytes, 1);
    }
  }

  /// A worker is brought where the waiting work is worth two wake-ups.
  void invite_if_it_pays() noexcept {
    if (segments_.size() == 1 && is_cheap(segments_.front())) return;
    if (awake_.load(std::memory_order_relaxed) >= crew_.count() || !crew_.available()) return;
    // Those who are parked are woken anyway, and take as many.
    const sequence waiting =
        pushed_.load(std::memory_order_relaxed) - segments_.front().claimed.load(std::memory_order_relaxed);
    if (segments_.size() == 1 && waiting <= static_cast<sequence>(parked_.load(std::memory_order_relaxed))) return;
    if (waiting_ns() >= worth_a_worker_ns) host_.invite();
  }

  /// Its items are known to take less than their way to another processor.
  static bool is_cheap(const segment& seg) {
    const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
    return ns != 0 && ns < seg.cheap_ns.load(std::memory_order_relaxed);
  }

  /// The work that waits, as far as it is worth sharing: items that take less than their way to another processor are not.
  std::uint64_t waiting_ns() const {
    std::uint64_t all = 0;
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const segment& seg = segments_[s];
      if (queues_[s] != nullptr) continue;
      const sequence claimed = seg.claimed.load(std::memory_order_relaxed), there = arrived(s);
      if (there <= claimed) continue;
      const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
      if (!is_cheap(seg)) all += (there - claimed) * (ns == 0 ? unknown_item_ns : ns);
    }
    return all;
  }

  // ---- deposit and resume ----

  /// The ticket of that grain has come to it. Seen from outside: true of a deposited grain at some moment.
  static bool is_admitted(const grain& g) {
    return g.state.load() == grain_state::deposited &&
           g.ticket.load(std::memory_order_relaxed)->load() == g.first.load(std::memory_order_relaxed);
  }
  static bool has_admitted_grain(const segment& seg) {
    for (const grain& g : seg.grains)
      if (is_admitted(g)) return true;
    return false;
  }

  /// A deposited grain that is admitted now; only one at ticket `at`, where that is given.
  grain* resume(segment& seg, const std::atomic<sequence>* at = nullptr) {
    if (seg.deposited.load() == 0) return nullptr;
    for (grain& g : seg.grains) {
      grain_state expected = grain_state::deposited;
      if (!is_admitted(g) || (at != nullptr && g.ticket.load(std::memory_order_relaxed) != at) ||
          !g.state.compare_exchange_strong(expected, grain_state::running))
        continue;
      const program_unit& unit = code_.units[g.unit];
      if (!unit.serial || seg.tickets[unit.ticket].next.load() == g.begin) {
        seg.deposited.fetch_sub(1);
        return &g;
      }
      g.state.store(grain_state::deposited);  // by now it was another one
    }
    return nullptr;
  }

  /// Leaves the grain for whoever comes when its next unit admits it.
  void deposit(segment& seg, grain& g) {
    const program_unit& unit = code_.units[g.unit];
    g.always.store(g.begin, std::memory_order_relaxed);
    g.ticket.store(unit.serial ? &seg.tickets[unit.ticket].next : &g.always, std::memory_order_relaxed);
    g.first.store(g.begin, std::memory_order_relaxed);
    g.watch.deposited();
    seg.deposited.fetch_add(1);
    g.state.store(grain_state::deposited);
  }

  static bool has_deposited_at(const segment& seg, const std::atomic<sequence>& next) {
    for (const grain& g : seg.grains)
      if (g.state.load(std::memory_order_relaxed) == grain_state::deposited &&
          g.ticket.load(std::memory_order_relaxed) == &next)
        return true;
    return false;
  }

  /// Waits shortly for the ticket, where there is nothing better to do; else deposits the grain.
  bool admitted(segment& seg, grain& g, const program_unit& unit) {
    std::atomic<sequence>& next = seg.tickets[unit.ticket].next;
    if (next.load(std::memory_order_acquire) == g.begin) return true;
    if (crew_.count() > 1 && (seg.deposited.load() == 0 || !has_deposited_at(seg, next))) {
      const auto start = std::chrono::steady_clock::now();
      std::uint64_t waited = 0;
      std::uint32_t seen = hints();
      do {
        bool admits = false;
        for (int i = 0; i < 16 && !admits; ++i) {
          spin_pause();
          admits = next.load(std::memory_order_acquire) == g.begin;
        }
        waited = nanoseconds_since(start);
        if (admits) {
          g.waited_ns += waited;
          if (g.watch) g.watch.waited(g.unit, waited);
          return true;
        }
        if (hints() != seen) {
          seen = hints();
          if (seg.deposited.load() != 0 && has_admitted_grain(seg)) break;  // better than to wait
        }
      } while (waited < ticket_spin_ns);
    }
    const sequence begin = g.begin;
    deposit(seg, g);
    // The ticket may have come just before others could see the grain: then nobody else takes it up.
    grain_state expected = grain_state::deposited;
    if (next.load() != begin || !g.state.compare_exchange_strong(expected, grain_state::running)) return false;
    if (g.begin != begin) {  // it was run by others to its end meanwhile, and is another one
      g.state.store(grain_state::deposited);
      return false;
    }
    seg.deposited.fetch_sub(1);
    return true;
  }

  // ---- running ----

  /// A grain of items so cheap that nobody would gain by a stage that it is through with, where nothing is before it: every
  /// ticket has come to it, and goes on at its end. Says whether there was one.
  bool run_short(std::size_t s) noexcept {
    segment& seg = segments_[s];
    sequence begin = seg.claimed.load(std::memory_order_relaxed);
    const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
    const sequence waiting = arrived(s) - begin;
    if (waiting == 0 || ns == 0 || ns >= short_grain_ns || !goes_short_ || seg.finished.load() != begin || measuring())
      return false;
    const std::size_t at = index(begin);
    const sequence count = std::min({waiting, static_cast<sequence>(seg.limit.load(std::memory_order_relaxed)),
                                     static_cast<sequence>(slots_ - at)});
    if (!is_cheap(seg) && (ns * count >= short_grain_ns || count != waiting)) return false;
    if (!seg.claimed.compare_exchange_strong(begin, begin + count)) return false;

    grain& g = seg.grains.front();  // as in `claim`
    g.begin = begin, g.end = begin + count;
    g.slot = at, g.unit = seg.code.first;
    g.some_ended = (s != 0 || some_come_failed_.load(std::memory_order_relaxed)) && some_ended(at, count);
    g.watch.restart();
    if (is_shared()) fetch(seg, g);
    const std::uint32_t every = count == 1 ? 4 * timed_every : timed_every;
    const bool timed = count_relaxed(seg.grains_run) % every == 0;
    const auto start = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
    while (g.unit < seg.code.end)
      if (!run_chain(seg, g, count)) run_next(seg, g, count);
    const sequence end = begin + count;
    for (ticket& t : seg.tickets) t.next.store(end, std::memory_order_release);
    if (timed) learn(seg, nanoseconds_since(start) / count);
    const bool silent = g.some_ended || !code_.has_result;
    if (finish(s, begin, end, silent)) wake_next(s);
    if (seg.deposited.load() != 0) wake();  // who came meanwhile found the tickets taken
    return true;
  }
  /// The units of a chain that begins here, if there is one.
  bool run_chain(segment& seg, grain& g, std::size_t count) noexcept {
    if (!is_chained_[g.unit] || g.some_ended || cancelled_.load(std::memory_order_relaxed)) return false;
    const program_unit& unit = code_.units[g.unit];
    chain_call call{.paths = &paths_[g.unit],
                    .memory = g.memory,
                    .slot = g.slot,
                    .inputs = paths_[g.unit].borrows ? &input_[g.slot] : nullptr,
                    .state = &state_[g.slot],
                    .error = &error_[g.slot],
                    .count = count};
    unit.chain(call);
    if (call.lost_some) [[unlikely]] {
      g.some_ended = true;
      settle_lost(seg, g, unit, 0, count);
    }
    g.unit = unit.chain_end;
    return true;
  }

  void run(std::size_t s, grain& first) noexcept {
    int swaps = 0;
    for (grain* g = &first; g != nullptr;) g = run_until_deposited(s, *g, swaps);
  }

  /// The next unit of a grain; or the next few, item by item.
  void run_next(segment& seg, grain& g, std::size_t count) noexcept {
    const program_unit& unit = code_.units[g.unit];
    if (!unit.item_by_item) return run_unit(seg, g, g.unit++, 0, count);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t u = g.unit; u < unit.group_end; ++u) run_unit(seg, g, u, i, 1);
    g.unit = unit.group_end;
  }

  /// Runs a grain to the end of its segment, or to where it is deposited. A grain that waits for the ticket just released is
  /// returned, to be run instead: the stage that others wait for goes on at once, where its state is in cache.
  grain* run_until_deposited(std::size_t s, grain& g, int& swaps) noexcept {
    segment& seg = segments_[s];
    const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
    const std::size_t count = static_cast<std::size_t>(g.end - g.begin);
    const bool timed = ns > always_timed_ns || ns == 0 || count_relaxed(seg.grains_run) % timed_every == 0;
    const bool whole = g.unit == seg.code.first;
    const auto start = timed && whole ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
    meter::turn turn(measuring());
    g.watch.runs(turn, s, g.unit, g.begin, count, ns * count);

    grain* waiting = nullptr;
    while (g.unit < seg.code.end) {
      const program_unit& unit = code_.units[g.unit];
      if (unit.serial && !admitted(seg, g, unit)) return nullptr;
      if (g.watch.was_left()) g.watch.runs(turn, s, g.unit, g.begin, count, 0);  // and taken back
      if (unit.fork != nullptr && may_run_branches(g)) {
        if (!run_branches(seg, g)) return nullptr;
        continue;
      }
      run_next(seg, g, count);
      if (unit.serial) {
        // Cheap grains do without the order between this store and the look at what is deposited. A grain deposited at this
        // very moment may be missed here then, but not by the one who left it, nor by us behind this grain.
        std::atomic<sequence>& next = seg.tickets[unit.ticket].next;
        if (settings_.latest_only || ns >= cheap_item_ns)
          next.store(g.end);
        else
          next.store(g.end, std::memory_order_release);
        if (settings_.latest_only) wake();  // now another may be begun
        if (seg.deposited.load(std::memory_order_relaxed) != 0) {
          // A calling thread that helps has to come back to its own work some time.
          const bool may_swap = ns * count * static_cast<std::size_t>(swaps + 1) <= most_ns_to_swap;
          if (may_swap) waiting = resume(seg, &next);
          if (waiting != nullptr) ++swaps;
          if (waiting != nullptr && g.unit < seg.code.end) {
            deposit(seg, g);
            wake();
            return waiting;
          }
          if (!may_swap) wake();
        }
      }
    }
    if (timed && whole) {
      const std::uint64_t took = nanoseconds_since(start);
      learn(seg, (took - std::min(took, g.waited_ns)) / count);
    }
    const sequence begin = g.begin, end = g.end;
    const bool silent = g.some_ended || !code_.has_result;
    if (g.watch && s + 1 < segments_.size()) g.watch.ready(s + 1, begin, count);
    g.state.store(grain_state::free, std::memory_order_release);
    if (finish(s, begin, end, silent)) wake_next(s);
    return waiting;
  }

  void hint() { count_relaxed(hints_); }

  /// Two threads may count as one: it is only about now and then.
  static std::uint32_t count_relaxed(std::atomic<std::uint32_t>& counter) {
    const std::uint32_t before = counter.load(std::memory_order_relaxed);
    counter.store(before + 1, std::memory_order_relaxed);
    return before;
  }

  void learn(segment& seg, std::uint64_t ns) {
    const std::uint64_t before = seg.item_ns.load(std::memory_order_relaxed);
    const std::uint64_t capped = std::min<std::uint64_t>(ns, 1'000'000'000);
    // Faster down than up: what a stage takes is what it takes undisturbed.
    const std::uint64_t mean = std::max<std::uint64_t>(1, before == 0       ? capped
                                                          : capped < before ? (before + capped) / 2
                                                                            : (before * 7 + capped) / 8);
    seg.item_ns.store(static_cast<std::uint32_t>(mean), std::memory_order_relaxed);
    const std::size_t limit = std::max<std::uint64_t>(
        std::min<std::uint64_t>(seg.longest_shared,
                                std::max<std::uint64_t>(1, unit_ns * (seg.code.end - seg.code.first) / mean)),
        std::min<std::uint64_t>(seg.longest, cheap_grain_ns / mean));
    if (limit != seg.limit.load(std::memory_order_relaxed)) seg.limit.store(limit, std::memory_order_relaxed);
  }

  // ---- branches of an item: run/run_branches.hpp ----

  static shared_branches& branches_of(segment& seg, const grain& g) {
    return seg.branches[static_cast<std::size_t>(&g - seg.grains.begin())];
  }
  bool may_run_branches(const grain& g) const;
  void offer_branches(std::size_t count) noexcept;
  bool run_branches_from(segment& seg, grain& g, std::size_t branch, grain_watch& watch) noexcept;
  bool run_branches(segment& seg, grain& g) noexcept;
  bool help_with_branch(std::size_t s) noexcept;
  void run_branch(segment& seg, grain& g, std::size_t branch, grain_watch& watch) noexcept;
  void join_branches(segment& seg, grain& g) noexcept;
  bool is_left(shared_branches& all, std::size_t v) const;

  // ---- units ----

  bool needs_gathering(const program_unit& unit) const {
    return !unit.more.empty() || (is_borrowed(unit.in) && code_.values[unit.in].within != 0);
  }
  /// Where the inputs of the `i`-th item of a grain are.
  const void** gather(const segment& seg, const grain& g, const program_unit& unit, std::size_t i,
                      const void** next) const {
    std::size_t stride;
    for_each_input(
        unit, [&](std::size_t v) { *next++ = is_borrowed(v) ? borrowed(v, g.slot + i) : place(seg, g, v, i, stride); });
    return next;
  }

  /// A unit of several inputs, or of a part of an item that is the caller's: where those of each item are is gathered first.
  [[gnu::noinline]] void run_gathered(segment& seg, grain& g, std::size_t u, std::size_t first,
                                      std::size_t count) noexcept {
    const program_unit& unit = code_.units[u];
    const std::size_t inputs = 1 + unit.more.size();
    const void* gathered[64];
    for (const std::size_t most = std::size(gathered) / inputs; count != 0;) {
      const std::size_t n = std::min(count, most);
      const void** next = gathered;
      for (std::size_t i = 0; i < n; ++i) next = gather(seg, g, unit, first + i, next);
      run_unit_with_care(seg, g, u, first, n, gathered);
      first += n;
      count -= n;
    }
  }

  /// What a unit does to these items; `gathered` is where their inputs are, where they were gathered.
  [[gnu::always_inline]] unit_call call_of(const segment& seg, const grain& g, std::size_t u, std::size_t first,
                                           std::size_t count, const void** gathered) {
    const program_unit& unit = code_.units[u];
    const std::size_t at = g.slot + first;
    unit_call call;
    call.object = *paths_[u].object;
    if (versions_) [[unlikely]]
      call.take_version(unit, objects_[at][u]);
    if (gathered != nullptr && unit.more.empty()) {
      call.inputs = gathered;
    } else if (gathered != nullptr) {
      call.in = reinterpret_cast<std::byte*>(gathered);
      call.in_stride = (1 + unit.more.size()) * sizeof(void*);
    } else if (is_borrowed(unit.in)) {
      call.inputs = &input_[at];
    } else
      call.in = place(seg, g, unit.in, first, call.in_stride);
    if (unit.has_out) call.out = place(seg, g, unit.out, first, call.out_stride);
    if (unit.sides != nullptr) {
      call.places = unit.sides;
      call.sides = slot(at) + code_.side_offset;
      call.side_stride = code_.slot_bytes;
      call.envelopes = &envelope_[at];
    }
    call.scratch = g.memory + unit.scratch_offset;
    call.state = &state_[at];
    call.error = &error_[at];
    call.count = count;
    return call;
  }

  void run_unit(segment& seg, grain& g, std::size_t u, std::size_t first, std::size_t count) noexcept {
    const unit_path& path = paths_[u];
    if (!path.is_plain || cancelled_.load(std::memory_order_relaxed)) [[unlikely]]
      return run_unit_with_care(seg, g, u, first, count);
    const std::size_t at = g.slot + first;
    // Every member here, so that none is cleared first.
    unit_call call{.object = *path.object,
                   .inside = nullptr,
                   .inputs = path.borrows ? &input_[at] : nullptr,
                   .in = path.in.at(g.memory, g.slot, first),
                   .in_stride = path.in.stride,
                   .out = path.out.at(g.memory, g.slot, first),
                   .out_stride = path.out.stride,
                   .scratch = g.memory + path.scratch_offset,
                   .state = &state_[at],
                   .error = &error_[at],
                   .places = nullptr,
                   .sides = nullptr,
                   .side_stride = 0,
                   .envelopes = nullptr,
                   .count = count,
                   .some_ended = g.some_ended,
                   .lost_some = false};
    call_unit(seg, g, u, first, call);
  }

  /// The same where more is to be done: the item may be over, its inputs are several, others look after it.
  [[gnu::noinline]] void run_unit_with_care(segment& seg, grain& g, std::size_t u, std::size_t first, std::size_t count,
                                            const void** gathered = nullptr) noexcept {
    const program_unit& unit = code_.units[u];
    if (gathered == nullptr && needs_gathering(unit)) return run_gathered(seg, g, u, first, count);
    if (count > 1 && (is_external(unit.in) || is_external(unit.out))) [[unlikely]] {  // no two lie side by side
      const std::size_t inputs = 1 + unit.more.size();
      for (std::size_t i = 0; i < count; ++i)
        run_unit_with_care(seg, g, u, first + i, 1, gathered == nullptr ? nullptr : gathered + i * inputs);
      return;
    }
    if (cancelled_.load(std::memory_order_relaxed)) {
      g.some_ended = true;
      cancel_items(seg, g, unit, first, count);
      if (!unit.told) return;
    } else if (settings_.deadline.count() != 0) {
      drop_late_items(seg, g, unit, first, count);
    }
    unit_call call = call_of(seg, g, u, first, count, gathered);
    call.some_ended = g.some_ended;
    call_unit(seg, g, u, first, call);
    for (const std::size_t v : unit.dying)
      for (std::size_t i = first; i < first + count; ++i)
        if (!g.some_ended || state_of(state_[g.slot + i]) == item_state::value) destroy(seg, g, v, i);
  }

  void call_unit(segment& seg, grain& g, std::size_t u, std::size_t first, unit_call& call) noexcept {
    paths_[u].run(call);
    if (call.lost_some) [[unlikely]] {
      g.some_ended = true;
      settle_lost(seg, g, code_.units[u], first, call.count);
    }
    if (g.watch) g.watch.ran(u, call);
  }

  value_path path_of(const segment& seg, std::size_t v) const {
    const program_value& value = code_.values[v];
    switch (value.where) {
      case placement::slot:
        return {slot(0) + value.offset, 0, code_.slot_bytes};
      case placement::item:
        return {nullptr, value.offset, seg.code.item_bytes};
      case placement::grain:
        return {nullptr, seg.code.grain * seg.code.item_bytes + value.offset, 0};
      case placement::none:
        break;
    }
    return {};
  }
  [[gnu::cold]] unit_path path_of_unit(const segment& seg, std::size_t u) const {
    const program_unit& unit = code_.units[u];
    unit_path path;
    path.run = unit.run;
    path.object = unit.shared == nullptr ? &states_.objects[unit.own] : &unit.shared;
    path.in = path_of(seg, unit.in);
    if (unit.has_out) path.out = path_of(seg, unit.out);
    path.scratch_offset = unit.scratch_offset;
    path.borrows = is_borrowed(unit.in);
    path.is_plain = unit.more.empty() && (!path.borrows || code_.values[unit.in].within == 0) &&
                    !is_external(unit.in) && !(unit.has_out && is_external(unit.out)) &&
                    settings_.deadline.count() == 0 &&
                    ((unit.shared == nullptr && !unit.holds_pipelines) || !versions_) && unit.sides == nullptr &&
                    unit.dying.begin() == unit.dying.end();
    return path;
  }
  /// A chain begins there, nothing is to be done beside it, and what it takes and gives is there for all items at once.
  [[gnu::cold]] bool is_chained(const program_unit& first) const {
    if (first.chain == nullptr) return false;
    const std::size_t begin = index_of(first);
    bool plain = !is_shared_place(first.in) && !is_shared_place(code_.units[first.chain_end - 1].out);
    for (std::size_t u = begin; plain && u < first.chain_end; ++u) plain = paths_[u].is_plain;
    return plain;
  }
  bool is_shared_place(std::size_t v) const { return code_.values[v].where == placement::grain; }

  /// What a device's kernels have read to the end is destroyed, as behind a unit that runs here.
  void end_inputs_of_kernels(std::size_t s, sequence item) {
    segment& seg = segments_[s];
    grain g;  // only its slot is asked for, as in `fail`
    g.slot = index(item);
    if (state_of(state_[g.slot]) != item_state::value || code_.units[seg.code.first].kernel == nullptr) return;
    for (std::size_t u = seg.code.first; u < seg.code.end; ++u)
      for (const std::size_t v : code_.units[u].dying) destroy(seg, g, v, 0);
  }

  /// The items that ended at this unit: what was alive before it is destroyed, and their state becomes final.
  void settle_lost(segment& seg, grain& g, const program_unit& unit, std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      item_state& state = state_[g.slot + i];
      const item_state now = state_of(state);
      if (now != item_state::failing && now != item_state::filtering) continue;
      for (const std::size_t v : unit.alive) destroy(seg, g, v, i);
      if (now == item_state::failing) tell_of_failure(g.slot + i);
      set_state(state, now == item_state::failing ? item_state::failed : item_state::filtered);
      if (g.watch) g.watch.ended(index_of(unit), state_of(state));
    }
  }

  void tell_of_failure(std::size_t at) noexcept {
    if (on_failure_.call != nullptr) on_failure_.call(on_failure_.object, envelope_[at].sequence, error_[at]);
  }

  void cancel_items(segment& seg, grain& g, const program_unit& unit, std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) end_item(seg, g, unit, i, item_state::cancelled);
  }

  void drop_late_items(segment& seg, grain& g, const program_unit& unit, std::size_t first, std::size_t count) {
    const auto oldest = settings_.now() - settings_.deadline;
    for (std::size_t i = first; i < first + count; ++i) {
      if (envelope_[g.slot + i].captured >= oldest) continue;
      g.some_ended = true;
      end_item(seg, g, unit, i, item_state::dropped);
    }
  }

  void end_item(segment& seg, grain& g, const program_unit& unit, std::size_t i, item_state as) {
    item_state& state = state_[g.slot + i];
    if (state_of(state) != item_state::value) return;
    for (const std::size_t v : unit.alive) destroy(seg, g, v, i);
    set_state(state, as);
    if (g.watch) g.watch.ended(index_of(unit), as);
  }
  std::size_t index_of(const program_unit& unit) const { return static_cast<std::size_t>(&unit - code_.units.begin()); }
  /// Null: nothing is measured.
  meter* measuring() const { return has_statistics ? measuring_.load(std::memory_order_acquire) : nullptr; }

  std::byte* place(const segment& seg, const grain& g, std::size_t v, std::size_t i, std::size_t& stride) const {
    const value_path path = path_of(seg, v);
    stride = path.stride;
    if (is_external(v)) [[unlikely]]
      return in_slot(v, g.slot + i);
    return path.first == nullptr && code_.values[v].where == placement::none ? nullptr : path.at(g.memory, g.slot, i);
  }

  void destroy(const segment& seg, const grain& g, std::size_t v, std::size_t i) {
    if (is_borrowed(v)) return;
    std::size_t stride;
    code_.values[v].destroy(place(seg, g, v, i, stride));
  }
  void destroy_value(std::size_t v, std::size_t at) {
    if (code_.has_result && code_.values[v].destroy != nullptr) code_.values[v].destroy(in_slot(v, at));
  }

  // ---- finishing ----

  /// Moves the frontier on over a finished grain and those behind it that were finished before; or leaves a stamp for who
  /// finishes the one that is waited for. Says whether the frontier moved.
  bool finish(std::size_t s, sequence begin, sequence end, bool some_silent) {
    segment& seg = segments_[s];
    sequence frontier = seg.finished.load();
    if (frontier == begin) {
      seg.finished.store(end);  // nobody else can: there is no stamp at `begin`
      frontier = end;
    } else {
      seg.done[index(begin)].store(end);
      frontier = seg.finished.load();
    }
    bool moved = frontier == end;
    for (;;) {
      const sequence reached = seg.done[index(frontier)].load();
      if (reached <= frontier) break;
      if (seg.finished.compare_exchange_strong(frontier, reached)) {
        frontier = reached;
        moved = true;
      }
    }
    // Stamps of others may be about silent items, too.
    if (moved && s + 1 == segments_.size() && (some_silent || frontier != end)) pass_over();
    return moved;
  }

  void wake_next(std::size_t s) {
    hint();
    event_.notify_all();
    if (s + 1 < segments_.size()) invite_if_it_pays();
  }

  /// Somebody has to look: those who park here, else a worker.
  void wake() {
    hint();
    event_.notify_all();
    if (awake_.load() == 0 && parked_.load() == 0)
      host_.invite();
    else
      invite_if_it_pays();
  }

  /// Frees the slots of items that give no result, from the head on; any thread may.
  void pass_over() {
    bool any = false;
    for (;;) {
      sequence p = popped_.load();
      if (p >= finished()) break;
      const item_state state = state_of(state_[index(p)]);
      if (!is_silent(state)) break;
      // Said before the slot is free: whoever finds nothing in flight any more asks for exact counts.
      if (!any) passing_over_.fetch_add(1);
      any = true;
      if (popped_.compare_exchange_strong(p, p + 1)) count_of(state).fetch_add(1, std::memory_order_relaxed);
    }
    if (!any) return;
    passing_over_.fetch_sub(1);
    if (!settings_.polls) event_.notify_all();
  }

  std::atomic<std::uint64_t>& count_of(item_state state) {
    switch (state) {
      case item_state::filtered:
        return filtered_;
      case item_state::dropped:
        return dropped_;
      case item_state::cancelled:
        return cancelled_count_;
      default:
        return delivered_;
    }
  }

  // ---- devices ----

  /// Each of equal devices works on one item at a time, and there are as many grains.
  static grain& grain_of_device(segment& seg) {
    for (;;)
      for (grain& g : seg.grains) {
        grain_state expected = grain_state::free;
        if (g.state.compare_exchange_strong(expected, grain_state::running)) return g;
      }
  }

  bool submit(std::size_t s) noexcept {
    segment& seg = segments_[s];
    bool any = false;
    for (;;) {
      sequence item = seg.claimed.load();
      if (item >= arrived(s)) return any;
      // In order: one thread at a time submits.
      bool expected = false;
      if (!seg.submitting.compare_exchange_strong(expected, true)) return any;
      item = seg.claimed.load();
      for (const sequence there = arrived(s); item < there; ++item) {
        seg.claimed.store(item + 1);
        if (meter* m = measuring()) [[unlikely]]
          m->handed(item);
        at_devices_.fetch_add(1);
        try {
          lanes_[s]->submit(item);
        } catch (...) {
          fail(code_.first_segment + s, item, std::current_exception());
        }
        any = true;
      }
      lanes_[s]->flush();
      seg.submitting.store(false);
    }
  }

  static constexpr std::uint64_t worth_a_worker_ns = 8'000;
  static constexpr std::uint64_t unknown_item_ns = 2'000;
  static constexpr std::uint64_t ticket_spin_ns = 2'000;
  static constexpr std::uint64_t unit_ns = 4'000;
  static constexpr std::uint64_t most_ns_to_swap = 50'000;  // of items that the caller has not asked for
  static constexpr std::uint64_t cheap_grain_ns = 8'000;
  static constexpr std::uint64_t short_grain_ns = 1'000;  // those that come meanwhile wait no longer
  static constexpr std::uint32_t always_timed_ns = 250;
  static constexpr std::uint32_t timed_every = 16;

  const program& code_;
  const session_settings settings_;
  const fixed_array<device_queue*> queues_;
  permits& crew_;
  event_count& event_;
  engine_host& host_;
  const bool destroys_input_;
  const bool has_devices_;
  const bool goes_short_;  ///< grains of cheap items may go from end to end at once
  const std::size_t slots_;
  const sequence slots_mask_;  ///< where their number is a power of two; else 0
  arena_bytes slot_memory_;
  fixed_array<const void*> input_;
  fixed_array<item_state> state_;
  fixed_array<std::exception_ptr> error_;
  fixed_array<item_envelope> envelope_;
  fixed_array<completion*> completion_;
  fixed_array<std::byte*> output_;  ///< where each item's result goes, if its pusher says so
  failure_hook on_failure_;
  bool hands_out_all_ = false;
  session_states states_;
  owner<object_versions> versions_;    ///< where parameters can be replaced
  fixed_array<void* const*> objects_;  ///< of the version of the item in each slot
  fixed_array<segment> segments_;
  fixed_array<owner<device_lane>> lanes_;  ///< null where the processor computes
  fixed_array<unit_path> paths_;           ///< of each unit
  fixed_array<bool> is_chained_;           ///< where a chain begins that can be run as one

  std::atomic<meter*> meter_{nullptr};
  std::atomic<meter*> measuring_{nullptr};  ///< the same, while it is switched on

  // The popper's own.
  alignas(64) sequence head_ = 0;  ///< the next result
  std::size_t head_index_ = 0;     ///< its slot
  sequence known_finished_ = 0;
  std::size_t kept_ = 0;  ///< slots before the head that are not free yet

  alignas(64) std::atomic<sequence> pushed_{0};
  alignas(64) std::atomic<sequence> popped_{0};
  alignas(64) std::atomic<int> awake_{0};
  std::atomic<int> busy_{0};                ///< of these
  std::atomic<std::size_t> at_devices_{0};  ///< items handed to devices whose reports are not over
  alignas(64) std::atomic<std::uint32_t> hints_{0};
  alignas(64) std::atomic<int> parked_{0};
  std::atomic<int> passing_over_{0};
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> some_come_failed_{false};  ///< the first segment gets items that have failed
  std::atomic<bool> invites_always_{false};
  alignas(64) std::atomic<std::uint64_t> delivered_{0};
  std::atomic<std::uint64_t> failed_{0}, filtered_{0}, dropped_{0}, cancelled_count_{0}, dropped_at_the_door_{0};
};

}  // namespace detail
}  // namespace levada

#include <levada/run/run_branches.hpp>
