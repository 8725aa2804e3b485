// SPDX-License-Identifier: Apache-2.0
// What sessions and streams measure of themselves: every item is counted where it was and where it ended, quantiles are
// within the stated error, and nothing is measured unless it was asked for.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/run/detail/measure/histogram.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>
#include <levada/run/simulated.hpp>

#include "measured.hpp"

namespace run_statistics {

namespace lv = levada;
using namespace lv::literals;
using lv::test::check_measured;
using lv::test::failing_and_filtering;

using one = lv::target<lv::cpu<1>>;
using two = lv::target<lv::cpu<2>>;

/// The number at rank ceil(part * n) of a sorted list.
std::uint64_t sorted_quantile(const std::vector<std::uint64_t>& sorted, std::size_t part, std::size_t of) {
  return sorted[(sorted.size() * part + of - 1) / of - 1];
}

void check_near(std::uint64_t found, std::uint64_t exact) {
  CAPTURE(exact);
  CHECK((found > exact ? found - exact : exact - found) * 16 <= exact);
}

TEST_CASE("a bucket's middle is within a sixteenth of every number in it, and buckets are in order") {
  using lv::detail::log_buckets;
  std::size_t last = 0;
  for (std::uint64_t v = 0; v < 100'000; ++v) {
    const std::size_t b = log_buckets::of(v);
    REQUIRE((b == last || b == last + 1));
    last = b;
    const std::uint64_t m = log_buckets::middle(b);
    REQUIRE((m > v ? m - v : v - m) * 16 <= v);
    REQUIRE(log_buckets::of(m) == b);
  }
  for (unsigned bit = 17; bit < log_buckets::most_bits; ++bit)
    for (const std::uint64_t v : {(1ull << bit) - 1, 1ull << bit, (1ull << bit) + 1, 3ull << (bit - 1)}) {
      const std::uint64_t m = log_buckets::middle(log_buckets::of(v));
      if (v >> log_buckets::most_bits == 0) REQUIRE((m > v ? m - v : v - m) * 16 <= v);
    }
  CHECK(log_buckets::of(~0ull) == log_buckets::count - 1);
  CHECK(log_buckets::of((1ull << log_buckets::most_bits) - 1) == log_buckets::count - 1);
}

TEST_CASE("quantiles are within a sixteenth of the sorted numbers, the rest is exact") {
  std::mt19937_64 random(7);
  for (const std::size_t n : {1u, 2u, 3u, 10u, 99u, 100u, 101u, 5000u}) {
    for (const double spread : {1.0, 6.0, 24.0}) {
      CAPTURE(n);
      CAPTURE(spread);
      std::lognormal_distribution<double> draw(5.0, spread / 8);
      std::vector<std::uint64_t> all;
      std::uint64_t sum = 0;
      lv::detail::histogram a, b;  // as two threads would
      for (std::size_t i = 0; i < n; ++i) {
        all.push_back(static_cast<std::uint64_t>(draw(random)));
        sum += all.back();
        (i % 3 == 0 ? a : b).add(all.back());
      }
      std::sort(all.begin(), all.end());
      lv::detail::merged_histogram both;
      both.add(a), both.add(b);
      const lv::distribution d = both.summary();
      CHECK(d.count == n);
      CHECK(d.sum == sum);
      CHECK(d.min == all.front());
      CHECK(d.max == all.back());
      check_near(d.median, sorted_quantile(all, 1, 2));
      check_near(d.p99, sorted_quantile(all, 99, 100));
    }
  }
}

TEST_CASE("no numbers give zeros, and zeros that were only counted are numbers") {
  lv::detail::merged_histogram m;
  CHECK(m.summary().count == 0);
  CHECK(m.summary().min == 0);
  CHECK(m.summary().max == 0);
  lv::detail::histogram h;
  h.add(1000);
  m.add(h);
  m.add_zeros(3);
  const lv::distribution d = m.summary();
  CHECK(d.count == 4);
  CHECK(d.min == 0);
  CHECK(d.median == 0);
  check_near(d.p99, 1000);
  CHECK(d.max == 1000);
}

TEST_CASE("nothing is measured unless it was asked for") {
  const auto app = lv::deploy<two>(failing_and_filtering());
  auto session = app.open();
  for (int i = 0; i < 50; ++i) session.push(i);
  session.close();
  while (session.pop()) {
  }
  const lv::session_statistics s = session.statistics();
  CHECK(s.items.pushed == 50);
  CHECK(s.slots == decltype(app)::plan.slots);
  REQUIRE(s.stages.size() == 4);
  for (const lv::stage_statistics& stage : s.stages) {
    CHECK(stage.items == 0);
    CHECK(stage.time.count == 0);
    CHECK(stage.waited.count == 0);
    CHECK(stage.failed + stage.filtered + stage.overdue + stage.cancelled == 0);
  }
  CHECK(s.segments.at(0).waited.count == 0);
  CHECK(s.age.count == 0);
  CHECK(s.occupied.count == 0);
}

TEST_CASE("every item is counted at the stages that it came to, and where it ended") {
  SUBCASE("one thread") { check_measured(lv::deploy<one>(failing_and_filtering()), 1000, 1); }
  SUBCASE("two threads") { check_measured(lv::deploy<two>(failing_and_filtering()), 5000, 1); }
  SUBCASE("few slots") { check_measured(lv::deploy<two, lv::slots<3>>(failing_and_filtering()), 1000, 1); }
  SUBCASE("std::thread") {
    check_measured(lv::deploy<two, lv::run_by<lv::thread_executor>>(failing_and_filtering()), 5000, 1);
  }
  SUBCASE("two segments") { check_measured(lv::deploy<two>(failing_and_filtering() | lv::split_after<1>), 5000, 2); }
}

TEST_CASE("a stream is measured as a session is") {
  std::vector<int> numbers(3000);
  for (int i = 0; i < 3000; ++i) numbers[static_cast<std::size_t>(i)] = i;
  const auto app = lv::deploy<two>(failing_and_filtering());
  auto results = app.stream(numbers);
  results.measure();
  for (auto&& r : results) static_cast<void>(r);
  lv::test::check_counts(results.statistics(), 3000, 1);
}

TEST_CASE("an app measures the sessions and streams that begin while it is switched on") {
  const auto app = lv::deploy<two>(failing_and_filtering());
  app.measure();
  std::vector<int> numbers(100, 1);
  auto results = app.stream(numbers);
  auto session = app.open();
  app.measure(false);
  auto unmeasured = app.open();
  for (auto&& r : results) static_cast<void>(r);
  for (int i = 0; i < 10; ++i) session.push(1), unmeasured.push(1), session.pop(), unmeasured.pop();
  CHECK(results.statistics().stages.at(0).items == 100);
  CHECK(session.statistics().stages.at(0).items == 10);
  CHECK(unmeasured.statistics().stages.at(0).items == 0);
}

TEST_CASE("switched off and on, it adds up") {
  const auto app = lv::deploy<two>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  auto session = app.open();
  std::uint64_t measured = 0;
  for (int round = 0; round < 6; ++round) {
    session.measure(round % 2 == 0);
    for (int i = 0; i < 10; ++i) session.push(i);
    for (int i = 0; i < 10; ++i) session.pop();
    if (round % 2 == 0) measured += 10;
    const lv::session_statistics s = session.statistics();
    CHECK(s.stages.at(0).items == measured);
    CHECK(s.segments.at(0).waited.count <= measured);
    CHECK(s.age.count == measured);
    CHECK(s.occupied.count == measured);
  }
}

TEST_CASE("items pushed before it was switched on have no known wait, and an age only from their capture time") {
  const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  auto session = app.open();
  const auto now = std::chrono::steady_clock::now();
  CHECK(session.try_push(1));
  CHECK(session.try_push(2, now - std::chrono::hours(2)));
  CHECK(session.try_push(3, now + std::chrono::hours(2)));  // a clock that is ahead
  session.drain();
  session.measure();
  CHECK(session.try_push(4));
  session.close();
  while (session.pop()) {
  }
  const lv::session_statistics s = session.statistics();
  CHECK(s.segments.at(0).waited.count == 1);
  CHECK(s.age.count == 3);
  CHECK(s.age.min == 0);
  CHECK(s.age.max >= 7'200'000'000'000u);
  CHECK(s.occupied.max == 4);
}

TEST_CASE("late and cancelled items are counted at the stage that they did not come to") {
  std::atomic<bool> go{false};
  std::atomic<int> inside{0};
  const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"first">(lv::serial([&](const int& x) {
                                     ++inside;
                                     while (x == 3 && !go) std::this_thread::yield();
                                     return x;
                                   })) |
                                   lv::stage<"second">(lv::serial([](const int& x) { return x; })));
  const auto old = std::chrono::steady_clock::now() - std::chrono::hours(5);
  auto session = app.open<lv::deadline<3600_s>, lv::dedicated>();
  session.measure();
  for (int i = 0; i < 3; ++i) CHECK(session.push(i, old));
  CHECK(session.push(3));
  while (inside == 0) std::this_thread::yield();
  for (int i = 4; i < 9; ++i) CHECK(session.push(i));
  session.cancel();
  go = true;
  session.drain();
  while (session.pop()) {
  }
  const lv::session_statistics s = session.statistics();
  CHECK(s.items.dropped == 3);
  CHECK(s.items.cancelled == 6);
  CHECK(s.stages.at(0).overdue == 3);
  CHECK(s.stages.at(0).items + s.stages.at(0).cancelled == 6);
  CHECK(s.stages.at(0).cancelled + s.stages.at(1).cancelled == 6);
  CHECK(s.stages.at(1).items == 0);
  CHECK(s.age.count == 0);
}

