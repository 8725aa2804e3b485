// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/helped_session.hpp: how a thread that calls a session helps with its work, waits for it, and waits
// for a permit.

#include <atomic>
#include <cstdint>

#include <levada/core/detail/clock.hpp>
#include <levada/core/error.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/session/lambda_ref.hpp>
#include <levada/run/detail/session/session_engines.hpp>
#include <levada/run/detail/workers/permits.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// A session whose callers help. `Executor` says how user code is called.
template <class Executor>
class helped_session : public session_engines {
 public:
  /// Runs what is ready on this thread, a grain a segment at most. Says whether anything was done.
  bool help() {
    if (engine_.settings().dedicated || !may_have_work()) return false;
    engine_.enter();
    if (!deployment_->concurrency_limit.try_acquire()) return false;
    return help_with_permit();
  }

  /// Where a single item waits for this thread, which pops: runs it and hands its value to `take`. Says whether there
  /// was one.
  template <class Take>
  bool pop_single_item(const Take& take) {
    if (!engine_.may_have_single_item() || later_ || !engine_.claim_single_item()) return false;
    bool is_value = false;
    Executor::isolated([&] { is_value = engine_.run_single_item(); });
    if (is_value) {
      take(engine_.head_value());
      engine_.leave_single_item();
    } else {
      engine_.give_back_single_item();
    }
    return is_value;
  }

  /// Helps, spins and parks until `done()`.
  void wait_until(condition done) {
    while (!done()) {
      if (help()) continue;
      if (spin_until(done)) continue;
      park_unless(done);
    }
  }

  /// Like `wait_until`, where only another thread can bring `done()` about once nothing is in flight. `other` is the
  /// last thread that did so: where that is nobody, or this thread itself, it looks again for some seconds and throws
  /// levada::error.
  void wait_for_another(condition done, const atomic<thread_mark>& other, const char* otherwise) {
    int looks = 0;  // and no clock: the process may have been stopped meanwhile
    while (!done()) {
      if (help()) continue;
      if (spin_until(done)) continue;
      const thread_mark last = other.load();
      if (all_finished() && !lets_more_in() && (last == nullptr || last == this_thread_mark())) {
        if (++looks > 10'000) throw error(otherwise);
        sleep_thread(std::chrono::microseconds(200));
        continue;
      }
      const bool was_finished = all_finished();
      park_unless([&] { return done() || all_finished() != was_finished; });
    }
  }

 protected:
  using session_engines::session_engines;
  ~helped_session() = default;

  static void isolated(lambda_ref<void()> f) { Executor::isolated(f); }

  bool can_work() { return has_work() && deployment_->concurrency_limit.available(); }
  bool can_help() { return !engine_.settings().dedicated && can_work(); }

  /// With a permit, which it gives back.
  bool visit_with_permit(condition visits) noexcept {
    at_work_.fetch_add(1);
    const bool any = visits();
    at_work_.fetch_sub(1);
    engine_.give_back_permit();
    return any;
  }
  bool help_with_permit() noexcept {
    return visit_with_permit([this] {
      bool any = false;
      isolated([&] {
        any = visit_all();
        // Cheap items that only this thread works on: all that wait, in one go.
        while (any && !engine_.is_shared() && !engine_.has_devices() && (later_ || engine_.may_have_more()) &&
               !deployment_->concurrency_limit.are_overdue() && visit_all()) {
        }
      });
      return any;
    });
  }

  /// Nobody wakes this thread when it is time.
  static void look_again_soon() { sleep_thread(std::chrono::microseconds(100)); }

  /// Parks until something changes, unless `reason()`. A session that others have left no permit waits for the next
  /// one.
  void park_unless(condition reason) {
    for_each_engine([](engine& e) {
      e.enter();
      e.helper_parks();
    });
    bool permitted = false;
    const std::uint32_t epoch = event_.prepare();
    if (reason() || can_help()) {
      event_.cancel();
    } else if (is_left_out()) {
      event_.cancel();
      permitted = wait_for_permit(reason);
    } else if (is_silent()) {
      event_.cancel();
      look_again_soon();
    } else {
      event_.wait(epoch);
    }
    for_each_engine([](engine& e) { e.helper_goes(); });
    if (permitted) help_with_permit();
  }

  /// Spins until `done()`, or until there is work again. To bring a thread back takes longer than to keep one that has
  /// nothing to do for a moment.
  bool spin_until(condition done) {
    constexpr std::chrono::microseconds longest(20);
    auto until = thread_time() + longest;
    do {
      const std::uint32_t seen = hints();
      if (done() || can_help()) return true;
      if (engine_.look_at_devices()) {  // those behind a change of rate have threads for that
        do {                            // the clock takes longer than some looks
          if (done() || can_help()) return true;
        } while (engine_.look_at_devices());
        until = thread_time() + longest;
      }
      for (int i = 0; i < 16 && hints() == seen; ++i) spin_pause();
    } while (thread_time() < until);
    return false;
  }

  /// There is work, and perhaps others have all permits: who gives one back tells its own session, and the lines. Where
  /// nobody of this session is at work, another's thread had the permit, though that session may have ended since.
  bool is_left_out() const {
    return !engine_.settings().dedicated && has_work() &&
           (at_work_.load() == 0 || !deployment_->concurrency_limit.has_one_session());
  }
  /// Waits for a permit, in a line, as long as there is work and not `done()`. Says whether it has it. Looks again
  /// soon, not only when it is told, where `soon()`.
  bool wait_for_permit(condition done) noexcept {
    return wait_for_permit(
        done, [] { return false; }, permits::clock::time_point::max());
  }
  bool wait_for_permit(condition done, condition soon, permits::clock::time_point since) noexcept {
    while (has_work() && !done()) {
      const bool hurries = at_work_.load() == 0;
      permits::place place(deployment_->concurrency_limit, event_, hurries, since);
      do {
        if (place.try_acquire()) return true;
        if (engine_.settings().polls) {
          spin_pause();
          continue;
        }
        const std::uint32_t epoch = event_.prepare();
        if (!has_work() || done() || place.may_acquire() || (!hurries && at_work_.load() == 0)) {
          event_.cancel();
        } else if (soon()) {
          event_.cancel();
          look_again_soon();
        } else {
          event_.wait(epoch);
        }
      } while (has_work() && !done() && (hurries || at_work_.load() != 0));
    }
    return false;
  }

  atomic<int> at_work_{0};  ///< threads with a permit
};

}  // namespace levada::detail
