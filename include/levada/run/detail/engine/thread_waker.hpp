// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/thread_waker.hpp: who is at an engine, and who is woken or brought when something has changed.
// Knows no work: where somebody has to look at that, it is asked for.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <levada/run/detail/engine/count_relaxed.hpp>
#include <levada/run/detail/workers/event_count.hpp>
#include <levada/run/detail/workers/permits.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// What wakes or brings threads from the outside: the deployment.
class engine_host {
 public:
  /// Asks for one more worker to visit the engine.
  virtual void invite() noexcept = 0;

 protected:
  ~engine_host() = default;
};

/// Threads are workers, who are invited, and helpers: callers who park at the event where they find nothing to do.
template <class = void>
class alignas(64) basic_thread_waker {
 public:
  basic_thread_waker(event_count& event, engine_host& host) : event_(event), host_(host) {}

  // ---- who is here ----

  void worker_awake() { awake_.fetch_add(1); }
  void worker_asleep() { awake_.fetch_sub(1); }
  /// One that is awake has a permit, and gives it back.
  void worker_begins() { busy_.fetch_add(1); }
  void worker_ends() { busy_.fetch_sub(1); }
  /// Workers are at this session, so that its items go from processor to processor.
  bool is_shared() const { return awake_.load(std::memory_order_relaxed) != 0; }

  /// A thread that would help parks here; to be said before it looks for the last time.
  void helper_parks() { parked_.fetch_add(1); }
  /// It goes on, and may not help any more: what it was relied on for is brought to a worker.
  template <class HasWork>
  void helper_goes(HasWork has_work) {
    parked_.fetch_sub(1);
    if (invites_always() && awake_.load() == 0 && has_work()) host_.invite();
  }

  // ---- what tells them ----

  /// Changes when there may be more work, results or room than before: what an idle thread looks at, and leaves all
  /// other lines to those who write them. A change may be missed when two come at once; whoever parks looks at
  /// everything.
  std::uint32_t hints() const { return hints_.load(std::memory_order_relaxed); }
  void hint() { count_relaxed(hints_); }
  /// Those who are parked look again.
  [[gnu::always_inline]] void tell_parked() { event_.notify_all(); }
  /// Who waits for something to change looks again. `polls`: nobody parks.
  void tell_waiters(bool polls) {
    hint();
    if (!polls) tell_parked();
  }
  /// Somebody has to look: those who park here, else a worker. Says whether one was invited.
  bool wake() {
    hint();
    tell_parked();
    return invite_first();
  }

  // ---- who is brought ----

  void invite() noexcept { host_.invite(); }
  /// Where nobody is here. Says whether that was so.
  bool invite_first() {
    const bool is_empty = awake_.load() == 0 && parked_.load() == 0;
    if (is_empty) host_.invite();
    return is_empty;
  }
  /// Work that nobody may ever wait for has to be brought to a worker: behind `try_push`, and before a sink.
  void invite_always() { invites_always_.store(true, std::memory_order_relaxed); }
  bool invites_always() const { return invites_always_.load(std::memory_order_relaxed); }

  bool has_workers(int most) const { return awake_.load(std::memory_order_relaxed) >= most; }
  /// Those who are parked are woken anyway, and take as many items.
  bool is_for_parked(std::uint64_t waiting) const {
    return waiting <= static_cast<std::uint64_t>(parked_.load(std::memory_order_relaxed));
  }
  /// There are `count` things that may be done at once: those who are awake find them; workers are brought where these
  /// are too few.
  void offer(std::size_t count, const permits& concurrency_limit) noexcept {
    hint();
    tell_parked();
    const int wanted = std::min(static_cast<int>(count), concurrency_limit.count() - concurrency_limit.running());
    const int idle = awake_.load() - busy_.load() + parked_.load();
    for (int there = idle; there < wanted && awake_.load() < concurrency_limit.workers(); ++there) host_.invite();
  }

 private:
  event_count& event_;
  engine_host& host_;
  atomic<bool> invites_always_{false};
  alignas(64) atomic<int> awake_{0};
  atomic<int> busy_{0};  ///< of these
  alignas(64) atomic<std::uint32_t> hints_{0};
  alignas(64) atomic<int> parked_{0};
};
using thread_waker = basic_thread_waker<>;

}  // namespace levada::detail
