// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/preemptions.hpp: all schedules with at most so many preemptions, one after the other (Musuvathi, Qadeer,
// PLDI 2007). Most faults of concurrent programs need two or three.
//
// Three things are left out, and none loses a state.
// - A preemption is only before an operation that is in an order with those of other threads. What a thread does up to
//   there is in no such order, so an earlier preemption leads to the same states.
// - A thread that was preempted is not gone back to by another preemption before somebody has done what its next
//   operation depends on: a sleep set of that one operation (scheduler.hpp). With more operations, as of Coons,
//   Musuvathi and McKinley, OOPSLA 2013, the same order may take one preemption more.
// - Where a state was met before with as many preemptions left, all that may follow was, or will be, searched from
//   there. The rest of this schedule is run to its end without another choice.
//
// `explore_sessions --compare` runs what is left out, too, and compares the states that all of them end in.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <explore/causal_order.hpp>

namespace levada::test {

/// With how many preemptions each state was met, fewest first.
class states_met {
 public:
  /// Notes the state; false: it was met with as few before.
  bool add(std::uint64_t state, unsigned preemptions) {
    if (2 * used_ >= states_.size()) grow();
    // The lowest bits of a number are that of preemptions and one.
    const std::uint64_t key = state & ~mask;
    std::uint64_t& there = look_up(states_, key);
    if (there != 0 && (there & mask) <= preemptions + 1) return false;
    used_ += there == 0;
    there = key | (preemptions + 1);
    return true;
  }
  std::size_t size() const { return used_; }
  void clear() { states_.clear(), used_ = 0; }

 private:
  static constexpr std::uint64_t mask = 7;

  static std::uint64_t& look_up(std::vector<std::uint64_t>& in, std::uint64_t key) {
    std::size_t i = (key >> 3) & (in.size() - 1);
    while (in[i] != 0 && (in[i] & ~mask) != key) i = (i + 1) & (in.size() - 1);
    return in[i];
  }
  void grow() {
    std::vector<std::uint64_t> larger(states_.empty() ? 1 << 12 : 2 * states_.size());
    for (const std::uint64_t s : states_)
      if (s != 0) look_up(larger, s & ~mask) = s;
    states_.swap(larger);
  }

  std::vector<std::uint64_t> states_;
  std::size_t used_ = 0;
};

/// A search through a tree of choices, depth first. An execution asks for each choice in turn; `next` makes the next
/// execution take another way.
class preemption_search {
 public:
  /// `reduces`: leaves out what leads to no other state.
  explicit preemption_search(unsigned most, bool reduces = true) : most_(most), reduces_(reduces) {}
  /// Goes one way at random, its preemptions some of the first `steps` steps apart.
  preemption_search(unsigned most, std::uint64_t seed, std::uint64_t steps)
      : most_(most), reduces_(true), seed_(seed), steps_(steps), preempts_from_(hashed(seed, 0) % steps) {}
  /// Goes one way again: that of `text()`.
  preemption_search(unsigned most, const char* text) : most_(most), reduces_(false), goes_again_(true) {
    for (char* end; *text != '\0'; text = *end == ' ' ? end + 1 : end) {
      const std::uint64_t step = std::strtoull(text, &end, 10);
      if (*end != ':') break;
      taken_again_.emplace_back(step, std::strtoull(end + 1, &end, 10));
    }
  }

  bool reduces() const { return reduces_; }

  /// Which of `count` ready threads runs at that step. `preempts`: all but the first do so in place of one that could
  /// go on.
  template <class State>
  std::size_t choose(std::size_t count, bool preempts, std::uint64_t step, State state) {
    if (goes_again_)
      return at_ < taken_again_.size() && taken_again_[at_].first == step ? taken_again_[at_++].second : 0;
    if (count == 1 || is_known_ || (preempts && used_ == most_)) return 0;
    if (steps_ != 0) return choose_at_random(count, preempts, step);
    if (at_ == path_.size()) {
      if (reduces_ && !met_.add(state(), used_)) {
        is_known_ = true;
        return 0;
      }
      path_.push_back({step, count, 0, preempts});
    }
    const choice& c = path_[at_++];
    if (c.step != step || c.count != count || c.preempts != preempts) is_same_ = false;
    if (preempts && c.taken != 0) ++used_;
    return c.taken < count ? c.taken : 0;
  }
  /// The execution has met the same choices as the one before it, up to where they part.
  bool is_same() const { return is_same_ && (goes_again_ || at_ == path_.size()); }
  /// The execution came to a state that was met before.
  bool is_known() const { return is_known_; }
  std::size_t states() const { return met_.size(); }

  /// Goes to the next schedule; false: that was the last.
  bool next() {
    is_known_ = false;
    for (; !path_.empty(); path_.pop_back()) {
      choice& c = path_.back();
      if (c.preempts && c.taken != 0) --used_;
      if (c.taken + 1 < c.count && !(c.preempts && used_ == most_)) {
        ++c.taken;
        used_ = 0, at_ = 0;
        return true;
      }
    }
    return false;
  }
  void begin_again() {
    path_.clear(), met_.clear();
    at_ = 0, used_ = 0, is_same_ = true, is_known_ = false;
  }

  /// How to come to this schedule again: the steps at which another than the first was taken, and which.
  std::string text() const {
    std::string t;
    for (std::size_t i = 0; i < at_ && !goes_again_; ++i)
      if (path_[i].taken != 0)
        t += (t.empty() ? "" : " ") + std::to_string(path_[i].step) + ':' + std::to_string(path_[i].taken);
    return t;
  }

 private:
  struct choice {
    std::uint64_t step;
    std::size_t count, taken;
    bool preempts;
  };

  std::size_t choose_at_random(std::size_t count, bool preempts, std::uint64_t step) {
    const std::uint64_t drawn = hashed(seed_, step);
    if (!preempts) return drawn % count;
    if (step < preempts_from_) return 0;
    ++used_, preempts_from_ = step + 1 + hashed(drawn, step) % steps_;
    return 1 + drawn % (count - 1);
  }

  const unsigned most_;
  const bool reduces_, goes_again_ = false;
  const std::uint64_t seed_ = 0, steps_ = 0;  ///< steps: of a way at random
  std::uint64_t preempts_from_ = 0;
  std::vector<choice> path_;
  std::vector<std::pair<std::uint64_t, std::size_t>> taken_again_;
  states_met met_;
  std::size_t at_ = 0;  ///< the choice that comes next
  unsigned used_ = 0;   ///< preemptions before it
  bool is_same_ = true, is_known_ = false;
};

}  // namespace levada::test
