// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/division_balance.hpp: whether the division of units among threads saves time on this machine now.
// A helper whose processor others have is waited for, and the item would be done sooner by its own thread alone.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <levada/core/detail/clock.hpp>

namespace levada::detail {

/// Time saved by division, less the time lost. Where the loss prevails, nothing is divided for a while.
class division_balance {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::nanoseconds;

  /// What was saved before is lost first, up to a time slice of another program.
  static constexpr duration most_saved = std::chrono::milliseconds(4);
  /// So many times the loss. Time lost to a processor that others always have is one part in so many.
  static constexpr int pause_factor = 16;

  constexpr bool is_paused(time_point now) const { return now < resumes_; }

  /// A unit was divided: the item's thread computed `own` of `all` tiles in `computing`, and was `waiting` for the
  /// others until `now`.
  constexpr void add(std::size_t own, std::size_t all, duration computing, duration waiting, time_point now) {
    if (own == 0) return;  // how long a tile takes is not known
    const auto of_others = static_cast<std::int64_t>(all - own);
    saved_ = std::min(saved_ + computing * of_others / static_cast<std::int64_t>(own) - waiting, most_saved);
    if (saved_ >= duration(0)) return;
    resumes_ = now - pause_factor * saved_;
    saved_ = duration(0);
  }

 private:
  duration saved_{0};
  time_point resumes_{};
};

}  // namespace levada::detail
