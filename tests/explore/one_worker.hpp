// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/one_worker.hpp: an executor with one worker for all apps, whose every step a scheduler chooses.

#include <explore/call_queue.hpp>

#include <mutex>

#include <levada/run/detail/workers/event_count.hpp>
#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/worker.hpp>

namespace levada::test {

/// As oneTBB on two processors: one worker for all apps, which leaves the line for a permit where another session wants
/// it.
class one_worker_for_all {
 public:
  one_worker_for_all(int, const detail::worker_settings&) {
    pool& all = shared();
    if (all.executors++ == 0) all.start();
  }
  one_worker_for_all(const one_worker_for_all&) = delete;
  one_worker_for_all& operator=(const one_worker_for_all&) = delete;
  ~one_worker_for_all() {
    pool& all = shared();
    if (--all.executors != 0) return;
    all.calls.stop();
    all.worker.join();
    all.calls.go_on();
  }

  static int workers(int, const detail::worker_settings&) { return 1; }

  void invite(detail::worker_call i) {
    pool& all = shared();
    invited_.fetch_add(1);
    all.invited.fetch_add(1);
    all.calls.push({i, this});
    const std::lock_guard lock(all.line);
    if (all.in_line != nullptr) all.in_line->notify_all();
  }
  int invited() const { return invited_.load(); }
  static int invited_to_all() { return shared().invited.load(); }

  class waiting_worker {
   public:
    explicit waiting_worker(detail::event_count& at) { enter(&at); }
    waiting_worker(const waiting_worker&) = delete;
    waiting_worker& operator=(const waiting_worker&) = delete;
    ~waiting_worker() { enter(nullptr); }

   private:
    static void enter(detail::event_count* at) {
      const std::lock_guard lock(shared().line);
      shared().in_line = at;
    }
  };

  template <class F>
  static void isolated(F f) {
    f();
  }

 private:
  struct call_of {
    detail::worker_call call;
    one_worker_for_all* of;
  };
  struct pool {
    call_queue<call_of> calls;
    detail::atomic<int> invited{0};
    detail::mutex line;
    detail::event_count* in_line = nullptr;  ///< where the worker waits for a permit
    int executors = 0;
    detail::thread worker;

    void start() {
      worker = detail::thread([this] {
        calls.serve([this](const call_of& next) {
          next.of->invited_.fetch_sub(1);
          invited.fetch_sub(1);
          next.call.call(next.call.argument);
        });
      });
    }
  };
  static pool& shared() {
    static pool here;
    return here;
  }

  detail::atomic<int> invited_{0};
};

}  // namespace levada::test
