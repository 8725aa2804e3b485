// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/engine.hpp: one running instance of a program, the schedule itself. Knows no types and no oneTBB.
//
// Items wait in a ring of slots. Each segment has a frontier, the number of items that have arrived there in order, and
// a claim counter. A worker claims the next items as a grain and runs it through all units of the segment. A serial
// unit has a ticket, the next item it admits; a grain that finds it taken spins shortly, is then deposited, and is
// resumed by whoever is free. Finished grains leave a stamp; whoever leaves the one that was waited for moves the next
// frontier on. What a worker does with grains is in claim_grains.hpp, deposit_grains.hpp, run_grains.hpp, run_units.hpp
// and run_branches.hpp.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

#include <levada/core/detail/storage.hpp>
#include <levada/core/device_queue.hpp>
#include <levada/core/error.hpp>
#include <levada/run/detail/engine/device_lanes.hpp>
#include <levada/run/detail/engine/item_tally.hpp>
#include <levada/run/detail/engine/segment.hpp>
#include <levada/run/detail/engine/slot_ring.hpp>
#include <levada/run/detail/engine/sole_thread.hpp>
#include <levada/run/detail/engine/switched_meter.hpp>
#include <levada/run/detail/engine/thread_waker.hpp>
#include <levada/run/detail/measure/meter.hpp>
#include <levada/run/detail/program/branches.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/workers/asymmetric_fence.hpp>
#include <levada/run/detail/workers/event_count.hpp>
#include <levada/run/detail/workers/permits.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>

namespace levada {
namespace detail {

/// Who hears of each item that fails, on the thread where it fails.
struct failure_hook {
  void (*call)(void* object, std::uint64_t sequence, const std::exception_ptr& why) noexcept = nullptr;
  void* object = nullptr;
};

/// Items that their owner has side by side, all that will come, and that stay there until they are popped: the `n`-th
/// is looked at when it is begun, and not before. `place` makes the next items of such a row known where others are.
struct item_row {
  const std::byte* first = nullptr;
  std::size_t bytes = 0;
  void (*place)(const std::byte* from, const input_row& to, std::size_t count) = nullptr;
};

class engine final : public device_client {
 public:
  using sequence = std::uint64_t;

  /// `queues[s]` is the device of segment `s`, null for the processor. `borrows_input`: items are the caller's own
  /// objects.
  [[gnu::cold]] engine(const program& code, fixed_array<device_queue*> queues, permits& concurrency_limit,
                       event_count& event, engine_host& host, bool borrows_input, const session_settings& settings)
      : code_(code),
        settings_(settings),
        is_usual_(settings.is_usual()),
        concurrency_limit_(concurrency_limit),
        destroys_input_(!borrows_input || code.owns_input),
        goes_short_(!settings.latest_only && !code.board),
        looks_at_output_(settings.deadline_at_output),
        ring_(code.slots, code.slot_bytes, code.alignment, settings.external_results),
        states_(code),
        versions_(code.board ? code.board->open(code.slots) : owner<object_versions>()),
        objects_(versions_ ? code.slots : 0),
        segments_(code.segments.size(),
                  [&](std::size_t s) {
                    return segment(code.segments[s], ring_.slots, code.slot_bytes, code.alignment, code.threads);
                  }),
        paths_(code.units.size()),
        is_chained_(code.units.size()),
        meter_(code),
        waker_(event, host),
        devices_(std::move(queues), code.first_segment, code.slots, *this) {
    for (std::size_t s = 0; s < segments_.size(); ++s)
      for (std::size_t u = code.segments[s].first; u < code.segments[s].end; ++u)
        paths_[u] = path_of_unit(segments_[s], u);
    for (std::size_t u = 0; u < paths_.size(); ++u) is_chained_[u] = is_chained(code.units[u]);
    if (has_devices()) devices_.connect(segments_);
    runs_single_items_ = goes_short_ && !settings.dedicated && code.has_result && is_all_chained();
    if (!runs_single_items_ || !has_heavy_fence) let_others_in();
  }

  [[gnu::cold]] ~engine() { discard_results(); }

  // ---- who has to do with it ----

  /// The calling thread pushes, pops, helps, waits or cancels. Says whether no other ever did, which spares it the
  /// fences and locked operations that are there for others: workers aside, who are counted, others enter here before
  /// they look.
  [[gnu::always_inline]] bool enter() noexcept { return sole_.enter(); }
  /// Several threads may be here at once from now on.
  void let_others_in() noexcept { sole_.let_others_in(); }

  // ---- items in: one pusher ----

  sequence pushed() const { return ring_.pushed.load(); }
  [[gnu::always_inline]] std::size_t free_slots() const { return ring_.free_slots(); }

