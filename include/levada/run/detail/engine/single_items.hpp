// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/single_items.hpp: the short way of a single item: the thread that pops it runs it, in few steps.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/run/detail/engine/run_grains.hpp>
#include <levada/run/detail/engine/sole_thread.hpp>
#include <levada/run/detail/workers/asymmetric_fence.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Runs single items on the thread that wants them.
template <class = void>
class basic_single_item_runner : public grain_runner {
 public:
  /// The calling thread pushes, pops, helps, waits or cancels. Says whether no other ever did, which spares it the
  /// fences and locked operations that are there for others: workers aside, who are counted, others enter here before
  /// they look.
  [[gnu::always_inline]] bool enter() noexcept { return sole_.enter(); }
  /// Several threads may be here at once from now on.
  void let_others_in() noexcept { sole_.let_others_in(); }

  /// For the popper: an item waits, perhaps a single one, in a program that takes single items in few steps.
  bool may_have_single_item() const {
    return runs_single_items_ && ring_.pushed.load(std::memory_order_acquire) == ring_.head + 1 && ring_.kept == 0;
  }
  bool claim_single_item() noexcept;
  bool run_single_item() noexcept;
  void leave_single_item() noexcept;
  bool release_single_item() noexcept;
  void give_back_single_item() noexcept;

 protected:
  template <class... Arguments>
  [[gnu::cold]] explicit basic_single_item_runner(const program& code, Arguments&&... arguments)
      : grain_runner(code, std::forward<Arguments>(arguments)...) {
    runs_single_items_ = goes_short_ && !settings_.dedicated && code.has_result && is_all_chained();
    if (!runs_single_items_ || !has_heavy_fence) let_others_in();
  }

  bool is_single_item_ready() const noexcept;
  [[gnu::cold]] void lose_single_item(segment& seg, grain& g, std::size_t u) noexcept;
};
using single_item_runner = basic_single_item_runner<>;

/// Takes a permit, and with it the single item that waits where nothing else is in flight or waits to be popped and no
/// worker is awake, in a segment that is one chain. False: it goes the ways of all items.
template <class T>
inline bool basic_single_item_runner<T>::claim_single_item() noexcept {
  bool permitted;
  const bool claims = sole_.claim(concurrency_limit_, segments_.front().claimed, ring_.head, permitted,
                                  [&] { return is_single_item_ready(); });
  if (permitted && !claims) give_back_single_item();
  return claims;
}

template <class T>
inline bool basic_single_item_runner<T>::is_single_item_ready() const noexcept {
  const segment& seg = segments_.front();
  const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
  return ns != 0 && ns < worth_a_worker_ns && seg.finished.load() == ring_.head && ring_.popped.load() == ring_.head &&
         !some_come_failed_.load(std::memory_order_relaxed) && !is_shared() && !cancelled_.load() && !measuring();
}

/// Runs the item that was claimed so. A value stays with the caller, the popper, until `leave_single_item`. False: it
/// has failed and waits to be popped.
template <class T>
inline bool basic_single_item_runner<T>::run_single_item() noexcept {
  segment& seg = segments_.front();
  const bool timed = seg.is_timed(1);
  count_relaxed(seg.grains_run);
  grain& g = seg.grains.front();
  const auto start = timed ? thread_time() : std::chrono::steady_clock::time_point{};
  for (std::size_t u = 0; u != seg.code.end; u = code_.units[u].chain_end) {
    chain_call call = call_of_chain(u, g.memory, ring_.head_index, 1);
    code_.units[u].chain_one(call);
    if (call.lost_some) [[unlikely]] {
      lose_single_item(seg, g, u);
      return false;
    }
  }
  if (timed) seg.learn(nanoseconds_since(start));
  // Once: whoever is admitted by them moves them on.
  seg.pass_tickets(ring_.head + 1);
  return true;
}

/// It ended in the chain that begins at `u`: the others hear of it, and it waits to be popped if it has failed.
template <class T>
inline void basic_single_item_runner<T>::lose_single_item(segment& seg, grain& g, std::size_t u) noexcept {
  const program_unit& chain = code_.units[u];
  const sequence begin = ring_.head;
  g.begin_at(begin, begin + 1, ring_.head_index, chain.chain_end);
  g.some_ended = true;
  settle_lost(seg, g, chain, 0, 1);
  while (g.unit < seg.code.end) run_next(seg, g, 1);
  end_short(0, begin, begin + 1, true);
}

/// Gives back the permit of the single item. Says whether anybody may wait for it, or for what was done before.
template <class T>
inline bool basic_single_item_runner<T>::release_single_item() noexcept {
  return sole_.release(concurrency_limit_, [&] { return is_shared(); });
}

template <class T>
inline void basic_single_item_runner<T>::give_back_single_item() noexcept {
  if (release_single_item()) waker_.tell_parked();
}

/// The value of a single item was popped. Gives back the permit that it was run with.
template <class T>
inline void basic_single_item_runner<T>::leave_single_item() noexcept {
  segment& seg = segments_.front();
  ring_.advance_head();
  const sequence end = ring_.known_finished = ring_.head;
  tally_.count_by_popper(tally_.delivered);
  // One locked operation for these and the permit: who looks at any of them behind a sequentially consistent one of its
  // own sees them, or is seen below.
  seg.finished.store(end, std::memory_order_release);
  ring_.popped.store(end, std::memory_order_release);
  if (!release_single_item()) return;
  // Others may have begun what came meanwhile.
  sequence frontier = end;
  if (seg.claimed.load() != end && seg.follow_stamps(ring_, frontier)) pass_over();
  hint();
  if (seg.deposited.load() != 0)
    wake();
  else
    waker_.tell_parked();  // room, and a permit
}

}  // namespace levada::detail
