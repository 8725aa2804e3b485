// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/call_queue.hpp: calls that wait for a worker whose every step a scheduler chooses.

#include <explore/explored.hpp>

#include <cstddef>
#include <deque>

namespace levada::test {

template <class Call>
class call_queue {
 public:
  void push(Call call) {
    scheduler* const s = explorer();
    s->step(this);
    s->flush();
    waiting_.push_back(call);
    s->wake(this);
  }
  std::size_t size() const {
    explorer()->step(this);
    explorer()->reads(this);
    return waiting_.size();
  }
  /// Workers go when nothing waits any more.
  void stop() {
    if (scheduler* const s = explorer()) s->step(this), s->wake(this);
    stopping_ = true;
  }
  /// For the next one that stops.
  void go_on() { stopping_ = false; }

  /// A worker, until the queue stops: `run(call)` for each.
  template <class Run>
  void serve(Run run) {
    scheduler* const s = explorer();
    for (;;) {
      s->step(this);
      while (waiting_.empty() && !stopping_) s->block(this);
      s->writes(this);
      if (waiting_.empty()) return;
      const Call next = waiting_.front();
      waiting_.pop_front();
      s->flush();
      run(next);
    }
  }

 private:
  std::deque<Call> waiting_;
  bool stopping_ = false;
};

}  // namespace levada::test
