// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/arrival.hpp: has oneTBB's workers come before something is counted. The first time that one comes it takes
// memory, whenever that is: on a busy machine long behind the first items.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

#include "progress.hpp"

namespace levada::test {

/// Waits until as many threads have come there at once, no longer than `eventually`: there may be fewer.
class meeting {
 public:
  explicit meeting(int threads) : threads_(threads) {}
  bool come() {
    come_.fetch_add(1);
    return eventually([&] { return come_.load() >= threads_; });
  }
  bool all_came() {
    return eventually([&] { return come_.load() >= threads_; });
  }

 private:
  const int threads_;
  std::atomic<int> come_{0};
};

/// All threads that oneTBB may have, and those of the arena that deployments on `cpu<Threads>` share.
template <int Threads>
bool bring_workers() {
  bool all = true;
  if (const int others = oneapi::tbb::info::default_concurrency() - 1; others > 0) {
    static meeting& everybody = *new meeting(others);  // who comes late finds it
    static oneapi::tbb::task_arena& arena = *new oneapi::tbb::task_arena(others + 1, 1);
    for (int i = 0; i < others; ++i) arena.enqueue([] { everybody.come(); });
    all = everybody.all_came();
  }
  constexpr int workers = std::max(1, Threads - 1);
  meeting ours(std::min(workers, std::max(1, oneapi::tbb::info::default_concurrency() - 1)));
  const auto app = deploy<target<cpu<Threads>>, run_by<tbb_executor>>(
      input<int> | stage<"meet">(parallel([&](const int&) { return ours.come(); })));
  auto session = app.open();
  return drives_by_trying(session, workers) && all;
}

}  // namespace levada::test
