// SPDX-License-Identifier: Apache-2.0
// Everything on one processor: the program's threads are bound to it before oneTBB looks how many there are.

#include <doctest/doctest.h>

#include <sched.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <levada/run/detail/workers/tbb_executor.hpp>

#include "progress.hpp"
#include "scenarios.hpp"
#include "watchdog.hpp"

namespace lv = levada;
using namespace levada::test;

int main(int count, char** arguments) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return 1;
  return doctest::Context(count, arguments).run();
}

namespace {

constexpr auto pipeline() {
  return lv::input<int> | lv::stage<"twice">([](const int& v) { return 2L * v; }) |
         lv::stage<"sum">([sum = 0L](const long& v) mutable { return sum += v; });
}

template <class Target>
void streams_pushes_and_tries() {
  const auto app = lv::deploy<Target>(pipeline());
  long last = 0;
  for (auto& r : app.stream(std::vector<int>(2'000, 1))) last = r.value();
  CHECK(last == 4'000);
  auto session = app.open();
  std::thread pusher([&] {
    for (int i = 0; i < 2'000; ++i) session.push(1);
    session.close();
  });
  while (auto r = session.pop()) last = r->value();
  pusher.join();
  CHECK(last == 4'000);
  auto trying = app.open();
  CHECK(drives_by_trying(trying, 1'000));
  CHECK(drives_by_trying(trying, 1));
  auto pushed = app.open();
  pushed.push(1);
  CHECK(eventually([&] { return pushed.try_pop().has_value(); }));
}

}  // namespace

TEST_CASE("there is one processor") { CHECK(oneapi::tbb::info::default_concurrency() == 1); }

TEST_CASE("one processor: stream, push and pop, and try_*, with fewer and more threads than it has") {
  streams_pushes_and_tries<lv::target<lv::cpu<1>>>();
  streams_pushes_and_tries<lv::target<lv::cpu<2>>>();
  streams_pushes_and_tries<lv::target<lv::cpu<8>>>();
  oneapi::tbb::task_arena(1).execute([] { streams_pushes_and_tries<lv::target<lv::cpu<2>>>(); });
}

TEST_CASE("one processor: every item ends as in a loop, through devices too") {
  scenario<lv::tbb_executor, on_the_processor>(1);
  scenario<lv::tbb_executor, device_in_the_middle>(1);
  scenario<lv::tbb_executor, two_devices>(1);
}

TEST_CASE("one processor: a device between, and nobody but try_* calls") {
  const auto app = lv::deploy<lv::target<lv::cpu<1>, lv::simulated<0>>>(
      pipeline() | lv::on<lv::simulated<0>>(lv::stage<"far">([](const long& v) { return v; })) |
      lv::stage<"near">([](const long& v) { return v; }));
  auto session = app.open();
  CHECK(drives_by_trying(session, 1'000));
}

TEST_CASE("one processor: sessions inside tasks, and stages that call parallel_for") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"work">([n = 0](const int& v) mutable {
                                                        std::atomic<int> sum{0};
                                                        oneapi::tbb::parallel_for(0, 32, [&](int) { sum += v; });
                                                        return sum + n++;
                                                      }));
  std::atomic<int> right{0};
  oneapi::tbb::parallel_for(0, 10, [&](int) {
    int n = 0;
    for (auto& r : app.stream(std::vector<int>(100, 1))) n += r.value() == 32 + n;
    right += n == 100;
  });
  CHECK(right == 10);
}
