// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/far_clock.hpp: what the steady clock of another machine says when ours says something, by questions and
// their answers.

#include <chrono>
#include <cstdint>

#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

/// Times as they cross: any number of nanoseconds, which wraps around.
inline std::uint64_t time_on_wire(std::chrono::steady_clock::time_point at) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

class far_clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// The first answers come behind one another; then one is asked for now and then, since clocks drift apart.
  static constexpr int first_answers = 4;
  static constexpr std::chrono::seconds between{10};
  static constexpr int drift = 10'000;  ///< by at most one part in so many

  bool is_due(time_point now) const { return !is_asked_ && (answers_ < first_answers || now - asked_ >= between); }
  void ask(time_point now) {
    asked_ = now;
    is_asked_ = true;
  }
  /// `there`: what it said at some moment since the question. The answer counts that came soonest behind its question,
  /// for as long as no later one is closer for all that the clocks may have drifted.
  void answer(std::uint64_t there, time_point now) {
    if (!is_asked_) throw wire_error("levada: a node tells a time that nobody asked for");
    is_asked_ = false;
    const auto way = now - asked_;
    const bool is_first = answers_ == 0;
    if (answers_ < first_answers) ++answers_;
    if (!is_first && way > way_ + (now - answered_) / drift) return;
    way_ = way;
    answered_ = now;
    ahead_ = there - time_on_wire(asked_ + way / 2);
  }
  /// What it says at a time of ours.
  std::uint64_t there(time_point here) const { return time_on_wire(here) + ahead_; }

 private:
  time_point asked_{}, answered_{};
  std::chrono::steady_clock::duration way_{};
  std::uint64_t ahead_ = 0;
  int answers_ = 0;
  bool is_asked_ = false;
};

}  // namespace levada::detail
