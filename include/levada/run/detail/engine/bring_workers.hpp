// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/bring_workers.hpp: whether there is work, and where it pays to bring a worker to it.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <levada/run/detail/engine/finish_items.hpp>
#include <levada/run/detail/workers/permits.hpp>

namespace levada::detail {

/// Looks for work, for itself and for workers.
template <class = void>
class basic_worker_bringer : public item_finisher {
 public:
  /// Something could be done now.
  bool has_work() const {
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const segment& seg = segments_[s];
      if (arrived(s) > seg.claimed.load() && (seg.has_device ? seg.may_submit() : may_claim(seg))) return true;
      if (seg.deposited.load() != 0 && seg.has_admitted_grain()) return true;
      if (seg.offered.load() != 0 && has_unclaimed_branch(seg)) return true;
    }
    return false;
  }

  /// Items wait to be worked on.
  bool has_waiting() const { return ring_.pushed.load(std::memory_order_relaxed) != segments_.front().claimed.load(); }
  /// Behind a visit that did something: another may find more.
  bool may_have_more() const {
    return segments_.size() != 1 || has_waiting() || segments_.front().deposited.load() != 0;
  }

  /// A worker that is here does more good than harm.
  bool pays_for_a_worker() const {
    if (invites_always() || has_devices()) return true;
    for (const auto& seg : segments_)
      if (!seg.is_cheap()) return true;
    return false;
  }

  /// Work that nobody may ever wait for has to be brought to a worker: behind `try_push`, and before a sink.
  void invite_always() { waker_.invite_always(); }
  bool invites_always() const { return waker_.invites_always(); }
  /// From a thread that only looks for results: work that nobody is at is brought to a worker.
  void invite_if_idle() {
    invite_always();
    if (has_work()) invite_first();
  }
  void invite_first() { waker_.invite_first(); }

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

 protected:
  using item_finisher::item_finisher;

  void wake_next(std::size_t s) {
    hint();
    waker_.tell_parked();
    // Who pushed an item that runs inline goes on to the next segment itself; a push that finds others at work invites.
    if (s + 1 < segments_.size() && !settings_.inline_when_idle) invite_if_it_pays();
  }

  /// Somebody has to look: those who park here, else a worker.
  void wake() {
    if (!waker_.wake()) invite_if_it_pays();
  }

  bool is_backed_up(const segment& seg) const;
  bool may_claim(const segment& seg) const { return !is_backed_up(seg) && seg.has_free_grain(); }
  bool would_wait_inside() const;
  void invite_if_it_pays() noexcept;
  int most_workers() const;
  std::uint64_t waiting_ns() const;

  static constexpr std::uint64_t worth_a_worker_ns = 8'000;
  static constexpr std::uint64_t unknown_item_ns = 2'000;
  static constexpr std::uint64_t computing_unit_ns = 50'000;  // one that takes longer may wait for something
};
using worker_bringer = basic_worker_bringer<>;

/// As many grains wait at tickets as there are threads: another one would only wait, too.
template <class T>
inline bool basic_worker_bringer<T>::is_backed_up(const segment& seg) const {
  if (settings_.latest_only && &seg == &segments_.front()) return would_wait_inside();
  return seg.deposited.load(std::memory_order_relaxed) >= static_cast<std::uint32_t>(concurrency_limit_.count());
}

/// An item that was begun can no longer give way to a newer one: it is begun when every serial stage could take it at
/// once, and no device has more than one before it.
template <class T>
inline bool basic_worker_bringer<T>::would_wait_inside() const {
  const sequence begin = segments_.front().claimed.load();
  for (const segment& seg : segments_) {
    if (seg.has_device && begin > seg.finished.load() + 1) return true;
    for (const ticket& t : seg.tickets)
      if (!seg.has_device && t.next.load(std::memory_order_relaxed) < begin) return true;
  }
  return false;
}

/// A worker is brought where the waiting work is worth two wake-ups.
template <class T>
inline void basic_worker_bringer<T>::invite_if_it_pays() noexcept {
  if (segments_.size() == 1 && segments_.front().is_cheap()) return;
  if (waker_.has_workers(most_workers()) || !concurrency_limit_.available()) return;
  const sequence waiting =
      ring_.pushed.load(std::memory_order_relaxed) - segments_.front().claimed.load(std::memory_order_relaxed);
  if (segments_.size() == 1 && waker_.is_for_parked(waiting)) return;
  if (waiting_ns() >= worth_a_worker_ns) waker_.invite();
}

/// More threads than processors are of use where stages wait for something. Else whoever holds what others want loses
/// its processor to them.
template <class T>
inline int basic_worker_bringer<T>::most_workers() const {
  if (concurrency_limit_.computing_workers() == concurrency_limit_.workers()) return concurrency_limit_.workers();
  for (const segment& seg : segments_) {
    const std::uint64_t ns = seg.item_ns.load(std::memory_order_relaxed);
    if (ns == 0 || ns > computing_unit_ns * (seg.code.end - seg.code.first)) return concurrency_limit_.workers();
  }
  return concurrency_limit_.computing_workers();
}

/// The work that waits, as far as it is worth sharing: items that take less than their way to another processor are
/// not.
template <class T>
inline std::uint64_t basic_worker_bringer<T>::waiting_ns() const {
  std::uint64_t all = 0;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const segment& seg = segments_[s];
    if (seg.has_device) continue;
    const sequence claimed = seg.claimed.load(std::memory_order_relaxed), there = arrived(s);
    if (there <= claimed) continue;
    const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
    if (!seg.is_cheap()) all += (there - claimed) * (ns == 0 ? unknown_item_ns : ns);
  }
  return all;
}

}  // namespace levada::detail
