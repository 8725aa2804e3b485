// SPDX-License-Identifier: Apache-2.0
// A race planted on purpose: a stage that changes what it captured, declared parallel. Left serial, it has none.

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

namespace lv = levada;

int main() {
  long sum = 0;
  // Two items meet in the stage, so that two threads are there; relaxed, since that must not put them in an order.
  std::atomic<int> inside{0};
  auto add = [&](const int& item) {
    inside.fetch_add(1, std::memory_order_relaxed);
    while (inside.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
    sum += item;
    return item;
  };
  const auto app = lv::deploy<lv::target<lv::cpu<4>>, lv::run_by<lv::thread_executor>>(
      lv::input<int> | lv::stage<"add">(lv::parallel(add)));
  for (auto&& item : app.stream(std::vector<int>(20'000, 1))) static_cast<void>(item);
  std::printf("%ld\n", sum);
}
