// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/item_team.hpp: the parts of a unit of one item, handed out among threads. The item's own thread
// computes the first part, and those that nobody has begun; it waits only for those that others are in. Workers are
// invited for the first unit and stay for those behind it, each with the same part, whose data its caches have.

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/graph/detail/tile_range.hpp>
#include <levada/run/detail/program/division_balance.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/permits.hpp>
#include <levada/run/detail/workers/session_gate.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// The threads that compute units of one item together, one item of a deployment at a time. A template, so that units
/// that divide nothing have none of it.
template <class = void>
class item_team final : public unit_team {
 public:
  using invite_code = void (*)(void* executor, worker_call);

  /// `part_bytes`: of scratch, for each thread but the item's own.
  [[gnu::cold]] item_team(permits& concurrency_limit, std::size_t part_bytes, std::size_t alignment, invite_code invite,
                          void* executor)
      : concurrency_limit_(concurrency_limit),
        parts_(static_cast<std::size_t>(concurrency_limit.count())),
        most_helpers_(std::min(concurrency_limit.count(), processors() == 0 ? INT_MAX : processors()) - 1),
        part_bytes_(part_bytes),
        invite_(invite),
        executor_(executor),
        scratch_(parts_ - 1, part_bytes, alignment),
        places_(parts_),
        gate_(this) {}

  bool compute(const program_unit& unit, const unit_call& call) noexcept override {
    if (!concurrency_limit_.available() || !try_take()) return false;
    const auto begin = thread_time();
    unit_ = &unit;
    call_ = &call;
    unfinished_.store(static_cast<std::uint32_t>(parts_), std::memory_order_relaxed);
    const std::uint32_t number = opened_.load(std::memory_order_relaxed) + 1;
    opened_.store(number);
    invite_helpers();
    const std::size_t own = compute_parts(number, 0);
    const auto computed = thread_time();
    wait_for_others();
    const auto end = thread_time();
    balance_.add(own, unit.tiles, computed - begin, end - computed, end);
    is_taken_.store(false);
    return true;
  }
  bool compute_with_permit(const program_unit& unit, const unit_call& call) noexcept override {
    if (!concurrency_limit_.try_acquire()) return false;
    const bool computes = compute(unit, call);
    concurrency_limit_.release();
    return computes;
  }
  bool is_ready() noexcept override {
    if (!try_take()) return false;
    is_taken_.store(false);
    return true;
  }

 private:
  /// A thread's own, or a part's.
  struct alignas(64) place {
    atomic<std::uint32_t> claimed{0};  ///< the last unit whose part of that number was begun
    atomic<bool> is_held{false};       ///< by a helper
  };
  /// To bring a thread back takes longer than to keep one that has nothing to do for a moment.
  static constexpr auto patience = std::chrono::microseconds(50);

  bool try_take() noexcept {
    if (most_helpers_ == 0 || is_taken_.exchange(true)) return false;
    if (!balance_.is_paused(thread_time())) return true;
    is_taken_.store(false);
    return false;
  }

  void invite_helpers() noexcept {
    while (coming_.load() < most_helpers_) {
      coming_.fetch_add(1);
      gate_.get()->add_holder();
      try {
        invite_(executor_, {&item_team::work, gate_.get()});
      } catch (...) {  // no memory for a task: the item's thread does the work itself
        coming_.fetch_sub(1);
        return gate_.get()->remove_holder();
      }
    }
  }

  /// Begins the parts of that unit that nobody has begun, that of the thread's own place first. Returns how many tiles
  /// they have.
  std::size_t compute_parts(std::uint32_t number, std::size_t own) noexcept {
    std::size_t computed = 0;
    for (std::size_t i = 0; i < parts_; ++i) {
      const std::size_t part = (own + i) % parts_;
      // All parts of the unit before were begun. Of one that is over none can be begun, whatever has come since.
      std::uint32_t before = number - 1;
      if (!places_[part].claimed.compare_exchange_strong(before, number)) continue;
      const tile_range some = tiles_of_part(unit_->tiles, part, parts_);
      const void* const in = call_->inputs != nullptr ? call_->inputs[0] : call_->in;
      std::byte* const scratch = own == 0 ? call_->scratch : scratch_.get() + (own - 1) * part_bytes_;
      if (some.begin != some.end) unit_->of_tiles(call_->object, in, call_->out, scratch, some);
      computed += some.end - some.begin;
      if (unfinished_.fetch_sub(1) == 1) unfinished_.notify_all();
    }
    return computed;
  }

  void wait_for_others() noexcept {
    const auto since = thread_time();
    for (;;) {
      for (int i = 0; i < 16 && unfinished_.load() != 0; ++i) spin_pause();
      const std::uint32_t left = unfinished_.load();
      if (left == 0) return;
      if (thread_time() - since > patience) unfinished_.wait(left);
    }
  }

  static void work(void* gate_pointer) noexcept {
    auto* const gate = static_cast<session_gate*>(gate_pointer);
    if (auto* const self = static_cast<item_team*>(gate->enter())) {
      self->help();
      self->coming_.fetch_sub(1);
      gate->leave();
    }
    gate->remove_holder();
  }

  /// A worker: computes parts, one unit after the other, until none has come for a while.
  void help() noexcept {
    std::size_t own = 1;
    while (own < parts_ && places_[own].is_held.exchange(true)) ++own;
    if (own == parts_) return;
    auto since = thread_time();
    std::uint32_t seen = opened_.load() - 1;
    do {
      const std::uint32_t number = opened_.load();
      if (number != seen) {
        if (concurrency_limit_.try_acquire()) {
          compute_parts(number, own);
          concurrency_limit_.release();
        }
        seen = number;
        since = thread_time();
      }
      for (int i = 0; i < 16 && opened_.load() == seen; ++i) spin_pause();
    } while (thread_time() - since < patience);
    places_[own].is_held.store(false);
  }

  permits& concurrency_limit_;
  const std::size_t parts_;
  const int most_helpers_;
  const std::size_t part_bytes_;
  const invite_code invite_;
  void* const executor_;
  const arena_bytes scratch_;
  fixed_array<place> places_;
  atomic<bool> is_taken_{false};
  const program_unit* unit_ = nullptr;
  const unit_call* call_ = nullptr;
  division_balance balance_;
  alignas(64) atomic<std::uint32_t> opened_{0};  ///< units so far
  alignas(64) atomic<std::uint32_t> unfinished_{0};
  atomic<int> coming_{0};  ///< workers, invited or here
  const open_gate gate_;   ///< behind all that a worker looks at, which has left when it is closed
};

}  // namespace levada::detail