TEST_CASE("items that give way are dropped at admission, and the ages are those of the items that stay") {
  std::atomic<bool> go{false};
  std::atomic<int> inside{0};
  const auto app = lv::deploy<one, lv::slots<4>>(lv::input<int> | lv::stage<"a">(lv::serial([&](const int& x) {
                                                   ++inside;
                                                   while (!go) std::this_thread::yield();
                                                   return x;
                                                 })));
  auto session = app.open<lv::overflow<lv::drop_oldest>, lv::dedicated>();
  session.measure();
  CHECK(session.push(0));
  while (inside == 0) std::this_thread::yield();
  for (int i = 1; i < 20; ++i) CHECK(session.push(i));
  go = true;
  session.close();
  int got = 0;
  while (session.pop()) ++got;
  const lv::session_statistics s = session.statistics();
  CHECK(got == 4);
  CHECK(s.items.dropped == 16);
  CHECK(s.stages.at(0).items == 4);
  CHECK(s.stages.at(0).overdue == 0);
  CHECK(s.age.count == 4);
  CHECK(s.occupied.count == 4);
  CHECK(s.occupied.max == 4);
}

TEST_CASE("what a stage takes and how long an item stood are what a clock outside says") {
  using clock = std::chrono::steady_clock;
  std::uint64_t least = 0;
  const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"quick">([](const int& x) { return x; }) |
                                   lv::stage<"busy">(lv::serial([&](const int& x) {
                                     const auto start = clock::now();
                                     while (clock::now() - start < std::chrono::milliseconds(1)) {
                                     }
                                     least += 1'000'000;
                                     return x;
                                   })));
  auto session = app.open();
  session.measure();
  const auto start = clock::now();
  for (int i = 0; i < 20; ++i) session.push(i);
  session.close();
  while (session.pop()) {
  }
  const auto all = static_cast<std::uint64_t>((clock::now() - start) / std::chrono::nanoseconds(1));
  const lv::session_statistics s = session.statistics();
  CHECK(s.stages.at(1).time.sum >= least);
  CHECK(s.stages.at(0).time.sum + s.stages.at(1).time.sum <= all);
  CHECK(s.stages.at(1).time.min >= 1'000'000);
  CHECK(s.age.max <= all);
  CHECK(s.age.max >= 1'000'000);
}

