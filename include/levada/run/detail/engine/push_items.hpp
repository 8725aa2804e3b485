// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/push_items.hpp: items come in: what one pusher calls.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <levada/run/detail/engine/single_items.hpp>
#include <levada/run/detail/measure/meter.hpp>

namespace levada::detail {

/// The side of the pusher.
template <class = void>
class basic_item_intake : public single_item_runner {
 public:
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

  /// The next item comes as one that has failed before it came.
  void push_failed(const std::exception_ptr& why, const item_envelope& envelope) {
    const std::size_t at = ring_.input_index(0);
    ring_.envelope[at] = envelope;
    ring_.error[at] = why;
    set_state(ring_.state[at], item_state::failed);
    some_come_failed_.store(true, std::memory_order_relaxed);
    publish(1);
  }
  /// The next item fails as it comes, and who listens hears of it.
  void fail_at_admission(const std::exception_ptr& why, const item_envelope& envelope) {
    if (on_failure_.call != nullptr) on_failure_.call(on_failure_.object, envelope.sequence, why);
    push_failed(why, envelope);
  }
  item_envelope& input_envelope() { return ring_.envelope[ring_.input_index(0)]; }

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
  /// An item was dropped at admission, without a place in the order of items.
  void count_dropped_at_admission(drop_reason why) { tally_.count_at_admission(why); }
  /// A push found no room, and left its item with the caller.
  void count_refused() { tally_.refused.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t next_sequence() const {
    return ring_.pushed.load(std::memory_order_relaxed) + tally_.at_admission.load(std::memory_order_relaxed);
  }
  bool is_usual() const { return is_usual_; }
  /// What was pushed is all that comes.
  void close() { closed_.store(true); }
  bool is_closed() const { return closed_.load(); }

  /// Who is to be told what becomes of one taken back.
  completion*& waiting_completion(std::size_t i, std::size_t count) {
    return ring_.completions[ring_.waiting_index(i, count)];
  }

  /// Before the first item.
  void set_failure_hook(failure_hook hook) { on_failure_ = hook; }

 protected:
  using single_item_runner::single_item_runner;

  void note_versions(std::size_t count) {
    const sequence first = ring_.pushed.load(std::memory_order_relaxed);
    void* const* const now = versions_->current(first, ring_.popped.load());
    for (std::size_t i = 0; i < count; ++i) objects_[ring_.input_index(i)] = now;
  }
};
using item_intake = basic_item_intake<>;

}  // namespace levada::detail
