// SPDX-License-Identifier: Apache-2.0
// Pipelines that are replaced while items stream: nothing is lost, order is kept, the old one finishes what it was
// given.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <thread>
#include <vector>

#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/hot_swap.hpp>

#include <sanitizer.hpp>
#include <soak.hpp>

#include "progress.hpp"
#include "swapping.hpp"

namespace run_hot_swap {

namespace lv = levada;
using namespace levada::test;

template <int Slots = 16>
versioned_pipeline version(int of) {
  return make_version<lv::tbb_executor, Slots>(of);
}

TEST_CASE("a thousand swaps under load lose nothing, keep the order, and free what they replace") {
  swaps_under_load<lv::tbb_executor>(1'000 * soak_scale());
}

TEST_CASE("what was pushed before a swap finishes on the old pipeline, what is pushed after it goes to the new one") {
  versioned_swap hot(version(1));
  auto session = hot.open();
  int item = 0;
  outcomes_in_order outcomes;
  int popped = 0;
  const auto check = [&](const lv::result<versioned>& r) {
    const versioned v = outcomes.add(r);
    CHECK(v.version == 1 + v.item / 10);
    ++popped;
  };
  for (int v = 1; v <= 5; ++v) {
    if (v > 1) hot.swap(version(v));
    for (int i = 0; i < 10; ++i) session.push(item++);
    for (int i = 0; v > 1 && i < 8; ++i) check(*session.pop());
  }
  session.close();
  while (auto r = session.pop()) check(*r);
  CHECK(outcomes.wrong() == 0);
  CHECK(popped == 40);
  check_final(session.counts(), 50);
  CHECK_THROWS_AS(session.push(1), lv::cancelled);
  CHECK(!session.try_push(1));
}

TEST_CASE("an inline call is of the current pipeline") {
  versioned_swap hot(version(1));
  CHECK(hot(0)->version == 1);
  hot.swap(version(2));
  CHECK(hot(0)->version == 2);
  CHECK(!hot(2));
  CHECK_THROWS_AS(static_cast<void>(hot(3)), version_failure);
}

TEST_CASE("swaps without a push between them open no session") {
  const int before = versions_alive.load();
  versioned_swap hot(version(0));
  auto session = hot.open();
  session.push(0);
  for (int v = 1; v <= 10; ++v) hot.swap(version(v));
  CHECK(versions_alive.load() - before == 2);
  session.push(1);
  CHECK(session.pop()->value().version == 0);
  CHECK(session.pop()->value().version == 10);
  CHECK(versions_alive.load() - before == 1);
}

TEST_CASE("one thread that pushes and pops goes over any number of swaps, whatever was not popped before them") {
  const int before = versions_alive.load();
  versioned_swap hot(version<4>(0));
  {
    auto session = hot.open();
    outcomes_in_order outcomes;
    int item = 0;
    SUBCASE("and has popped nothing yet") {}
    SUBCASE("and has popped before") {
      session.push(item++);
      outcomes.add(*session.pop());
    }
    const int first = item;
    for (int v = 0; v < 40; ++v) {
      if (v != 0) hot.swap(version<4>(v));
      for (int i = 0; i < 4; ++i) {
        if (v % 2 == 0)
          session.push(item++);
        else
          CHECK(session.try_push(item++));
      }
    }
    CHECK(versions_alive.load() - before == 40);
    session.drain();
    const auto c = session.counts();
    CHECK(c.pushed == static_cast<std::uint64_t>(item));
    CHECK(c.delivered + c.failed == static_cast<std::uint64_t>(first));
    session.close();
    int wrong = 0;
    while (auto r = session.pop()) {
      const versioned v = outcomes.add(*r);
      wrong += v.version != (v.item - first) / 4;
    }
    CHECK(wrong == 0);
    CHECK(outcomes.wrong() == 0);
    CHECK(session.is_over());
    check_final(session.counts(), item);
  }
  CHECK(versions_alive.load() - before == 1);
}

TEST_CASE("what is open of many pipelines is cancelled at once, and measured") {
  versioned_swap hot(version(0));
  auto session = hot.open();
  for (int v = 1; v <= 5; ++v) {
    session.push(0);
    hot.swap(version(v));
  }
  session.measure();
  session.push(0);
  session.drain();
  CHECK(session.statistics().stages.back().items == 1);
  session.cancel();
  CHECK_THROWS_AS(session.push(1), lv::cancelled);
  int popped = 0;
  while (session.pop()) ++popped;
  CHECK(popped == 6);
  CHECK(session.is_over());
  CHECK(session.counts().in_flight == 0);
}

TEST_CASE("a push behind a second swap waits for another thread that pops the results of the first pipeline") {
  versioned_swap hot(version(0));
  auto session = hot.open();
  std::atomic<int> wanted{1}, begun{0}, popped{0};
  std::thread popper([&] {
    outcomes_in_order outcomes;
    for (int n = 0; n < 4; ++n) {
      while (wanted.load() <= n) std::this_thread::yield();
      ++begun;
      outcomes.add(*session.pop());
      ++popped;
    }
    CHECK(outcomes.wrong() == 0);
  });
  session.push(0);
  while (popped.load() != 1) std::this_thread::yield();
  session.push(1);
  hot.swap(version(1));
  session.push(3);
  hot.swap(version(2));
  CHECK(!session.try_push(4));
  CHECK(session.credits() == 0);
  wanted.store(3);
  session.push(4);           // until then
  CHECK(begun.load() >= 2);  // and no check of `popped`: the pop makes room before it is counted
  wanted.store(4);
  popper.join();
}

TEST_CASE("a full pipeline is swapped while its popper is elsewhere") {
  versioned_swap hot(version<4>(0));
  auto session = hot.open();
  outcomes_in_order outcomes;
  session.push(0);
  outcomes.add(*session.pop());
  std::atomic<bool> pushing{false};
  std::thread pusher([&] {
    int item = 1;
    for (int v = 1; v <= 3; ++v) {
      for (int i = 0; i < 40; ++i) {
        session.push(item++);
        pushing.store(true);
        pushing.notify_all();
      }
      hot.swap(version<4>(v));
    }
    session.push(item);
    session.close();
  });
  pushing.wait(false);
  while (auto r = session.pop()) outcomes.add(*r);
  pusher.join();
  CHECK(outcomes.wrong() == 0);
  check_final(session.counts(), 122);
}

TEST_CASE("a session used only through try_push and try_pop goes over swaps") {
  versioned_swap hot(version(0));
  auto session = hot.open();
  outcomes_in_order outcomes;
  int item = 0, swaps = 0;
  CHECK(eventually([&] {
    for (; item < 2'000 && session.try_push(item); ++item)
      if (item % 50 == 49) hot.swap(version(++swaps));
    while (auto r = session.try_pop()) outcomes.add(*r);
    return item == 2'000;
  }));
  session.close();
  while (auto r = session.pop()) outcomes.add(*r);
  CHECK(outcomes.wrong() == 0);
  CHECK(swaps == 40);
  check_final(session.counts(), 2'000);
}

TEST_CASE("pipelines whose results nobody has to pop are swapped without a popper") {
  std::atomic<long> sum{0};
  const auto make = [&](int times) -> lv::any_pipeline<void(int)> {
    return lv::deploy<lv::target<lv::cpu<2>>, lv::run_by<lv::tbb_executor>>(
        lv::input<int> | lv::sink<"sum">([&sum, times](const int& v) { sum += times * v; }));
  };
  lv::hot_swap<void(int)> hot(make(1));
  auto session = hot.open();
  for (int round = 1; round <= 20; ++round) {
    for (int i = 0; i < 100; ++i) session.push(1);
    hot.swap(make(round + 1));
  }
  session.drain();
  CHECK(sum.load() == 100 * 20 * 21 / 2);
  CHECK(session.counts().pushed == 2'000);
}

TEST_CASE(
    "the sessions of all pipelines are opened with the same options; a push that does not wait goes on where it may") {
  versioned_swap hot(version<4>(0));
  auto session = hot.open<lv::overflow<lv::reject>>();
  const auto fill = [&] {
    int taken = 0;
    while (session.push(0)) ++taken;
    return taken;
  };
  CHECK(session.credits() == 4);
  CHECK(fill() == 4);
  CHECK(session.credits() == 0);
  hot.swap(version<4>(1));
  CHECK(fill() == 4);
  hot.swap(version<4>(2));
  CHECK(!session.push(0));  // no third pipeline while the first has results
  for (int i = 0; i < 4; ++i) CHECK(session.pop()->value().version == 0);
  CHECK(eventually([&] { return session.push(0); }));
  for (int i = 0; i < 4; ++i) CHECK(session.pop()->value().version == 1);
  CHECK(session.pop()->value().version == 2);
  CHECK(session.counts().pushed == 9);
  CHECK(session.counts().delivered == 9);
}

TEST_CASE("numbers, capture times and failures are told across swaps") {
  versioned_swap hot(version(0));
  auto session = hot.open();
  std::atomic<unsigned> failed{0};  // a bit for each number: two pipelines may tell at once
  session.on_error([&](std::uint64_t sequence, const std::exception_ptr&) noexcept { failed |= 1u << sequence; });
  const std::chrono::steady_clock::time_point begin{std::chrono::seconds(5)};
  for (int item = 0; item < 12; ++item) {  // 2 and 7 are filtered, 3 and 10 fail
    if (item == 6) hot.swap(version(1));
    session.push(item, begin + std::chrono::seconds(item));
  }
  session.close();
  std::vector<std::uint64_t> numbers;
  lv::item_envelope envelope;
  while (auto r = session.pop(envelope)) {
    numbers.push_back(envelope.sequence);
    CHECK(envelope.captured == begin + std::chrono::seconds(envelope.sequence));
    CHECK(outcome_of(*r).item == static_cast<int>(envelope.sequence));
  }
  CHECK(numbers == std::vector<std::uint64_t>{0, 1, 3, 4, 5, 6, 8, 9, 10, 11});
  CHECK(failed == (1u << 3 | 1u << 10));
}

TEST_CASE("a session of swapped pipelines is measured and reset") {
  versioned_swap hot(version(0));
  auto session = hot.open();
  session.measure();
  session.push(0);
  hot.swap(version(1));
  for (int i = 0; i < 5; ++i) session.push(0);
  for (int i = 0; i < 6; ++i) CHECK(session.pop()->value().seen == (i == 0 ? 1 : i));
  session.drain();
  CHECK(session.statistics().stages.back().items == 5);
  session.reset();
  session.push(0);
  CHECK(session.pop()->value().seen == 1);
}

TEST_CASE("a trace of more events than memory holds is refused, and the session goes over swaps as before") {
  versioned_swap hot(version(0));
  auto session = hot.open();
  session.trace(8);
  int v = 0;
  for (const int shift : {43, 58, 62}) {
    // A sanitizer ends the program that asks the heap for more than it has; the others are refused before that.
    if (shift == 43 && lv::test::under_sanitizer) continue;
    CHECK_THROWS_AS(session.trace(std::size_t{1} << shift), std::bad_alloc);
    session.push(0);
    CHECK(session.pop()->value().version == v);
    hot.swap(version(++v));
    session.push(0);
    CHECK(session.pop()->value().version == v);
    CHECK(session.traced().events.size() > 0);
  }
}

TEST_CASE("cancelled sessions of swapped pipelines end, account for every item, and free everything") {
  const int before = versions_alive.load();
  for (int round = 0; round < 100; ++round) {
    versioned_swap hot(version(0));
    auto session = hot.open();
    std::atomic<bool> pushing{false};
    std::thread pusher([&] {
      try {
        for (int item = 0;; ++item) {
          if (item % 10 == 9) hot.swap(version(item));
          session.push(item);
          pushing.store(true);
          pushing.notify_all();
        }
      } catch (const lv::cancelled&) {
      }
    });
    pushing.wait(false);
    for (int i = 0; i < round; ++i) static_cast<void>(session.pop());
    std::thread popper([&] {
      while (session.pop()) {
      }
    });
    session.cancel();
    pusher.join();
    popper.join();
    CHECK(session.is_over());
    const auto c = session.counts();
    CHECK(c.in_flight == 0);
    CHECK(c.pushed == c.delivered + c.failed + c.filtered + c.dropped + c.cancelled);
  }
  {
    versioned_swap hot(version(0));
    auto abandoned = hot.open();
    abandoned.push(0);
    hot.swap(version(1));
    abandoned.push(1);
  }
  CHECK(versions_alive.load() == before);
}

}  // namespace run_hot_swap
