// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/pop_results.hpp: results go out: what one popper calls.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <levada/core/error.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/run/detail/engine/push_items.hpp>
#include <levada/run/detail/measure/meter.hpp>

namespace levada::detail {

/// The side of the popper.
template <class = void>
class basic_result_outlet : public item_intake {
 public:
  /// From the first item on, filtered, dropped and cancelled ones wait at the head like results.
  void hand_out_all() {
    hands_out_all_ = true;
    runs_single_items_ = false;
    let_others_in();
  }
  bool hands_out_all() const { return hands_out_all_; }
  /// Who is to be told what becomes of the item at the head.
  completion* head_completion() const { return ring_.completions[ring_.head_index]; }
  const item_envelope& head_envelope() const { return ring_.envelope[ring_.head_index]; }

  /// Seen from any thread: something finished was not popped.
  bool has_unpopped() const { return finished() != ring_.popped.load(); }

  /// A result waits at the head.
  bool has_result() {
    const bool none = ring_.head >= ring_.known_finished && ring_.head >= finished();
    return !(none && (ring_.kept != 0 || ring_.head == ring_.popped.load())) && has_result_from_there();
  }
  [[gnu::noinline]] bool has_result_from_there() {
    if (completed_) [[unlikely]]
      return has_completed();
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
  /// The same of results that leave as they complete: the head is the next of these.
  [[gnu::noinline]] bool has_completed() {
    free_kept();
    for (sequence item = 0; completed_->next(item); free_kept()) {
      ring_.move_head(item);
      if (!looks_at_output_ || !drop_overdue_head() || hands_out_all_) return true;
      tally_.of(head_state()).fetch_add(1, std::memory_order_relaxed);
      ring_.keep_head();
    }
    return false;
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
    if (completed_) [[unlikely]]
      return leave_completed(completed_->take());
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
    if (completed_)
      completed_->take();
    else
      ring_.keep_head();
  }
  /// It was looked at for the last time. Its slot is free behind `free_kept_before`.
  void leave_held(sequence item) {
    destroy_value(code_.result, ring_.index(item));
    if (completed_) leave_completed(item);
  }
  /// As `free_kept`, of the first few.
  void free_kept_before(sequence until) {
    if (completed_) return free_kept();  // those that are held have not left
    if (until == first_kept()) return;
    ring_.kept = static_cast<std::size_t>(ring_.head - until);
    ring_.popped.store(until);
    if (until != finished()) pass_over();
    tell_waiters();
  }

  /// Some that were popped as values went into nothing behind that.
  void count_dropped_behind(std::size_t count) { tally_.count_dropped_behind(count); }

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

 protected:
  using item_intake::item_intake;
  ~basic_result_outlet() { discard_results(); }

 private:
  /// Of results that leave as they complete, one that was taken.
  [[gnu::noinline]] void leave_completed(sequence item) {
    completed_->leave(item);
    pass_over();
    tell_waiters();
  }
};
using result_outlet = basic_result_outlet<>;

}  // namespace levada::detail
