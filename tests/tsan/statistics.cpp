// SPDX-License-Identifier: Apache-2.0
// Measuring while threads push, run stages and pop, switched on and off and read meanwhile, under ThreadSanitizer.

#include <atomic>
#include <cstdint>
#include <thread>

#include <doctest/doctest.h>
#include <levada/run/detail/workers/thread_executor.hpp>

#include "../run/measured.hpp"

namespace lv = levada;
using namespace levada::test;

namespace {

using box = lv::target<lv::cpu<3>>;

}  // namespace

TEST_CASE("two threads measure and every item is counted") {
  check_measured(lv::deploy<box, lv::run_by<lv::thread_executor>>(failing_and_filtering()), 3000, 1);
  check_measured(lv::deploy<box, lv::run_by<lv::thread_executor>>(failing_and_filtering() | lv::split_after<1>), 3000,
                 2);
}

TEST_CASE("a third thread switches and reads while two others push and pop") {
  const auto app = lv::deploy<box, lv::run_by<lv::thread_executor>>(failing_and_filtering() | lv::split_after<1>);
  auto session = app.open<lv::overflow<lv::drop_oldest>>();
  std::atomic<bool> done{false};
  std::thread watcher([&] {
    for (bool on = true; !done; on = !on) {
      session.measure(on);
      const lv::session_statistics s = session.statistics();
      CHECK(s.stages.size() == 4);
      std::this_thread::yield();
    }
  });
  std::thread pusher([&] {
    for (int i = 0; i < 3000; ++i) {
      session.push(i);
      if (i % 16 == 0) std::this_thread::yield();
    }
    session.close();
  });
  while (session.pop()) {
  }
  pusher.join();
  done = true;
  watcher.join();
  CHECK(session.counts().in_flight == 0);
  CHECK(session.statistics().stages[0].items <= 3000);
}

TEST_CASE("a third thread switches tracing and reads traces while two others push and pop") {
  const auto app = lv::deploy<box, lv::run_by<lv::thread_executor>>(failing_and_filtering());
  auto session = app.open();
  std::atomic<bool> done{false};
  std::thread watcher([&] {
    for (std::size_t events = 16; !done; events = 16 - events) {
      session.trace(events);
      CHECK(session.traced().stages.size() == 4);
      std::this_thread::yield();
    }
  });
  std::thread pusher([&] {
    for (int i = 0; i < 2000; ++i) session.push(i);
    session.close();
  });
  while (session.pop()) {
  }
  pusher.join();
  done = true;
  watcher.join();
  CHECK(session.counts().in_flight == 0);
}