  /// Where the item `ahead` places behind the last one pushed is constructed. Only for a free slot, only by the pusher.
  void* input_place(std::size_t ahead = 0) { return in_slot(0, ring_.input_index(ahead)); }
  /// The same of any item that has a slot, and whether it has; its envelope.
  void* input_place_of(sequence item) const { return in_slot(0, ring_.index(item)); }
  bool has_slot_for(sequence item) const { return ring_.has_slot_for(item); }
  item_envelope& envelope_at(sequence item) { return ring_.envelope[ring_.index(item)]; }
  /// Where the next item's result goes, in a session with `external_results`. To be said before anything else of it.
  void set_output(void* to) { ring_.output[ring_.input_index(0)] = static_cast<std::byte*>(to); }
  /// How many places lie side by side from there on.
  std::size_t places_in_a_row(std::size_t ahead) const { return ring_.in_a_row_from(ring_.input_index(ahead)); }
  input_row input_row_at(std::size_t ahead) { return ring_.row_from(ring_.input_index(ahead), code_.values[0].offset); }

  /// Makes that item known to be there: at its place, or as the caller's own object where that is borrowed.
  void set_input(std::size_t ahead, const void* item) { set_input_in(ring_.input_index(ahead), item); }

  /// The slot of the next item, and what belongs to it: for who asks more than once.
  std::size_t next_slot() const { return ring_.input_index(0); }
  [[gnu::always_inline]] void* place_in(std::size_t slot) { return in_slot(0, slot); }
  item_envelope& envelope_in(std::size_t slot) { return ring_.envelope[slot]; }
  completion*& completion_in(std::size_t slot) { return ring_.completions[slot]; }
  [[gnu::always_inline]] void set_input_in(std::size_t slot, const void* item) {
    if (!destroys_input_) ring_.input[slot] = item;
    set_state(ring_.state[slot], item_state::value);
  }

  /// Where the items need not be placed one by one.
  bool takes_row() const { return code_.first_takes_input && is_chained_[0] && !versions_; }
  /// Before the first item.
  void set_row(const item_row& row) { row_ = row; }
  /// The next `count` of the row enter the first segment.
  void publish_from_row(std::size_t count) {
    ring_.set_values(count);
    publish(count);
  }

