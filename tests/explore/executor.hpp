// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/executor.hpp: workers whose every step a scheduler chooses.

#include <explore/call_queue.hpp>

#include <vector>

#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/worker.hpp>

namespace levada::test {

class explored_executor {
 public:
  explored_executor(int threads, const detail::worker_settings&) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back(
          [this] { calls_.serve([](const detail::worker_call& next) { next.call(next.argument); }); });
  }
  ~explored_executor() {
    calls_.stop();
    for (detail::thread& t : threads_) t.join();
  }

  static int workers(int threads, const detail::worker_settings&) { return threads; }

  void invite(detail::worker_call i) { calls_.push(i); }
  int invited() const { return static_cast<int>(calls_.size()); }

  template <class F>
  static void isolated(F f) {
    f();
  }

 private:
  call_queue<detail::worker_call> calls_;
  std::vector<detail::thread> threads_;
};

}  // namespace levada::test
