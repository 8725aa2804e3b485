// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/contention.hpp: how much several threads slow each other down that run the same program at once.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <levada/interop/profile/measure.hpp>
#include <levada/plan/detail/cost.hpp>

namespace levada::detail {

/// The median of what an item takes on so many threads at once, each of which calls a program of its own: `calls[t]`
/// runs some items and returns the seconds of one, of the thread's own time: others on the machine count little.
inline double seconds_at_once(const std::vector<std::function<double()>>& calls, double seconds) {
  std::atomic<std::size_t> ready{0};
  std::atomic<bool> ended{false};
  std::mutex mutex;
  std::vector<double> taken;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  for (const auto& call : calls)
    threads.emplace_back([&] {
      ready.fetch_add(1);
      while (ready.load() < calls.size()) std::this_thread::yield();
      std::vector<double> own;
      try {
        do own.push_back(call());
        while (!ended.load());
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      taken.insert(taken.end(), own.begin(), own.end());
    });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  ended.store(true);
  for (std::thread& t : threads) t.join();
  if (failure != nullptr) std::rethrow_exception(failure);
  return summary_of(taken).seconds;
}

/// For two threads, four, eight and so on, and as many as the machine has: `make()` is a program as a call, as above.
template <class Make>
std::vector<contention> measure_contentions(Make make, int processors, double seconds) {
  std::vector<contention> found;
  std::vector<std::function<double()>> calls;
  const auto add_until = [&](int threads) {
    while (static_cast<int>(calls.size()) < threads) calls.push_back(make());
  };
  add_until(1);
  const double alone = seconds_at_once(calls, seconds);
  for (int threads = 1; alone > 0 && threads < processors;) {
    threads = std::min(2 * threads, processors);
    add_until(threads);
    found.push_back({threads, std::max(seconds_at_once(calls, seconds) / alone, 1.0)});
  }
  return found;
}

}  // namespace levada::detail