  /// The next `count` items, set before, enter the first segment. `runs_here`: the calling thread goes on to work on
  /// them.
  void publish(std::size_t count, bool runs_here = false) {
    if (meter* m = measuring()) [[unlikely]] {
      const sequence first = ring_.pushed.load(std::memory_order_relaxed);
      m->entered(first, count, first + count - ring_.popped.load(std::memory_order_relaxed));
    }
    if (versions_) [[unlikely]]
      note_versions(count);
    ring_.pushed.store(ring_.pushed.load(std::memory_order_relaxed) + count);
    hint();
    if (settings_.polls) return;  // its worker finds the work
    if (runs_here) return waker_.tell_parked();
    hand_over();
  }
  /// The same of one item where only the calling thread may wait for it, without a fence. False: nothing is done.
  [[gnu::always_inline]] bool publish_to_nobody() {
    if (!enter() || measuring() || invites_always() || is_shared()) return false;
    ring_.pushed.store(ring_.pushed.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    light_fence();
    if (sole_.is_still_alone() && !is_shared()) {
      if (!segments_.front().is_cheap()) invite_if_it_pays();
    } else {
      ring_.pushed.store(ring_.pushed.load(std::memory_order_relaxed));
      hint();
      hand_over();
    }
    return true;
  }
  /// A thread that waits in pop finds the work itself; else a worker is brought where the work pays for it.
  void hand_over() {
    if (invites_always()) {
      wake();
    } else {
      waker_.tell_parked();
      invite_if_it_pays();
    }
  }

  /// Who waits for something to change looks again.
  void tell_waiters() { waker_.tell_waiters(settings_.polls); }

  /// The next item comes as one that has failed before it came.
  void push_failed(std::exception_ptr why, const item_envelope& envelope) {
    const std::size_t at = ring_.input_index(0);
    ring_.envelope[at] = envelope;
    ring_.error[at] = std::move(why);
    set_state(ring_.state[at], item_state::failed);
    some_come_failed_.store(true, std::memory_order_relaxed);
    publish(1);
  }
  /// The next item fails as it comes, and who listens hears of it.
  void fail_at_the_door(std::exception_ptr why, const item_envelope& envelope) {
    if (on_failure_.call != nullptr) on_failure_.call(on_failure_.object, envelope.sequence, why);
    push_failed(std::move(why), envelope);
  }
  /// Some that were popped as values went into nothing behind that.
  void count_dropped_behind(std::size_t count) { tally_.count_dropped_behind(count); }

  item_envelope& input_envelope() { return ring_.envelope[ring_.input_index(0)]; }
  const item_envelope& head_envelope() const { return ring_.envelope[ring_.head_index]; }

  /// Items that no stage has begun, taken back from the workers: the pusher has them to itself until `give_back`.
  std::size_t take_back_waiting() {
    segment& seg = segments_.front();
    if (has_devices() && seg.submitting.exchange(true)) return 0;  // they are being handed over just now
    if (!enter()) sole_.wait_for_claim();
    sequence begin = seg.claimed.load();
    const sequence end = ring_.pushed.load(std::memory_order_relaxed);
    while (begin < end)
      if (seg.claimed.compare_exchange_weak(begin, end)) return static_cast<std::size_t>(end - begin);
    if (has_devices()) seg.submitting.store(false);
    return 0;
  }
  /// Where the `i`-th of `count` items taken back is, and its envelope.
  void* waiting_place(std::size_t i, std::size_t count) {
    return ring_.slot(ring_.waiting_index(i, count)) + code_.values[0].offset;
  }
  item_envelope& waiting_envelope(std::size_t i, std::size_t count) {
    return ring_.envelope[ring_.waiting_index(i, count)];
  }
  /// The workers may have them again.
  void give_back(std::size_t count) {
    segment& seg = segments_.front();
    if (meter* m = measuring()) [[unlikely]]
      m->moved_up(ring_.pushed.load(std::memory_order_relaxed) - count, count);
    seg.claimed.store(ring_.pushed.load(std::memory_order_relaxed) - count);
    if (has_devices()) seg.submitting.store(false);
    if (settings_.polls)
      hint();
    else
      wake();
  }
  /// An item was dropped at the door, without a place in the order of items.
  void count_dropped_at_the_door(drop_reason why) { tally_.count_at_the_door(why); }
  /// A push found no room, and left its item with the caller.
  void count_refused() { tally_.refused.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t next_sequence() const {
    return ring_.pushed.load(std::memory_order_relaxed) + tally_.at_the_door.load(std::memory_order_relaxed);
  }
  const session_settings& settings() const { return settings_; }
  bool is_usual() const { return is_usual_; }
  /// What was pushed is all that comes.
  void close() { closed_.store(true); }
  bool is_closed() const { return closed_.load(); }

  /// From the first item on, filtered, dropped and cancelled ones wait at the head like results.
  void hand_out_all() {
    hands_out_all_ = true;
    runs_single_items_ = false;
    let_others_in();
  }
  bool hands_out_all() const { return hands_out_all_; }
  /// Who is to be told what becomes of the item at the head, of one taken back.
  completion* head_completion() const { return ring_.completions[ring_.head_index]; }
  completion*& waiting_completion(std::size_t i, std::size_t count) {
    return ring_.completions[ring_.waiting_index(i, count)];
  }

  /// Before the first item.
  void set_failure_hook(failure_hook hook) { on_failure_ = hook; }

  /// Fresh copies of the stage states; nothing may be in flight.
  void reset_states() { states_.reset(code_); }

  /// Work that nobody may ever wait for has to be brought to a worker: behind `try_push`, and before a sink.
  void invite_always() { waker_.invite_always(); }
  bool invites_always() const { return waker_.invites_always(); }
  /// From a thread that only looks for results: work that nobody is at is brought to a worker.
  void invite_if_idle() {
    invite_always();
    if (has_work()) invite_first();
  }
  void invite_first() { waker_.invite_first(); }

  // ---- results out: one popper ----

  sequence finished() const { return segments_.back().finished.load(); }

  /// Items wait to be worked on.
  bool has_waiting() const { return ring_.pushed.load(std::memory_order_relaxed) != segments_.front().claimed.load(); }

  /// Seen from any thread: something finished was not popped.
  bool has_unpopped() const { return finished() != ring_.popped.load(); }

  /// A result waits at the head.
  bool has_result() {
    const bool none = ring_.head >= ring_.known_finished && ring_.head >= finished();
    return !(none && (ring_.kept != 0 || ring_.head == ring_.popped.load())) && has_result_from_there();
  }
  [[gnu::noinline]] bool has_result_from_there() {
    if (ring_.kept == 0 && ring_.head != ring_.popped.load()) ring_.move_head(ring_.popped.load());
    for (;;) {
      if (ring_.head >= ring_.known_finished && ring_.head >= (ring_.known_finished = finished())) return false;
      // Others may have passed over a silent item meanwhile, and its slot may have another one: only what is still the
      // head says anything.
      const bool silent = is_silent(atomic_ref(ring_.state[ring_.head_index]).load(std::memory_order_acquire));
      if (ring_.kept == 0 && ring_.head != ring_.popped.load()) {
        ring_.move_head(ring_.popped.load());
        continue;
      }
      if (!silent && !(looks_at_output_ && drop_overdue_head() && !hands_out_all_)) return true;
      if (ring_.kept == 0) {  // others pass over items as well
        pass_over();
        ring_.move_head(ring_.popped.load());
      } else {
        tally_.of(state_of(ring_.state[ring_.head_index])).fetch_add(1, std::memory_order_relaxed);
        ring_.keep_head();
      }
    }
  }
  /// A value at the head that is past its deadline becomes an item without a result. By the popper, as nobody else
  /// changes what is finished and not silent.
  [[gnu::noinline]] bool drop_overdue_head() {
    item_state& state = ring_.state[ring_.head_index];
    if (state_of(state) != item_state::value || ring_.envelope[ring_.head_index].captured >= settings_.oldest_in_time())
      return false;
    destroy_value(code_.result, ring_.head_index);
    set_state(state, item_state::overdue);
    return true;
  }
  /// Which result is at the head, in the order of items.
  sequence head() const { return ring_.head; }

  /// Moves `at` to the first result from there on; false: none has come. For who looks ahead of the head, which does
  /// not pass over a result that is being looked at.
  bool find_result(sequence& at) {
    for (;;) {
      at = std::max(at, ring_.popped.load());
      if (at >= finished()) return false;
      const bool silent = is_silent(atomic_ref(ring_.state[ring_.index(at)]).load(std::memory_order_acquire));
      if (at < ring_.popped.load()) continue;  // a silent one whose slot may have another item by now
      if (!silent) return true;
      ++at;
    }
  }
  bool has_failed(sequence at) { return state_of(ring_.state[ring_.index(at)]) == item_state::failed; }
  const std::exception_ptr& error_of(sequence at) { return ring_.error[ring_.index(at)]; }
  void* value_of(sequence at) { return in_slot(code_.result, ring_.index(at)); }

  item_state head_state() { return state_of(ring_.state[ring_.head_index]); }
  /// The data of that type attached to the item at the head. Throws levada::error where no stage attaches any.
  const void* head_side(const side_key& key) const {
    for (const side_place& place : code_.sides)
      if (place.key == &key) return ring_.slot(ring_.head_index) + code_.side_offset + place.offset;
    throw error("levada: pop: no stage attaches side data of this type");
  }
  [[gnu::always_inline]] void* head_value() { return in_slot(code_.result, ring_.head_index); }
  const std::exception_ptr& head_error() { return ring_.error[ring_.head_index]; }

  /// How many values wait from the head on, side by side in their slots; `most` at most. Behind `has_result`.
  std::size_t values_in_a_row(std::size_t most) { return ring_.values_in_a_row(most); }
  std::size_t slot_bytes() const { return ring_.slot_bytes; }
  /// So many values from the head on were destroyed by the popper. Their slots are kept until `free_kept`.
  void drop_values(std::size_t count) {
    if (meter* m = measuring(); m != nullptr && count != 0) [[unlikely]]
      m->left(ring_.head, count, &ring_.envelope[ring_.head_index], settings_.clock);
    tally_.delivered.store(tally_.delivered.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    ring_.keep_row(count);
  }

  /// Destroys the result at the head. Its slot is kept until `free_kept`.
  void drop_head() {
    if (meter* m = measuring(); m != nullptr && !gives_nothing(head_state())) [[unlikely]]
      m->left(ring_.head, 1, &ring_.envelope[ring_.head_index], settings_.clock);
    if (head_state() == item_state::failed) {
      ring_.error[ring_.head_index] = nullptr;
      tally_.count_by_popper(tally_.failed);
    } else if (head_state() == item_state::value) {
      destroy_value(code_.result, ring_.head_index);
      tally_.count_by_popper(tally_.delivered);
    } else {
      tally_.of(head_state()).fetch_add(1, std::memory_order_relaxed);
    }
    ring_.keep_head();
  }

  /// The slots of the results dropped since the last call become free, and who waits for one hears of it.
  void free_kept() {
    if (ring_.kept == 0) return;
    ring_.kept = 0;
    ring_.popped.store(ring_.head);
    if (ring_.head != finished()) pass_over();
    tell_waiters();
  }
  std::size_t kept() const { return ring_.kept; }

  // The popper may look at a value where it lies, long after it was popped.

  std::size_t slots() const { return ring_.slots; }
  sequence first_kept() const { return ring_.first_kept(); }
  /// The value at the head was popped, and is not destroyed.
  void hold_head() {
    if (meter* m = measuring()) [[unlikely]]
      m->left(ring_.head, 1, &ring_.envelope[ring_.head_index], settings_.clock);
    tally_.count_by_popper(tally_.delivered);
    ring_.keep_head();
  }
  void destroy_held(sequence item) { destroy_value(code_.result, ring_.index(item)); }
  /// As `free_kept`, of the first few.
  void free_kept_before(sequence until) {
    if (until == first_kept()) return;
    ring_.kept = static_cast<std::size_t>(ring_.head - until);
    ring_.popped.store(until);
    if (until != finished()) pass_over();
    tell_waiters();
  }

  item_counts counts() const { return tally_.counts(ring_.pushed); }

  // ---- what it measures of itself ----

  /// From now on, or not. Any thread may say so; the first time allocates.
  void measure(bool on) { meter_.measure(on); }
  /// Measures, and keeps so many events a worker, from now on; goes on as before where there is no memory for them.
  void trace(std::size_t events) { meter_.trace(events); }
  /// These are templates, and so is what they call: a program that never asks does not compile them.
  template <class Trace = session_trace>
  Trace traced() const {
    Trace t;
    for (const program_unit& unit : code_.units) t.stages.push_back(unit.name);
    if (meter* m = meter_.made()) m->write_trace_to(t);
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

  // ---- work ----

  /// Behind work that took one.
  void give_back_permit() noexcept {
    concurrency_limit_.release();
    waker_.tell_parked();  // to others of the session who wait for a permit
  }

  /// For the popper: an item waits, perhaps a lone one, in a program that takes lone items in few steps.
  bool may_have_single_item() const {
    return runs_single_items_ && ring_.pushed.load(std::memory_order_acquire) == ring_.head + 1 && ring_.kept == 0;
  }
  bool claim_single_item() noexcept;
  bool run_single_item() noexcept;
  void leave_single_item() noexcept;
  bool release_single_item() noexcept;
  void give_back_single_item() noexcept;

  /// One grain, at most, at each segment in turn. Says whether anything was done. The caller holds a permit.
  [[gnu::noinline]] bool visit() noexcept {
    bool any = false;
    for (std::size_t s = 0; s < segments_.size(); ++s) any |= step(s);
    return any;
  }

  /// One grain, at most, at segment `s`; or what is ready there is handed to its device.
  bool step(std::size_t s) noexcept {
    segment& seg = segments_[s];
    if (devices_.has(s)) return submit(s);
    sole_.wait_for_claim();
    if (run_short(s)) return true;
    if (grain* g = seg.resume()) {
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
      if (arrived(s) > seg.claimed.load() && (devices_.has(s) || (!is_backed_up(seg) && seg.has_free_grain())))
        return true;
      if (seg.deposited.load() != 0 && seg.has_admitted_grain()) return true;
      if (seg.offered.load() != 0) return true;
    }
    return false;
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
  /// Workers are at this session, so that its items go from processor to processor.
  bool is_shared() const { return waker_.is_shared(); }
  bool has_devices() const { return devices_.has_any(); }
  /// A worker that is here does more good than harm.
  bool pays_for_a_worker() const {
    if (invites_always() || has_devices()) return true;
    for (const auto& seg : segments_)
      if (!seg.is_cheap()) return true;
    return false;
  }
  void worker_asleep() { waker_.worker_asleep(); }
  /// One that is awake has a permit, and gives it back.
  void worker_begins() { waker_.worker_begins(); }
  void worker_ends() { waker_.worker_ends(); }

  /// All there is to do is one stage in order, and what its caller does with the items.
  bool is_lone_stage() const { return segments_.size() == 1 && !has_devices() && segments_.front().is_lone_stage(); }
  /// An item takes the thread that feeds and fetches so long. Where that is next to nothing beside the lone stage, a
  /// second thread would only take the items to and fro.
  void caller_takes(std::uint64_t ns) {
    segment& seg = segments_.front();
    const bool alone = ns * 16 < seg.item_ns.load(std::memory_order_relaxed);
    seg.cheap_ns.store(alone ? ~std::uint32_t{0} : seg.own_cheap_ns(), std::memory_order_relaxed);
  }

  /// A thread that would help parks here; to be said before it looks for the last time.
  void helper_parks() { waker_.helper_parks(); }
  /// It goes on, and may not help any more: what it was relied on for is brought to a worker.
  void helper_goes() {
    waker_.helper_goes([&] { return has_work(); });
  }

  // ---- ends ----

  /// Items that are not finished become cancelled, at their next unit; no more are taken.
  void cancel() {
    cancelled_.store(true);
    end_of_items_.store(before_all_items);
    enter();
    wake();
  }
  bool is_cancelled() const { return cancelled_.load(); }
  bool all_finished() const { return finished() == ring_.pushed.load(); }
  bool all_popped() const { return ring_.popped.load() == ring_.pushed.load() && all_ended(); }
  /// Each item has come to an end that is counted. Once that is so it stays so, until one is pushed.
  bool all_ended() const { return counts().in_flight == 0; }
  /// Nobody is between freeing the slot of an item that gave no result and counting it.
  bool all_counted() const { return passing_over_.load() == 0; }
  /// All that was pushed is finished; and counted, where no result waits before it.
  bool all_settled() {
    if (!all_finished()) return false;
    pass_over();
    return all_counted();
  }
  /// Devices have nothing more to report and their threads are out of here: a short wait once all is finished.
  void wait_for_devices() const { devices_.wait_for_reports(); }

  /// Destroys what was finished and not popped, counted as cancelled.
  void discard_results() {
    for (; has_result(); ring_.keep_head()) {
      if (head_state() == item_state::failed)
        ring_.error[ring_.head_index] = nullptr;
      else if (head_state() == item_state::value)
        destroy_value(code_.result, ring_.head_index);
      tally_.cancelled.fetch_add(1, std::memory_order_relaxed);
    }
    free_kept();
  }

  // ---- a device reports ----

  // It knows the segments by their numbers among those of all regions.
  void execute(std::size_t number, sequence item) noexcept override {
    const std::size_t s = number - code_.first_segment;
    segment& seg = segments_[s];
    grain& g = seg.grain_of_device();
    g.begin = item;
    g.end = item + 1;
    g.slot = ring_.index(item);
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
    g.slot = ring_.index(item);
    if (cancelled_.load(std::memory_order_relaxed))
      cancel_items(seg, g, unit, 0, 1);
    else if (settings_.deadline.count() != 0)
      drop_late_items(seg, g, unit, 0, 1);
    if (state_of(ring_.state[g.slot]) != item_state::value) return nullptr;
    std::size_t stride;
    return is_borrowed(unit.in) ? borrowed(unit.in, g.slot) : place(seg, g, unit.in, 0, stride);
  }
  void* const* kept_for(std::size_t number, sequence item) noexcept override {
    return versions_ ? objects_[ring_.index(item)] + segments_[number - code_.first_segment].code.first : nullptr;
  }
  void* output(std::size_t number, sequence item) noexcept override {
    const program_unit& unit = code_.units[segments_[number - code_.first_segment].code.end - 1];
    return in_slot(unit.out, ring_.index(item));
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
      if (code_.units[code.first].kernel != nullptr && state_of(ring_.state[ring_.index(item)]) == item_state::value)
        m->computed(code.first, code.end);
      m->returned(s, item);
    }
    if (finish(s, item, item + 1, true)) wake();
    devices_.report_ends();
  }
  [[gnu::cold]] void fail(std::size_t number, sequence item, std::exception_ptr why) noexcept override {
    const std::size_t s = number - code_.first_segment;
    segment& seg = segments_[s];
    const std::size_t at = ring_.index(item);
    if (state_of(ring_.state[at]) == item_state::value) {
      grain g;  // only its slot is asked for: what crosses the border into a device lives in slots
      g.slot = at;
      for (const std::size_t v : code_.units[seg.code.first].alive) destroy(seg, g, v, 0);
      ring_.error[at] = std::move(why);
      tell_of_failure(at);
      set_state(ring_.state[at], item_state::failed);
      if (const meter::turn turn(measuring()); turn) meter::ended(turn.lane(), seg.code.first, item_state::failed);
    }
    complete(number, item);
  }

 private:
  bool is_silent(item_state state) const { return !hands_out_all_ && gives_nothing(state); }
  bool gives_nothing(item_state state) const {
    return state == item_state::value ? !code_.has_result : state != item_state::failed;
  }
  /// A value that crosses a border, or the place that the caller gave for it.
  [[gnu::always_inline]] std::byte* in_slot(std::size_t v, std::size_t at) const {
    if (is_external(v)) [[unlikely]]
      return ring_.output[at] + code_.values[v].within;
    return ring_.slot(at) + code_.values[v].offset;
  }
  /// Items are the caller's own objects.
  bool is_borrowed(std::size_t v) const { return code_.values[v].of_input && !destroys_input_; }
  const void* borrowed(std::size_t v, std::size_t at) const {
    return static_cast<const std::byte*>(ring_.input[at]) + code_.values[v].within;
  }
  bool is_external(std::size_t v) const { return !ring_.output.empty() && code_.values[v].is_result; }
  sequence arrived(std::size_t s) const { return s == 0 ? ring_.pushed.load() : segments_[s - 1].finished.load(); }

  void note_versions(std::size_t count) {
    const sequence first = ring_.pushed.load(std::memory_order_relaxed);
    void* const* const now = versions_->current(first, ring_.popped.load());
    for (std::size_t i = 0; i < count; ++i) objects_[ring_.input_index(i)] = now;
  }
  /// How many of those items are of one version.
  sequence of_one_version(std::size_t at, sequence count) const {
    sequence n = 1;
    while (n < count && objects_[at + n] == objects_[at]) ++n;
    return n;
  }

  // ---- claiming: run/detail/engine/claim_grains.hpp ----

  grain* claim(std::size_t s);
  sequence count_of_grain(const segment& seg, sequence begin, sequence waiting) const;
  sequence share_of(const segment& seg, sequence waiting) const;
  void begin_grain(std::size_t s, grain& g, sequence begin, sequence count);
  bool is_backed_up(const segment& seg) const;
  bool would_wait_inside() const;
  void fetch(const segment& seg, const grain& g) const;
  void invite_if_it_pays() noexcept;
  int most_workers() const;
  std::uint64_t waiting_ns() const;

  // ---- deposit and resume: run/detail/engine/deposit_grains.hpp ----

  [[gnu::always_inline]] static const atomic<sequence>* ticket_of(const segment& seg, const program_unit& unit);
  void deposit(segment& seg, grain& g);
  bool admitted(segment& seg, grain& g, const program_unit& unit);

  // ---- running: run/detail/engine/run_grains.hpp ----

  bool is_single_item_ready() const noexcept;
  [[gnu::cold]] void lose_single_item(segment& seg, grain& g, std::size_t u) noexcept;
  bool run_short(std::size_t s) noexcept;
  void end_short(std::size_t s, sequence begin, sequence end, bool some_silent) noexcept;
  chain_call call_of_chain(std::size_t u, std::byte* memory, std::size_t at, std::size_t count,
                           const std::byte* row = nullptr);
  const std::byte* in_row(sequence item) const { return row_.first + item * row_.bytes; }
  void place_from_row(const grain& g);
  bool run_chain(segment& seg, grain& g, std::size_t count) noexcept;
  void run(std::size_t s, grain& first) noexcept;
  void run_next(segment& seg, grain& g, std::size_t count) noexcept;
  grain* run_until_deposited(std::size_t s, grain& g, int& swaps) noexcept;
  void hint() { waker_.hint(); }
  // ---- branches of an item: run/detail/engine/run_branches.hpp ----

  static shared_branches& branches_of(segment& seg, const grain& g) {
    return seg.branches[static_cast<std::size_t>(&g - seg.grains.begin())];
  }
  bool may_run_branches(const grain& g) const;
  bool run_branches_from(segment& seg, grain& g, std::size_t branch, grain_watch& watch) noexcept;
  bool run_branches(segment& seg, grain& g) noexcept;
  bool help_with_branch(std::size_t s) noexcept;
  void run_branch(segment& seg, grain& g, std::size_t branch, grain_watch& watch) noexcept;
  void join_branches(segment& seg, grain& g) noexcept;
  bool is_left(shared_branches& all, std::size_t v) const;

  // ---- units: run/detail/engine/run_units.hpp ----

  bool needs_gathering(const program_unit& unit) const;
  const void** gather(const segment& seg, const grain& g, const program_unit& unit, std::size_t i,
                      const void** next) const;
  void run_gathered(segment& seg, grain& g, std::size_t u, std::size_t first, std::size_t count) noexcept;
  [[gnu::always_inline]] unit_call call_of(const segment& seg, const grain& g, std::size_t u, std::size_t first,
                                           std::size_t count, const void** gathered);
  void run_unit(segment& seg, grain& g, std::size_t u, std::size_t first, std::size_t count) noexcept;
  void run_unit_with_care(segment& seg, grain& g, std::size_t u, std::size_t first, std::size_t count,
                          const void** gathered = nullptr) noexcept;
  void call_unit(segment& seg, grain& g, std::size_t u, std::size_t first, unit_call& call) noexcept;
  value_path path_of(const segment& seg, std::size_t v) const;
  [[gnu::cold]] unit_path path_of_unit(const segment& seg, std::size_t u) const;
  [[gnu::cold]] bool is_chained(const program_unit& first) const;
  [[gnu::cold]] bool is_all_chained() const;
  bool is_shared_place(std::size_t v) const;
  void end_inputs_of_kernels(std::size_t s, sequence item);
  void settle_lost(segment& seg, grain& g, const program_unit& unit, std::size_t first, std::size_t count);
  void tell_of_failure(std::size_t at) noexcept;
  void cancel_items(segment& seg, grain& g, const program_unit& unit, std::size_t first, std::size_t count);
  void drop_late_items(segment& seg, grain& g, const program_unit& unit, std::size_t first, std::size_t count);
  void end_item(segment& seg, grain& g, const program_unit& unit, std::size_t i, item_state as);
  std::size_t index_of(const program_unit& unit) const;
  /// Null: nothing is measured.
  meter* measuring() const { return meter_.measuring(); }
  std::byte* place(const segment& seg, const grain& g, std::size_t v, std::size_t i, std::size_t& stride) const;
  void destroy(const segment& seg, const grain& g, std::size_t v, std::size_t i);
  void destroy_value(std::size_t v, std::size_t at);

  // ---- finishing ----

  /// Behind a finished grain. Says whether the frontier moved.
  bool finish(std::size_t s, sequence begin, sequence end, bool some_silent) {
    sequence frontier;
    const bool moved = segments_[s].finish(ring_, begin, end, frontier);
    // Stamps of others may be about silent items, too.
    if (moved && s + 1 == segments_.size() && (some_silent || frontier != end)) pass_over();
    return moved;
  }

  void wake_next(std::size_t s) {
    hint();
    waker_.tell_parked();
    if (s + 1 < segments_.size()) invite_if_it_pays();
  }

  /// Somebody has to look: those who park here, else a worker.
  void wake() {
    if (!waker_.wake()) invite_if_it_pays();
  }

  /// Frees the slots of items that give no result, from the head on; any thread may.
  void pass_over() {
    bool any = false;
    for (;;) {
      sequence p = ring_.popped.load();
      if (p >= finished()) break;
      const item_state state = state_of(ring_.state[ring_.index(p)]);
      if (!is_silent(state)) break;
      // Said before the slot is free: whoever finds nothing in flight any more asks for exact counts.
      if (!any) passing_over_.fetch_add(1);
      any = true;
      if (ring_.popped.compare_exchange_strong(p, p + 1)) tally_.of(state).fetch_add(1, std::memory_order_relaxed);
    }
    if (!any) return;
    passing_over_.fetch_sub(1);
    if (!settings_.polls) waker_.tell_parked();
  }

  // ---- devices ----

  bool submit(std::size_t s) noexcept {
    return devices_.submit(
        s, segments_[s], [&] { return arrived(s); },
        [&](sequence item) {
          if (meter* m = measuring()) [[unlikely]]
            m->handed(item);
        },
        [&](sequence item, std::exception_ptr why) { fail(code_.first_segment + s, item, std::move(why)); });
  }

  static constexpr std::uint64_t worth_a_worker_ns = 8'000;
  static constexpr std::uint64_t unknown_item_ns = 2'000;
  static constexpr std::uint64_t computing_unit_ns = 50'000;  // one that takes longer may wait for something
  static constexpr std::uint64_t ticket_spin_ns = 2'000;
  static constexpr std::uint64_t worth_a_grain_ns = 2'000;
  static constexpr std::uint64_t most_ns_to_swap = 50'000;  // of items that the caller has not asked for
  static constexpr std::uint64_t short_grain_ns = 1'000;    // those that come meanwhile wait no longer
  static constexpr std::uint32_t always_timed_ns = 250;

  const program& code_;
  const session_settings settings_;
  const bool is_usual_;  ///< no setting changes how items come in
  permits& concurrency_limit_;
  const bool destroys_input_;
  const bool goes_short_;       ///< grains of cheap items may go from end to end at once
  const bool looks_at_output_;  ///< whether results are past their deadline
  slot_ring ring_;
  item_row row_;  ///< what comes in, if it comes so
  failure_hook on_failure_;
  bool hands_out_all_ = false;
  session_states states_;
  owner<object_versions> versions_;    ///< where parameters can be replaced
  fixed_array<void* const*> objects_;  ///< of the version of the item in each slot
  fixed_array<segment> segments_;
  items_end end_of_items_{0};       ///< of all grains that run
  fixed_array<unit_path> paths_;    ///< of each unit
  fixed_array<bool> is_chained_;    ///< where a chain begins that can be run as one
  bool runs_single_items_ = false;  ///< chains are all there is

  sole_thread sole_;

  switched_meter meter_;

  thread_waker waker_;
  device_lanes devices_;
  atomic<int> passing_over_{0};
  atomic<bool> cancelled_{false};
  atomic<bool> some_come_failed_{false};  ///< the first segment gets items that have failed
  atomic<bool> closed_{false};
  item_tally tally_;
};

}  // namespace detail
}  // namespace levada

#include <levada/run/detail/engine/claim_grains.hpp>
#include <levada/run/detail/engine/deposit_grains.hpp>
#include <levada/run/detail/engine/run_branches.hpp>
#include <levada/run/detail/engine/run_grains.hpp>
#include <levada/run/detail/engine/run_units.hpp>
#include <levada/run/detail/workers/threading.hpp>
