// SPDX-License-Identifier: Apache-2.0
// Apps side by side: a worker that waits for a permit of one is there for the others.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

#include "progress.hpp"

namespace run_two_apps {

namespace lv = levada;
using namespace levada::test;
using namespace std::chrono_literals;

/// Says whether the gate was opened in time.
template <int Threads>
auto waiting_app(std::atomic<bool>& gate, std::atomic<int>& waiting) {
  return lv::deploy<lv::target<lv::cpu<Threads>>, lv::run_by<lv::tbb_executor>>(
      lv::input<bool> | lv::stage<"wait">(lv::parallel([&](const bool& waits) {
        if (!waits) return true;
        ++waiting;
        return eventually([&] { return gate.load(); });
      })));
}

template <int Threads>
auto opening_app(std::atomic<bool>& gate) {
  return lv::deploy<lv::target<lv::cpu<Threads>>, lv::run_by<lv::tbb_executor>>(
      lv::input<int> | lv::sink<"open">([&](const int&) { gate = true; }));
}

/// All permits of an app are held by calling threads whose stage waits for the sink of another; workers of the first
/// wait for one.
template <int Threads, int ThreadsOfOther>
void check_that_sink_is_run(int apps) {
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> gate{false};
    std::atomic<int> waiting{0}, in_time{0};
    using app = decltype(waiting_app<Threads>(gate, waiting));
    std::vector<app> all;
    for (int a = 0; a < apps; ++a) all.push_back(waiting_app<Threads>(gate, waiting));
    auto opener = opening_app<ThreadsOfOther>(gate);
    auto opening = opener.open();

    std::vector<std::jthread> threads;
    for (const app& a : all)
      for (int t = 0; t < Threads; ++t)
        threads.emplace_back([&] {
          auto session = a.open();
          session.push(true);
          in_time += session.pop()->value();
        });
    CHECK(eventually([&] { return waiting.load() == apps * Threads; }));
    using session = decltype(all[0].open());
    std::vector<session> beside;
    for (const app& a : all) {
      beside.push_back(a.open());
      for (int t = 0; t < Threads; ++t) CHECK(beside.back().try_push(false));
    }
    std::this_thread::sleep_for(20ms);  // the workers have come, and wait
    CHECK(opening.try_push(1));
    threads.clear();
    CHECK(in_time.load() == apps * Threads);
    for (session& s : beside) {
      int popped = 0;
      CHECK(eventually([&] {
        while (auto r = s.try_pop()) ++popped;
        return popped == Threads;
      }));
    }
  }
}

TEST_CASE("a worker that waits for a permit of one app runs the sink of another that the permit's holder waits for") {
  check_that_sink_is_run<1, 1>(1);
}

TEST_CASE("workers that wait for permits of several apps are there for the one that the others wait for") {
  check_that_sink_is_run<1, 1>(3);
  check_that_sink_is_run<2, 2>(2);
}

TEST_CASE("a worker that waits for a permit goes to an app with another number of threads") {
  check_that_sink_is_run<1, 2>(2);
  check_that_sink_is_run<2, 1>(1);
}

TEST_CASE("a session whose worker is wanted elsewhere all the time gets its turn beside one that always has work") {
  std::atomic<bool> gate{true}, over{false};
  std::atomic<int> waiting{0};
  const auto busy = waiting_app<1>(gate, waiting);
  const auto elsewhere = lv::deploy<lv::target<lv::cpu<1>>, lv::run_by<lv::tbb_executor>>(
      lv::input<int> | lv::sink<"wait">([](const int&) { std::this_thread::sleep_for(50us); }));
  std::jthread holder([&] {
    auto session = busy.open();
    while (!over.load()) {
      session.push(true);
      CHECK(session.pop()->value());
    }
  });
  auto wanting = elsewhere.open();
  auto session = busy.open();
  int popped = 0;
  CHECK(eventually([&] {
    while (wanting.try_push(1)) {
    }
    static_cast<void>(session.try_push(false));
    while (auto r = session.try_pop()) ++popped;
    return popped >= 20;
  }));
  over = true;
  wanting.cancel();
}

}  // namespace run_two_apps
