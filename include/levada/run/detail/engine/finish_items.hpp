// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/finish_items.hpp: items that are through with a segment, and those that give no result at the end.

#include <atomic>
#include <cstddef>

#include <levada/run/detail/engine/run_branches.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Moves items on behind a segment.
template <class = void>
class basic_item_finisher : public branch_runner {
 public:
  /// Nobody is between freeing the slot of an item that gave no result and counting it.
  bool all_counted() const { return passing_over_.load() == 0; }

 protected:
  using branch_runner::branch_runner;

  bool is_silent(item_state state) const { return !hands_out_all_ && gives_nothing(state); }
  bool gives_nothing(item_state state) const {
    return state == item_state::value ? !code_.has_result : state != item_state::failed;
  }

  /// Behind a finished grain. Says whether there may be more to do or to pop than before.
  bool finish(std::size_t s, sequence begin, sequence end, bool some_silent) {
    if (completed_) [[unlikely]]
      return finish_unordered(s, begin, end);
    sequence frontier;
    const bool moved = segments_[s].finish(ring_, begin, end, frontier);
    // Stamps of others may be about silent items, too.
    if (moved && s + 1 == segments_.size() && (some_silent || frontier != end)) pass_over();
    return moved;
  }

  /// Frees the slots of items that give no result, from the head on; any thread may.
  void pass_over() {
    if (completed_) [[unlikely]]
      return free_left();
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

 private:
  /// Results that leave as they complete may be popped before the frontier comes to them.
  [[gnu::noinline]] bool finish_unordered(std::size_t s, sequence begin, sequence end) {
    const bool is_last = s + 1 == segments_.size();
    for (sequence item = is_last ? begin : end; item != end; ++item) {
      const item_state state = state_of(ring_.state[ring_.index(item)]);
      if (!is_silent(state)) {
        completed_->append(item);
      } else {
        tally_.of(state).fetch_add(1, std::memory_order_relaxed);
        completed_->leave(item);
      }
    }
    sequence frontier;
    const bool moved = segments_[s].finish(ring_, begin, end, frontier);
    if (moved && is_last) free_left();
    return moved || is_last;
  }
  /// The slots before the frontier whose items have left, in the order of items. Any thread may, behind one that leaves
  /// and behind a move of the frontier.
  [[gnu::noinline]] void free_left() {
    bool any = false;
    for (sequence p = ring_.popped.load(); p < finished() && completed_->has_left(p);) {
      any = true;
      if (ring_.popped.compare_exchange_strong(p, p + 1)) ++p;
    }
    if (any && !settings_.polls) waker_.tell_parked();
  }
};
using item_finisher = basic_item_finisher<>;

}  // namespace levada::detail
