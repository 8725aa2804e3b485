// SPDX-License-Identifier: Apache-2.0
#pragma once
// overhead/busy_threads.hpp: neighbours.

#include <cstdint>
#include <stop_token>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

namespace overhead {

/// So many threads that do nothing of use and want a processor all the time, for as long as this lives.
class busy_threads {
 public:
  explicit busy_threads(int count) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([](const std::stop_token& stop) {
        for (std::uint64_t x = 1; !stop.stop_requested(); ++x) benchmark::DoNotOptimize(x);
      });
  }

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace overhead