TEST_CASE("a device's items are counted where they run, fail and wait") {
  using box = lv::target<lv::cpu<2>, lv::simulated<0>>;
  lv::simulation& device = lv::simulated_device<0>();
  device.reset();
  device.fails = [](std::uint64_t item) { return item % 10 == 9; };
  device.reorder_window = 3;
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"before">([](const int& x) { return x; }) |
                                   lv::on<lv::simulated<0>>(lv::stage<"there">([](const int& x) {
                                     return x % 4 == 0 ? throw std::runtime_error("there") : x;
                                   })) |
                                   lv::stage<"behind">(lv::serial([](const int& x) { return x; })));
  auto session = app.open();
  session.measure();
  for (int i = 0; i < 40; ++i) session.push(i);
  session.close();
  while (session.pop()) {
  }
  device.reset();
  // Of 0 to 39 the device loses 9, 19, 29, 39, and its stage fails ten others.
  const lv::session_statistics s = session.statistics();
  REQUIRE(s.stages.size() == 3);
  CHECK(s.stages[0].items == 40);
  CHECK(s.stages[1].items == 36);
  CHECK(s.stages[1].failed == 14);
  CHECK(s.stages[2].items == 26);
  CHECK(s.stages[1].segment == 1);
  REQUIRE(s.segments.size() == 3);
  CHECK(s.segments[1].waited.count == 36);  // a lost item was never begun
  CHECK(s.age.count == 40);
}

