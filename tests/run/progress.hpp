// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/progress.hpp: looking again until something is so, and no longer than a hang would be.

#include <chrono>
#include <thread>

namespace levada::test {

/// `so()` within a minute: a busy machine takes its time, and the watchdog takes two for a hang.
template <class Condition>
bool eventually(Condition so) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!so()) {
    if (std::chrono::steady_clock::now() > until) return false;
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
