// SPDX-License-Identifier: Apache-2.0
#pragma once
// overhead/hand_over.hpp: how long a line of cache takes from one processor to another.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace overhead {

/// One way, in nanoseconds, between two threads that do nothing else: the least of some tries.
inline double hand_over_ns() {
  constexpr int tries = 9, turns = 20'000;
  alignas(64) std::atomic<int> turn{0};
  const auto pass_on = [&turn](int from) {
    for (int spins = 0; turn.load(std::memory_order_acquire) != from; ++spins)
      if (spins > 10'000) std::this_thread::yield();  // on one processor the other has to come first
    turn.store(from + 1, std::memory_order_release);
  };
  double least = 1e9;
  for (int t = 0; t < tries; ++t) {
    turn.store(0);
    std::thread other([&] {
      for (int i = 1; i < turns; i += 2) pass_on(i);
    });
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < turns; i += 2) pass_on(i);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    other.join();
    least = std::min(least, took.count() / turns);
  }
  return least;
}

}  // namespace overhead
