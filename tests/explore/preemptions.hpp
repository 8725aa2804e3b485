// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/preemptions.hpp: all schedules with at most so many preemptions, one after the other (Musuvathi, Qadeer,
// PLDI 2007). Most faults of concurrent programs need two or three.
//
// Three things are left out, and none loses a state.
// - A preemption is only before an operation that is in an order with those of other threads. What a thread does before
//   it is in no such order, so an earlier preemption leads to the same states. Operations that change for whom others
//   make room when they spin count as ordered, too.
// - A thread that was preempted is not gone back to by another preemption before somebody has done what its next
//   operation depends on: a sleep set of that one operation (scheduler.hpp). With more operations, as of Coons,
//   Musuvathi and McKinley, OOPSLA 2013, the same order may take one preemption more.
// - Where a state was met before with as many preemptions left, all that may follow was, or will be, searched from
//   there. This schedule is left there.
//
// Memory is copied at each choice. So a schedule is not run from its beginning, but from where it parts from the one
// before it.
//
// `explore_sessions --compare` runs what is left out, too, and compares the states that all of them end in.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <explore/causal_order.hpp>
#include <explore/program_memory.hpp>

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
  void add(const states_met& more) {
    for (const std::uint64_t s : more.states_)
      if (s != 0) add(s & ~mask, static_cast<unsigned>(s & mask) - 1);
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

/// A search through a tree of choices, depth first. An execution asks for each choice in turn; `next` goes back to the
/// last choice that has another way.
class preemption_search {
 public:
  /// `reduces`: leaves out what leads to no other state.
  explicit preemption_search(unsigned most, bool reduces = true) : most_(most), reduces_(reduces) {}
  /// Goes one way at random, its preemptions some of the first `steps` steps apart.
  preemption_search(unsigned most, std::uint64_t seed, std::uint64_t steps)
      : most_(most), reduces_(true), seed_(seed), steps_(steps), preempts_from_(hashed(seed, 0) % steps) {}
  static constexpr std::uint64_t to_its_end = ~std::uint64_t{0};
  /// Goes one way again: that of `text()`, so many steps far.
  explicit preemption_search(const char* text, std::uint64_t steps = to_its_end)
      : most_(0), reduces_(false), goes_again_(true), steps_(steps) {
    for (char* end; *text != '\0'; text = *end == ' ' ? end + 1 : end) {
      const std::uint64_t step = std::strtoull(text, &end, 10);
      if (*end != ':') break;
      taken_again_.emplace_back(step, std::strtoull(end + 1, &end, 10));
    }
  }

  bool reduces() const { return reduces_; }
  /// A thread that could go on may make room for another one.
  bool may_preempt() const { return goes_again_ || used_ < most_; }

  /// The execution is left there: all that may follow is searched elsewhere.
  static constexpr std::size_t known = ~std::size_t{0};

  /// Which of these ready threads runs at that step: its place among them. `preempts`: all but the first do so in place
  /// of one that could go on. `state()` is a number of all that has happened, `save(image)` keeps it.
  template <class State, class Save>
  std::size_t choose(std::span<const std::size_t> ready, bool preempts, std::uint64_t step, State state, Save save) {
    if (goes_again_) return choose_again(ready, step);
    if (preempts && used_ == most_) return 0;
    if (steps_ != 0) return ready.size() == 1 ? 0 : choose_at_random(ready.size(), preempts, step);
    if (at_ == path_.size()) {
      // Where no other is ready it only saves the rest of an execution that has no preemption left.
      if (reduces_ && (ready.size() > 1 || used_ == most_) && !met_.add(state(), used_)) return known;
      if (ready.size() == 1) return 0;
      if (images_.size() == path_.size()) images_.emplace_back();
      images_[path_.size()].clear();
      save(images_[path_.size()]);
      path_.push_back({.step = step, .count = ready.size(), .used = used_, .preempts = preempts});
    }
    choice& c = path_[at_++];
    c.thread = ready[c.taken];
    used_ += preempts && c.taken != 0;
    return c.taken;
  }
  std::size_t states() const { return met_.size(); }

  /// Goes to the next schedule: back to where it parts from this one. False: that was the last.
  bool next() {
    for (; !path_.empty(); path_.pop_back()) {
      choice& c = path_.back();
      if (++c.taken < c.count) {
        used_ = c.used, at_ = path_.size() - 1;
        images_[at_].restore();
        return true;
      }
    }
    return false;
  }
  void begin_again() {
    path_.clear(), met_.clear();
    at_ = 0, used_ = 0;
  }

  /// How to come to this schedule again: the steps at which another than the first was taken, and which thread.
  std::string text() const {
    std::string t;
    for (std::size_t i = 0; i < at_ && !goes_again_; ++i)
      if (path_[i].taken != 0)
        t += (t.empty() ? "" : " ") + std::to_string(path_[i].step) + ':' + std::to_string(path_[i].thread);
    return t;
  }

 private:
  struct choice {
    std::uint64_t step = 0;
    std::size_t count = 0, taken = 0, thread = 0;  ///< thread: that was taken
    unsigned used = 0;                             ///< preemptions before it
    bool preempts = false;
  };

  std::size_t choose_again(std::span<const std::size_t> ready, std::uint64_t step) {
    if (step >= steps_) return known;
    if (at_ == taken_again_.size() || taken_again_[at_].first != step) return 0;
    const auto thread = std::find(ready.begin(), ready.end(), taken_again_[at_++].second);
    return thread != ready.end() ? static_cast<std::size_t>(thread - ready.begin()) : 0;
  }
  std::size_t choose_at_random(std::size_t count, bool preempts, std::uint64_t step) {
    const std::uint64_t drawn = hashed(seed_, step);
    if (!preempts) return drawn % count;
    if (step < preempts_from_) return 0;
    ++used_, preempts_from_ = step + 1 + hashed(drawn, step) % steps_;
    return 1 + drawn % (count - 1);
  }

  const unsigned most_;
  const bool reduces_, goes_again_ = false;
  const std::uint64_t seed_ = 0, steps_ = 0;  ///< steps: of a way that is not searched for
  std::uint64_t preempts_from_ = 0;
  std::vector<choice> path_;
  std::vector<memory_image> images_;  ///< at each choice of it
  std::vector<std::pair<std::uint64_t, std::size_t>> taken_again_;
  states_met met_;
  std::size_t at_ = 0;  ///< the choice that comes next
  unsigned used_ = 0;   ///< preemptions before it
};

}  // namespace levada::test
