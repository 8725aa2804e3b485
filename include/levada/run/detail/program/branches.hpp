// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/branches.hpp: the branches of one item, handed out among threads. Nobody waits for anybody: who
// begins a branch ends it, who has ended one looks for the next, and who ends the last of all goes on with the item
// behind them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <levada/plan/detail/branches.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// The branches that the item of a grain is in.
template <class = void>
class alignas(64) basic_shared_branches {
 public:
  /// The outcome of the item in one branch.
  struct outcome {
    item_state state = item_state::value;
    std::exception_ptr error{};
    std::size_t unit = 0;  ///< the first that was not run to its end there
  };

  const program_fork& fork() const { return *fork_; }
  outcome& of(std::size_t branch) { return outcomes_[branch]; }

  /// The item is before that fork. The caller has its first branch, and all others may be claimed.
  void open(const program_fork& fork) {
    fork_ = &fork;
    for (std::size_t b = 0; b < fork.branches; ++b) outcomes_[b].state = item_state::value;
    ended_at_.store(fork.end, std::memory_order_relaxed);
    unfinished_.store(fork.branches, std::memory_order_relaxed);
    unclaimed_.store(fork.branches - 1);
  }

  bool has_unclaimed() const { return unclaimed_.load() != 0; }
  /// A branch that nobody has begun is the caller's. False: there is none. `was_last`: nor is there one behind it.
  bool claim(std::size_t& branch, bool& was_last) {
    std::size_t left = unclaimed_.load();
    while (left != 0)
      if (unclaimed_.compare_exchange_weak(left, left - 1)) {
        branch = fork_->branches - left;
        was_last = left == 1;
        return true;
      }
    return false;
  }
  /// The caller has run a branch to its end. True: it was the last, and the item is the caller's.
  bool finish() { return unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  /// The item ended at that unit. Of several the first in the order of the pipeline counts.
  void end_at(std::size_t unit) {
    std::size_t first = ended_at_.load(std::memory_order_relaxed);
    while (unit < first && !ended_at_.compare_exchange_weak(first, unit, std::memory_order_relaxed)) {
    }
  }
  /// Where it has ended by now; the end of the fork: nowhere.
  std::size_t ended_at() const { return ended_at_.load(std::memory_order_relaxed); }

 private:
  const program_fork* fork_ = nullptr;
  atomic<std::size_t> unclaimed_{0};
  atomic<std::size_t> unfinished_{0};
  atomic<std::size_t> ended_at_{0};
  outcome outcomes_[most_branches];
};
using shared_branches = basic_shared_branches<>;

}  // namespace levada::detail
