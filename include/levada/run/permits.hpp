// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/permits.hpp: how many threads run the stages of a deployment at once.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include <levada/run/asymmetric_fence.hpp>
#include <levada/run/event_count.hpp>

namespace levada::detail {

/// Permits to run stages, shared by all sessions of a deployment: `cpu<N>` runs at most N threads at once, helpers included,
/// of which an executor brings `workers` at most.
class permits {
 public:
  permits(int count, int workers) : count_(count), workers_(std::min(count, workers)) {
    const int here = static_cast<int>(std::thread::hardware_concurrency());  // 0: not known
    computing_workers_ = here == 0 ? workers_ : std::min(workers_, here);
  }
  bool try_acquire() { return try_acquire_below(open_to_all()); }
  bool available() const { return running() < open_to_all(); }
  /// The caller then looks for work once more, or tells those who wait in its session.
  void release() {
    running_.fetch_sub(1);
    tell_line();
  }
  /// Behind a sequentially consistent operation that left a permit.
  [[gnu::always_inline]] void tell_line() {
    if (first_.load() != nullptr) [[unlikely]]
      tell_first();
  }

  /// Lives as long as anything of a session.
  class session {
   public:
    explicit session(permits& crew) : crew_(crew) {
      if (crew.sessions_.fetch_add(1) != 0 && has_heavy_fence) heavy_fence();
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session() { crew_.sessions_.fetch_sub(1); }

   private:
    permits& crew_;
  };
  bool has_one_session() const { return sessions_.load(std::memory_order_acquire) == 1; }
  /// A permit without a locked operation, for the one thread that ever entered the one session that there is, while nobody
  /// else works. A light fence, behind which the thread looks whether it is still the only one: others enter before they ask
  /// for a permit, and take a heavy one there.
  [[gnu::always_inline]] bool try_acquire_alone() {
    if (!has_one_session()) return false;  // another's thread may have the flag
    alone_.store(1, std::memory_order_relaxed);
    light_fence();
    if (has_one_session() && running_.load(std::memory_order_relaxed) == 0) return true;
    release_alone();
    return false;
  }
  void release_alone() {
    alone_.store(0, std::memory_order_release);
    light_fence();
  }

  /// A place in the line of those who wait for a permit; left at the end, or with one. `event` tells the first that there is
  /// one.
  class place {
   public:
    place(permits& crew, event_count& event) : crew_(crew), event_(event) {
      const std::lock_guard lock(crew.line_);
      before_ = std::exchange(crew.last_, this);
      if (before_ != nullptr)
        before_->behind_ = this;
      else
        crew.call(this);
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() { leave(); }

    bool is_next() const { return crew_.first_.load() == this && crew_.any_left(); }
    bool try_acquire() {
      if (crew_.first_.load() != this || !crew_.try_acquire_below(crew_.count_)) return false;
      leave();
      return true;
    }

   private:
    friend class permits;
    void leave() {
      const std::lock_guard lock(crew_.line_);
      if (std::exchange(has_left_, true)) return;
      (behind_ != nullptr ? behind_->before_ : crew_.last_) = before_;
      if (before_ != nullptr) {
        before_->behind_ = behind_;
      } else {
        crew_.call(behind_);
        if (behind_ != nullptr && crew_.any_left()) behind_->event_.notify_all();
      }
    }

    permits& crew_;
    event_count& event_;
    place* before_;
    place* behind_ = nullptr;
    bool has_left_ = false;
  };
  /// The first in the line has waited long: those who have a permit give it back when their visit is over, and no others get
  /// one.
  bool are_overdue() const {
    const clock::duration called = called_.load();
    return called != nobody && now() - called > patience;
  }
  bool any_left() const { return running() < count_; }

  int running() const { return running_.load() + alone_.load(); }
  int count() const { return count_; }
  int workers() const { return workers_; }
  /// Of these, as many as can compute at once.
  int computing_workers() const { return computing_workers_; }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr clock::duration patience = std::chrono::microseconds(1000);

  static clock::duration now() { return clock::now().time_since_epoch(); }

  static constexpr clock::duration nobody = clock::duration::max();

  [[gnu::noinline, gnu::cold]] void tell_first() {
    const std::lock_guard lock(line_);
    if (place* const first = first_.load()) first->event_.notify_all();
  }
  int open_to_all() const { return are_overdue() ? count_ - 1 : count_; }
  /// Under the lock of the line.
  void call(place* first) {
    first_.store(first);
    called_.store(first != nullptr ? now() : nobody);
  }
  bool try_acquire_below(int most) {
    int running = running_.load();
    while (running + alone_.load() < most)
      if (running_.compare_exchange_weak(running, running + 1)) return true;
    return false;
  }

  alignas(64) std::atomic<int> running_{0};
  std::atomic<int> alone_{0};
  std::atomic<int> sessions_{0};
  const int count_, workers_;
  int computing_workers_;
  std::mutex line_;
  std::atomic<place*> first_{nullptr};
  place* last_ = nullptr;
  std::atomic<clock::duration> called_{nobody};  ///< when the first in the line became that
};

}  // namespace levada::detail
