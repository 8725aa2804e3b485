// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/virtual_clock.hpp: time that passes when it is told to, for sessions whose lateness must not
// depend on the machine.

#include <atomic>

#include <levada/core/detail/clock.hpp>

namespace levada {

/// The present of a session opened with it, in its deadlines and as the capture time of items that have none. It
/// stands still but for `advance_to` and `advance`, which any thread may call, and never goes back. Outlives the
/// session.
class virtual_clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  explicit virtual_clock(time_point start = {}) : now_(start.time_since_epoch().count()) {}

  time_point now() const { return time_point(duration(now_.load())); }

  /// Nothing happens where it is later already.
  void advance_to(time_point to) {
    duration::rep seen = now_.load();
    while (seen < to.time_since_epoch().count() && !now_.compare_exchange_weak(seen, to.time_since_epoch().count())) {
    }
  }
  void advance(duration by) {
    if (by > duration::zero()) now_.fetch_add(by.count());
  }

 private:
  std::atomic<duration::rep> now_;
};

}  // namespace levada
