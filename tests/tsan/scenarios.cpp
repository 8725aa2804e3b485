// SPDX-License-Identifier: Apache-2.0
// The scenarios of run/scenarios.hpp on plain threads, for ThreadSanitizer.

#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <levada/run/detail/workers/thread_executor.hpp>

#include <run/beside.hpp>
#include <run/progress.hpp>
#include <run/scenarios.hpp>
#include <run/watchdog.hpp>

namespace lv = levada;
using namespace levada::test;

TEST_CASE("no race on the processor alone") { scenario<lv::thread_executor, on_the_processor>(1); }
TEST_CASE("no race through four segments") { scenario<lv::thread_executor, in_four_segments>(1); }
TEST_CASE("no race through a device in the middle") { scenario<lv::thread_executor, device_in_the_middle>(1); }
TEST_CASE("no race through two devices") { scenario<lv::thread_executor, two_devices>(1); }
TEST_CASE("no race through adjacent devices") { scenario<lv::thread_executor, adjacent_devices>(1); }

TEST_CASE("no race where sessions wait for the permit of one that is fed without end") {
  const auto app = lv::deploy<lv::target<lv::cpu<1>>, lv::run_by<lv::thread_executor>>(spinning());
  CHECK(all_are_served_beside_a_fed_one(app));
  CHECK(all_are_served_beside_a_fed_one<lv::dedicated>(app));
}

TEST_CASE("no race between branches on the processor and on devices") {
  const auto app = lv::deploy<lv::target<lv::cpu<3>, lv::simulated<0>>, lv::run_by<lv::thread_executor>, lv::slots<8>>(
      lv::input<int> | lv::stage<"twice">(+[](const int& v) { return 2 * v; }) |
      lv::fork(lv::stage<"sum">([sum = 0L](const int& v) mutable { return sum += v; }),
               lv::on<lv::simulated<0>>(lv::stage<"there">(+[](const int& v) { return v + 1; })), lv::identity) |
      lv::join<"all">(+[](const long& sum, const int& there, const int& v) { return sum + there + v; }));
  auto session = app.open();
  std::thread pusher([&] {
    for (int i = 0; i < 400; ++i) session.push(i);
    session.close();
  });
  long sum = 0, next = 0;
  while (const auto r = session.pop()) {
    sum += 2 * next;
    CHECK(r->value() == sum + 4 * next + 1);
    ++next;
  }
  CHECK(next == 400);
  pusher.join();
}

TEST_CASE("no race between threads that try, wait, push, pop and close several sessions of one app") {
  const auto app = lv::deploy<lv::target<lv::cpu<4>>, lv::run_by<lv::thread_executor>>(
      lv::input<int> | lv::stage<"twice">([](const int& v) { return 2 * v; }) |
      lv::stage<"sum">([sum = 0L](const int& v) mutable { return sum += v; }) |
      lv::stage<"none">([](const long& v) -> std::optional<long> {
        if (v % 3 == 0) return std::nullopt;
        return v;
      }));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        auto session = app.open();
        std::thread pusher([&] {
          for (int i = 0; i < 200; ++i) session.push(i);
          session.close();
        });
        std::thread watcher([&] { check_sum(session.counts()); });
        int popped = 0;
        while (session.pop()) ++popped;
        pusher.join();
        watcher.join();
        CHECK(popped > 0);
      }
    });
  threads.emplace_back([&] {
    auto session = app.open();
    for (int i = 0; i < 300; ++i) static_cast<void>(session.try_push(i)), static_cast<void>(session.try_pop());
  });
  for (int i = 0; i < 200; ++i) static_cast<void>(app(i));
  for (std::thread& t : threads) t.join();
}
