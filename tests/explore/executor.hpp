// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/executor.hpp: workers whose every step a scheduler chooses.

#include <explore/explored.hpp>

#include <deque>
#include <vector>

#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/worker.hpp>

namespace levada::test {

class explored_executor {
 public:
  explored_executor(int threads, const detail::worker_settings&) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~explored_executor() {
    if (scheduler* const s = explorer()) s->step(this), s->wake(this);
    stopping_ = true;
    for (detail::thread& t : threads_) t.join();
  }

  static int workers(int threads, const detail::worker_settings&) { return threads; }

  void invite(detail::worker_call i) {
    scheduler* const s = explorer();
    s->step(this);
    s->flush();
    waiting_.push_back(i);
    s->wake(this);
  }
  int invited() const {
    explorer()->step(this);
    explorer()->reads(this);
    return static_cast<int>(waiting_.size());
  }

  template <class F>
  static void isolated(F f) {
    f();
  }

 private:
  void serve() {
    scheduler* const s = explorer();
    for (;;) {
      s->step(this);
      while (waiting_.empty() && !stopping_) s->block(this);
      s->writes(this);
      if (waiting_.empty()) return;
      const detail::worker_call i = waiting_.front();
      waiting_.pop_front();
      s->flush();
      i.call(i.argument);
    }
  }

  std::deque<detail::worker_call> waiting_;
  bool stopping_ = false;
  std::vector<detail::thread> threads_;
};

}  // namespace levada::test
