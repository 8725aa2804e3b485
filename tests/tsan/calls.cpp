// SPDX-License-Identifier: Apache-2.0
// One app called by several threads at once, for ThreadSanitizer.

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>
#include <levada/run/simulated.hpp>

namespace lv = levada;

namespace {

/// How many of `threads` times 200 calls gave another result than a call alone does.
template <class App>
int wrong_calls(const App& app, int threads) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < threads; ++t)
    callers.emplace_back([&app, &wrong, t] {
      for (int i = 0; i < 200; ++i)
        if (app(1000 * t + i) != 2000 * t + 2 * i) wrong.fetch_add(1);
    });
  for (std::thread& c : callers) c.join();
  return wrong.load();
}

constexpr auto twice = lv::stage<"twice">([](const int& v) { return 2 * v; });

}  // namespace

TEST_CASE("an app is called by more threads than it has") {
  CHECK(wrong_calls(lv::deploy<lv::target<lv::cpu<2>>, lv::run_by<lv::thread_executor>>(lv::input<int> | twice), 4) ==
        0);
}

TEST_CASE("calls of an app with state take turns") {
  int calls = 0;  // changed by one thread at a time, or the sanitizer says so
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::run_by<lv::thread_executor>>(
      lv::input<int> | lv::stage<"count">([&calls](const int& v) { return ++calls, v; }) | twice);
  CHECK(wrong_calls(app, 4) == 0);
  CHECK(calls == 800);
}

TEST_CASE("calls of an app with a device") {
  using box = lv::target<lv::cpu<2>, lv::simulated<0>>;
  const auto app = lv::deploy<box, lv::run_by<lv::thread_executor>>(lv::input<int> | lv::on<lv::simulated<0>>(twice));
  CHECK(wrong_calls(app, 4) == 0);
}
