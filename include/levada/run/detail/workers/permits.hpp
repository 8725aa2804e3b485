// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/permits.hpp: how many threads run the stages of a deployment at once.

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/exchange.hpp>
#include <levada/run/detail/workers/asymmetric_fence.hpp>
#include <levada/run/detail/workers/event_count.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Permits to run stages, shared by all sessions of a deployment: `cpu<N>` runs at most N threads at once, helpers
/// included, of which an executor brings `workers` at most.
template <class = void>
class basic_permits {
 public:
  class place;
  class absence;
  using clock = std::chrono::steady_clock;

 private:
  struct waiting_line {
    atomic<place*> first{nullptr};
    place* last = nullptr;
  };

 public:
  basic_permits(int count, int workers) : count_(count), workers_(std::min(count, workers)) {
    const int here = processors();
    computing_workers_ = here == 0 ? workers_ : std::min(workers_, here);
  }
  bool try_acquire() { return try_acquire_below(open_to_all()); }
  bool available() const { return running() < open_to_all(); }
  /// The caller then looks for work once more, or tells the waiting threads of its session.
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
    explicit session(basic_permits& concurrency_limit) : concurrency_limit_(concurrency_limit) {
      if (concurrency_limit.sessions_.fetch_add(1) != 0 && has_heavy_fence) heavy_fence();
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session() { concurrency_limit_.sessions_.fetch_sub(1); }

   private:
    basic_permits& concurrency_limit_;
  };
  bool has_one_session() const { return sessions_.load(std::memory_order_acquire) == 1; }
  /// A permit without a locked operation, for the one thread that ever entered the one session that there is, while
  /// nobody else works. A light fence, behind which the thread looks whether it is still the only one: others enter
  /// before they ask for a permit, and take a heavy one there.
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
    full_fence();
    tell_line();
  }

  /// A place in one of the two lines of threads that wait for a permit, left at its end. `event` tells the first
  /// that there is one. A thread whose session has others at work is not in a hurry: it comes behind all that are.
  class place {
   public:
    /// `since`: when its session began to wait, where that was before.
    place(basic_permits& concurrency_limit, event_count& event, bool hurries,
          clock::time_point since = clock::time_point::max())
        : concurrency_limit_(concurrency_limit),
          event_(event),
          hurries_(hurries),
          since_(since.time_since_epoch().count()) {
      const std::lock_guard lock(concurrency_limit.mutex_);
      concurrency_limit.waiting_.fetch_add(1);
      before_ = exchange_value(line().last, this);
      if (before_ != nullptr)
        before_->behind_ = this;
      else
        become_first(this);
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
      const std::lock_guard lock(concurrency_limit_.mutex_);
      concurrency_limit_.waiting_.fetch_sub(1);
      (behind_ != nullptr ? behind_->before_ : line().last) = before_;
      if (before_ != nullptr)
        before_->behind_ = behind_;
      else
        become_first(behind_);
      if (concurrency_limit_.any_left()) concurrency_limit_.tell_first_locked();
    }

    bool may_acquire() const { return concurrency_limit_.running() < open(); }
    /// The owner of a permit leaves.
    bool try_acquire() { return concurrency_limit_.try_acquire_below(open()); }

   private:
    friend class basic_permits;

    waiting_line& line() { return hurries_ ? concurrency_limit_.hurried_ : concurrency_limit_.patient_; }
    int open() const {
      if (!hurries_) return concurrency_limit_.open_to_all();
      return concurrency_limit_.hurried_.first.load() == this ? concurrency_limit_.count_ : 0;
    }
    void become_first(place* of) {
      line().first.store(of);
      if (!hurries_) return;
      if (of != nullptr) of->called_ = std::min(now(), of->since_);
      concurrency_limit_.note_called();
    }

    basic_permits& concurrency_limit_;
    event_count& event_;
    const bool hurries_;
    const clock::rep since_;
    clock::rep called_ = nobody;  ///< when it became the first that hurries
    place* before_;
    place* behind_ = nullptr;
  };

  /// A session that has work and no thread in the lines: its worker is wanted elsewhere. It hurries as the first in the
  /// line does, and is called once a permit is left.
  class absence {
   public:
    absence(basic_permits& concurrency_limit, void (*call)(void*) noexcept, void* session)
        : concurrency_limit_(concurrency_limit), call_(call), session_(session) {}
    absence(const absence&) = delete;
    absence& operator=(const absence&) = delete;
    ~absence() { end(); }

    /// At once, where one is left now.
    void begin() {
      const std::lock_guard lock(concurrency_limit_.mutex_);
      if (is_listed_ || has_ended_) return;
      is_listed_ = true;
      since_ = now();
      behind_ = exchange_value(concurrency_limit_.absent_, this);
      concurrency_limit_.waiting_.fetch_add(1);
      concurrency_limit_.note_called();
      if (concurrency_limit_.any_left()) concurrency_limit_.call_absent_locked();
    }
    /// Never again; to be said while the session can be called.
    void end() {
      const std::lock_guard lock(concurrency_limit_.mutex_);
      has_ended_ = true;
      if (!is_listed_) return;
      absence** at = &concurrency_limit_.absent_;
      while (*at != this) at = &(*at)->behind_;
      concurrency_limit_.unlist(at);
    }

   private:
    friend class basic_permits;
    basic_permits& concurrency_limit_;
    void (*const call_)(void*) noexcept;
    void* const session_;
    absence* behind_ = nullptr;
    clock::rep since_ = nobody;
    bool is_listed_ = false, has_ended_ = false;
  };
  /// The first that hurries has waited long: the next permit is for it.
  bool are_overdue() const { return is_overdue(called_.load()); }
  /// And finds none. Whether one whose visit is over, and who has had a permit since then, gives it back: the longer
  /// the first waits, the shorter that may be, so that who has had one longest is asked before the others.
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
  static constexpr clock::rep patience = clock::duration(std::chrono::milliseconds(1)).count();
  static constexpr clock::rep nobody = std::numeric_limits<clock::rep>::max();

  static clock::rep now() { return thread_time().time_since_epoch().count(); }
  static bool is_overdue(clock::rep called) { return called != nobody && now() - called > patience; }

  [[gnu::noinline, gnu::cold]] void tell_first() {
    const std::lock_guard lock(mutex_);
    tell_first_locked();
  }
  /// The first in the line behind the absent one: it may find the permit open to it only when nobody is overdue.
  void tell_first_locked() {
    call_absent_locked();
    place* const first = hurried_.first.load() != nullptr ? hurried_.first.load() : patient_.first.load();
    if (first != nullptr) first->event_.notify_all();
  }
  /// The one that has been away longest.
  void call_absent_locked() {
    if (absent_ == nullptr) return;
    absence** at = &absent_;
    while ((*at)->behind_ != nullptr) at = &(*at)->behind_;
    absence& last = **at;
    unlist(at);
    last.call_(last.session_);
  }
  void unlist(absence** at) {
    (*at)->is_listed_ = false;
    *at = (*at)->behind_;
    waiting_.fetch_sub(1);
    note_called();
  }
  void note_called() {
    const place* const first = hurried_.first.load();
    clock::rep called = first != nullptr ? first->called_ : nobody;
    for (const absence* away = absent_; away != nullptr; away = away->behind_) called = std::min(called, away->since_);
    called_.store(called);
  }
  int open_to_all() const { return are_overdue() ? count_ - 1 : count_; }
  bool try_acquire_below(int most) {
    int running = running_.load();
    while (running + alone_.load() < most)
      if (running_.compare_exchange_weak(running, running + 1)) return true;
    return false;
  }

  alignas(64) atomic<int> running_{0};
  atomic<int> alone_{0};
  atomic<int> sessions_{0};
  const int count_, workers_;
  int computing_workers_;
  atomic<int> waiting_{0};  ///< in both lines, and away
  mutex mutex_;             ///< of these
  waiting_line hurried_, patient_;
  absence* absent_ = nullptr;
  atomic<clock::rep> called_{nobody};  ///< when the first that hurries became that, or an absent one went
};
using permits = basic_permits<>;

}  // namespace levada::detail
