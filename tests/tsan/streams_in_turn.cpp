// SPDX-License-Identifier: Apache-2.0
// Streams that go on with the session of the one before, behind each other on one thread, on several, and at once.

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

namespace lv = levada;

TEST_CASE("streams of a few items share nothing with those before and beside") {
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::run_by<lv::thread_executor>>(
      lv::input<int> | lv::stage<"work">(lv::parallel([](const int& v) {
        volatile int w = v;
        for (int i = 0; i < 2'000; ++i) w = w + 1;
        return w - 2'000;
      })) |
      lv::stage<"sum">([sum = std::vector<int>{0}](const int& v) mutable { return sum[0] += v; }) |
      lv::stage<"count">([n = 0](const int& v) mutable { return v + ++n; }));
  std::atomic<int> wrong{0};
  const auto stream = [&](int rounds, int step) {
    for (int round = 0; round < rounds; ++round) {
      const std::vector<int> items(static_cast<std::size_t>(round % 9), step);
      int n = 0;
      for (auto&& r : app.stream(items)) ++n, wrong += *r != n * step + n;
      wrong += n != round % 9;
    }
  };
  stream(500, 1);
  for (int t = 0; t < 20; ++t) std::thread(stream, 20, t).join();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back(stream, 300, t);
  for (std::thread& t : threads) t.join();
  {
    auto session = app.open();
    session.push(1);
    stream(20, 1);
    CHECK(session.pop()->value() == 2);
  }
  stream(100, 1);
  CHECK(wrong == 0);
}
