// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/thread_executor.hpp: plain std::threads in place of oneTBB, without one symbol of it: the same
// engine for ThreadSanitizer, which would report oneTBB's own uninstrumented synchronisation.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/start_thread.hpp>
#include <levada/core/error.hpp>
#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/threading.hpp>
#include <levada/run/detail/workers/worker.hpp>

namespace levada {

/// A fixed set of threads that parks on a condition variable.
class thread_executor {
 public:
  thread_executor(int threads, const detail::worker_settings& workers) {
    if (workers.arena.arena != nullptr) throw error("levada: thread_executor works in no arena");
    detail::check_processors(workers.processors);
    threads_.reserve(static_cast<std::size_t>(threads));
    try {
      for (int i = 0; i < threads; ++i)
        threads_.push_back(detail::start_thread("a worker", [this, workers] {
          detail::apply_worker_settings_for_good(workers);
          serve();
        }));
    } catch (...) {
      end();
      throw;
    }
  }
  ~thread_executor() { end(); }

  static int workers(int threads, const detail::worker_settings&) { return threads; }

  void invite(detail::worker_call i) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(i);
    }
    invited_.fetch_add(1);
    changed_.notify_one();
  }
  int invited() const { return invited_.load(); }

  template <class F>
  static void isolated(F f) {
    f();
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const detail::worker_call i = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      invited_.fetch_sub(1);
      i.call(i.argument);
      lock.lock();
    }
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<detail::worker_call> waiting_;
  detail::atomic<int> invited_{0};
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace levada