TEST_CASE("a stage of several ops has all their names") {
  using picture = lv::tensor<std::uint8_t, 1, 8, 8>;
  const auto app = lv::deploy<one>(
      lv::input<picture> | lv::transform<"to_float">([](auto px) { return to_float(px); }) | lv::nn::max_pool2d<2> |
      lv::nn::relu | lv::stage<"first">([](const lv::tensor<float, 1, 4, 4>& t) { return t(0, 0, 0); }));
  const auto session = app.open();
  std::string names;
  for (const lv::stage_statistics& stage : session.statistics().stages) names += stage.name + "; ";
  std::string planned;
  for (const auto& unit : app.plan.unit) {
    for (std::size_t n = unit.first; n < unit.first + unit.count; ++n)
      planned += std::string(n > unit.first ? " + " : "") + std::string(app.plan.graph.nodes[n].name);
    planned += "; ";
  }
  CHECK(names == planned);
}

TEST_CASE("the report has a line for each stage, and says what became of the items") {
  lv::session_statistics s;
  s.items = {12, 8, 1, 1, 2, 0, 0};
  s.items.drops = {.replaced = 1, .overdue = 1};
  s.items.refused = 5;
  s.slots = 64;
  s.stages.resize(2);
  s.stages[0].name = "decode";
  s.stages[0].items = 9;
  s.stages[0].time = {9, 9'000, 800, 1'000, 1'234, 1'500'000};
  s.stages[0].waited = {9, 0, 0, 0, 0, 0};
  s.stages[0].failed = 1;
  s.stages[0].filtered = 1;
  s.stages[1].name = "label";
  s.stages[1].overdue = 1;
  s.segments.resize(1);
  s.segments[0].waited = {10, 0, 0, 2'000'000'000, 3'000'000'000, 61'000'000'000};
  s.occupied = {12, 24, 1, 2, 4, 5};
  CHECK(lv::report(s) ==
        "segment  stages  items  min     median  p99     max     waited p99  ended here\n"
        "0        decode  9      800 ns  1.0 us  1.2 us  1.5 ms  0 ns        1 failed, 1 filtered\n"
        "0        label   0      -       -       -       -       -           1 overdue\n"
        "\n"
        "before segment 0  median 2.0 s, p99 3.0 s, max 61.0 s\n"
        "age at output     -\n"
        "slots in use      median 2, max 5 of 64\n"
        "items             12 pushed, 8 delivered, 1 failed, 1 filtered, 2 dropped (1 replaced by newer ones, 1 "
        "overdue before "
        "a stage), 5 refused beside them\n");
  s.regions_behind.push_back({.pushed = 3, .delivered = 2, .failed = 1});
  CHECK(lv::report(s).ends_with("refused beside them\nof rate region 1  3 pushed, 2 delivered, 1 failed\n"));
}

}  // namespace run_statistics
