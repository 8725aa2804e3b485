// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/permits.hpp: how many threads run the stages of a deployment at once.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
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
  class place;

 private:
  struct waiting_line {
    std::atomic<place*> first{nullptr};
    place* last = nullptr;
  };

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
    if (waiting_.load() != 0) [[unlikely]]
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
    give_up_alone();
    return false;
  }
  void release_alone() {
    alone_.store(0, std::memory_order_release);
    light_fence();
  }
  /// The same where others may have come and found it taken.
  [[gnu::noinline]] void give_up_alone() {
    release_alone();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    tell_line();
  }

  /// A place in one of the two lines of threads that wait for a permit, left at its end. `event` tells the first
  /// that there is one. A thread whose session has others at work is not in a hurry: it comes behind all that are.
  class place {
   public:
    place(permits& crew, event_count& event, bool hurries) : crew_(crew), event_(event), hurries_(hurries) {
      const std::lock_guard lock(crew.mutex_);
      crew.waiting_.fetch_add(1);
      before_ = std::exchange(line().last, this);
      if (before_ != nullptr)
        before_->behind_ = this;
      else
        become_first(this);
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
      const std::lock_guard lock(crew_.mutex_);
      crew_.waiting_.fetch_sub(1);
      (behind_ != nullptr ? behind_->before_ : line().last) = before_;
      if (before_ != nullptr)
        before_->behind_ = behind_;
      else
        become_first(behind_);
      if (crew_.any_left()) crew_.tell_first_locked();
    }

    bool may_acquire() const { return crew_.running() < open(); }
    /// Who has one leaves.
    bool try_acquire() { return crew_.try_acquire_below(open()); }

   private:
    friend class permits;

    waiting_line& line() { return hurries_ ? crew_.hurried_ : crew_.patient_; }
    int open() const {
      if (!hurries_) return crew_.open_to_all();
      return crew_.hurried_.first.load() == this ? crew_.count_ : 0;
    }
    void become_first(place* of) {
      line().first.store(of);
      if (hurries_) crew_.called_.store(of != nullptr ? now() : nobody);
    }

    permits& crew_;
    event_count& event_;
    const bool hurries_;
    place* before_;
    place* behind_ = nullptr;
  };
  /// The first that hurries has waited long: the next permit is for it.
  bool are_overdue() const { return is_overdue(called_.load()); }
  /// And finds none. Whether one whose visit is over, and who has had a permit since then, gives it back: the longer the first
  /// waits, the shorter that may be, so that who has had one longest is asked before the others.
  bool wants_back(std::chrono::steady_clock::time_point since) const {
    const clock::rep called = called_.load();
    if (!is_overdue(called) || any_left()) return false;
    const clock::rep at = now(), overdue = at - called - patience;
    return at - since.time_since_epoch().count() >= count_ * (patience - overdue);
  }
  bool any_left() const { return running() < count_; }

  int running() const { return running_.load() + alone_.load(); }
  int count() const { return count_; }
  int workers() const { return workers_; }
  /// Of these, as many as can compute at once.
  int computing_workers() const { return computing_workers_; }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr clock::rep patience = clock::duration(std::chrono::milliseconds(1)).count();
  static constexpr clock::rep nobody = std::numeric_limits<clock::rep>::max();

  static clock::rep now() { return clock::now().time_since_epoch().count(); }
  static bool is_overdue(clock::rep called) { return called != nobody && now() - called > patience; }

  [[gnu::noinline, gnu::cold]] void tell_first() {
    const std::lock_guard lock(mutex_);
    tell_first_locked();
  }
  void tell_first_locked() {
    place* const first = hurried_.first.load() != nullptr ? hurried_.first.load() : patient_.first.load();
    if (first != nullptr) first->event_.notify_all();
  }
  int open_to_all() const { return are_overdue() ? count_ - 1 : count_; }
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
  std::atomic<int> waiting_{0};  ///< in both lines
  std::mutex mutex_;             ///< of the lines
  waiting_line hurried_, patient_;
  std::atomic<clock::rep> called_{nobody};  ///< when the first that hurries became that
};

}  // namespace levada::detail
