// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/progress.hpp: looking again until something is so, and no longer than a hang would be.

#include <chrono>
#include <thread>

#include <time_to_run.hpp>

namespace levada::test {

/// `so()`, sooner than the watchdog takes it for a hang.
template <class Condition>
bool eventually(Condition so) {
  patience until(std::chrono::seconds(60), std::chrono::seconds(20));
  while (!so()) {
    if (until.is_over()) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

/// Brings `count` items through a session by `try_push` and `try_pop` of one thread.
template <class Session>
bool drives_by_trying(Session& session, int count) {
  int pushed = 0, popped = 0;
  return eventually([&] {
    while (pushed < count && session.try_push(pushed)) ++pushed;
    while (auto r = session.try_pop()) ++popped;
    return popped == count;
  });
}

}  // namespace levada::test
