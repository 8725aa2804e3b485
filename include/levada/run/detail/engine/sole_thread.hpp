// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/sole_thread.hpp: whether one thread is the only one that ever pushed to, popped from or helped an
// engine, and its short way to claim and to run an item: without the fences and locked operations that are there for
// others.

#include <atomic>
#include <cstdint>

#include <levada/run/detail/workers/asymmetric_fence.hpp>
#include <levada/run/detail/workers/event_count.hpp>
#include <levada/run/detail/workers/permits.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Workers aside, who are counted elsewhere, threads enter here before they look.
template <class = void>
class basic_sole_thread {
 public:
  using sequence = std::uint64_t;

  /// The calling thread is here. Says whether no other ever was.
  [[gnu::always_inline]] bool enter() noexcept {
    const thread_mark sole = sole_.load(std::memory_order_relaxed);
    return sole == this_thread_mark() || (sole != this && enter_first(sole));
  }
  /// Several threads may be here at once from now on.
  void let_others_in() noexcept { sole_.store(this); }
  bool lets_others_in() const noexcept { return sole_.load() == this; }
  /// Asked again, behind a fence, of an entrance that was so.
  bool is_still_alone() const noexcept { return sole_.load(std::memory_order_relaxed) == this_thread_mark(); }

  /// Takes a permit, and with it item `head`, the next of `claimed`, where `is_ready()`. `permitted`: the permit was
  /// taken, item or not, and is given back by `release`.
  template <class IsReady>
  [[gnu::always_inline]] bool claim(permits& concurrency_limit, atomic<sequence>& claimed, sequence head,
                                    bool& permitted, IsReady is_ready) noexcept {
    const bool alone = enter();
    if (alone) claims_alone_.store(true, std::memory_order_relaxed);
    runs_alone_ = alone && acquire_alone(concurrency_limit);
    permitted = runs_alone_ || concurrency_limit.try_acquire();
    // Others who come from here on have said so before they look, and wait for the claim.
    if (!runs_alone_) fence_behind_locked();
    const bool claims = permitted && is_ready() &&
                        (alone && is_still_alone() ? claim_alone(claimed, head) : claim_among_others(claimed, head));
    claims_alone_.store(false, std::memory_order_release);
    return claims;
  }
  /// Others wait until that is over, in a moment.
  void wait_for_claim() const noexcept {
    while (claims_alone_.load()) [[unlikely]]
      spin_pause();
  }
  /// Gives back the permit of a claim. Says whether anybody may wait for it, or for what was done before: not where
  /// this is still the only thread, and `is_shared()` says that no worker is here.
  template <class IsShared>
  [[gnu::always_inline]] bool release(permits& concurrency_limit, IsShared is_shared) noexcept {
    if (!runs_alone_) {
      concurrency_limit.release();
      fence_behind_locked();
      return true;
    }
    concurrency_limit.release_alone();
    if (is_still_alone() && concurrency_limit.has_one_session() && !is_shared()) return false;
    full_fence();
    concurrency_limit.tell_line();
    return true;
  }

 private:
  [[gnu::noinline]] bool enter_first(thread_mark sole) noexcept {
    if (sole == nullptr && sole_.compare_exchange_strong(sole, this_thread_mark())) return true;
    sole_.store(&claims_alone_);  // no thread's; who comes meanwhile does the same
    heavy_fence();
    let_others_in();
    return false;
  }
  bool acquire_alone(permits& concurrency_limit) noexcept {
    if (!concurrency_limit.try_acquire_alone()) return false;
    if (is_still_alone()) return true;
    concurrency_limit.give_up_alone();
    return false;
  }
  static bool claim_alone(atomic<sequence>& claimed, sequence head) noexcept {
    if (claimed.load(std::memory_order_relaxed) != head) return false;
    claimed.store(head + 1, std::memory_order_release);
    return true;
  }
  static bool claim_among_others(atomic<sequence>& claimed, sequence head) noexcept {
    return claimed.compare_exchange_strong(head, head + 1);
  }

  // Its address says several, and must not be that of `claims_alone_`.
  atomic<thread_mark> sole_{nullptr};  ///< the only one that was ever here; this object: several may be
  atomic<bool> claims_alone_{false};   ///< and it is about to claim, without regard to others
  bool runs_alone_ = false;            ///< with a permit that others need not be told of
};
using sole_thread = basic_sole_thread<>;

}  // namespace levada::detail
