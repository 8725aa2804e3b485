// SPDX-License-Identifier: Apache-2.0
// Every kind of session has the calls of run/detail/session/session_handle.hpp, and they mean the same.

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/interop/as_future.hpp>
#include <levada/levada.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/session/dispatcher.hpp>
#include <levada/run/event_session.hpp>
#include <levada/run/hot_swap.hpp>
#include <levada/run/multi_producer.hpp>

#include "completing.hpp"

namespace run_session_handles {

namespace lv = levada;
using namespace lv::test;

/// The sum of all items since the session was opened or reset; fails for a negative one, and leaves the sum as it was.
struct running_sum {
  long total = 0;
  long operator()(const int& v) {
    if (v < 0) throw std::invalid_argument("negative");
    return total += v;
  }
};
auto sums() { return lv::input<int> | lv::stage<"sum">(running_sum{}); }

using app = decltype(lv::deploy<lv::target<lv::cpu<2>>>(sums()));
using plain = decltype(std::declval<const app&>().open());
using erased = decltype(std::declval<const lv::any_pipeline<long(int)>&>().open());
using hot = decltype(std::declval<const lv::hot_swap<long(int)>&>().open());
struct ignore {
  void operator()(const lv::result<long&>&) const noexcept {}
};
using with_callback = lv::callback_session<plain, ignore>;
using with_events = lv::event_session<plain>;
using awaited = lv::async_session<plain>;

static_assert(lv::popped_session<plain> && lv::item_consumer<plain>);
static_assert(lv::popped_session<erased> && lv::item_consumer<erased>);
static_assert(std::same_as<hot, erased>, "it is known by its items alone, too");
static_assert(lv::session_handle<with_callback> && lv::item_consumer<with_callback>);
static_assert(!lv::polled_session<with_callback>, "its results are handed to the function");
static_assert(lv::polled_session<with_events> && lv::item_consumer<with_events>);
static_assert(!lv::popped_session<with_events>, "an event loop does not wait in a pop");
static_assert(lv::session_handle<awaited> && !lv::polled_session<awaited> && !lv::item_consumer<awaited>);
static_assert(lv::item_consumer<lv::multi_producer<plain>> && lv::item_consumer<lv::multi_producer<with_callback>>);
static_assert(lv::item_consumer<lv::multi_producer<erased>> && lv::item_consumer<lv::multi_producer<with_events>>);
static_assert(!lv::session_handle<lv::multi_producer<plain>>, "the session behind it is closed and popped");

/// Gives 1, 2, 3, -1 and 4 to a session of `sums`, and drains it: `give` pushes one item, `take` brings the results so
/// far. It is done twice, with a reset between, and the sums begin anew.
template <lv::session_handle Session>
void means_the_same(Session& session, auto give, auto take) {
  std::atomic<int> failed{0};
  session.on_error([&](std::uint64_t, const std::exception_ptr&) noexcept { failed.fetch_add(1); });
  session.measure();
  session.trace(1000);
  const auto before = session.now();
  CHECK(session.credits() > 0);
  const std::vector<long> expected{1, 3, 6, 10};
  for (int round = 1; round <= 2; ++round) {
    for (const int v : {1, 2, 3, -1, 4}) give(session, v);
    session.drain();
    CHECK(failed == round);
    CHECK(take(session) == expected);
    CHECK(session.counts().pushed == static_cast<std::uint64_t>(5 * round));
    CHECK(session.counts().failed == static_cast<std::uint64_t>(round));
    CHECK(session.counts().in_flight == 0);
    CHECK_FALSE(session.is_over());
    session.reset();
  }
  CHECK(session.now() >= before);
  CHECK_FALSE(session.due().has_value());
  CHECK(session.statistics().items.pushed == 10);
  CHECK_FALSE(session.traced().events.empty());
  session.close();
  session.drain();
  static_cast<void>(take(session));
  CHECK(session.is_over());
  CHECK(session.credits() == 0);
}

std::vector<long> all_popped(auto& session) {
  std::vector<long> sums;
  while (auto r = session.try_pop())
    if (r->has_value()) sums.push_back(r->value());
  return sums;
}
const auto push = [](auto& session, int v) { CHECK(session.push(v)); };

TEST_CASE("the calls of a session mean the same in every kind of session") {
  const auto sums_app = lv::deploy<lv::target<lv::cpu<2>>>(sums());
  SUBCASE("of an app") {
    auto session = sums_app.open();
    means_the_same(session, push, [](auto& s) { return all_popped(s); });
  }
  SUBCASE("of an erased pipeline") {
    const lv::any_pipeline<long(int)> erased_app(sums_app);
    auto session = erased_app.open();
    means_the_same(session, push, [](auto& s) { return all_popped(s); });
  }
  SUBCASE("that follows a hot swap") {
    lv::hot_swap<long(int)> point{lv::any_pipeline<long(int)>(sums_app)};
    auto session = point.open();
    means_the_same(session, push, [](auto& s) { return all_popped(s); });
  }
  SUBCASE("with a function") {
    std::vector<long> handed;
    lv::callback_session session(sums_app.open(), [&](lv::result<long&>& r) {
      if (r.has_value()) handed.push_back(*r);
    });
    means_the_same(session, push, [&](auto&) { return std::exchange(handed, {}); });
  }
  SUBCASE("with an event descriptor") {
    lv::event_session session(sums_app.open());
    means_the_same(session, push, [](auto& s) {
      ::pollfd ready{s.descriptor(), POLLIN, 0};
      static_cast<void>(::poll(&ready, 1, -1));
      return all_popped(s);
    });
  }
  SUBCASE("with futures") {
    lv::async_session session(sums_app.open());
    std::vector<std::future<long>> futures;
    means_the_same(
        session, [&](auto& s, int v) { futures.push_back(lv::as_future(s.push_async(v))); },
        [&](auto&) {
          std::vector<long> sums;
          for (std::future<long>& f : std::exchange(futures, {})) {
            CHECK(f.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
            try {
              sums.push_back(f.get());
            } catch (const std::invalid_argument&) {
            }
          }
          return sums;
        });
  }
}

/// Awaits one item and keeps its sum.
detached keep_sum(awaited& session, int v, std::vector<long>& sums, std::atomic<int>& resumed) {
  const auto r = co_await session.push_async(v);
  if (r.has_value()) sums.push_back(*r);
  resumed.fetch_add(1);
}

TEST_CASE("the calls of a session mean the same where results are awaited") {
  const auto sums_app = lv::deploy<lv::target<lv::cpu<2>>>(sums());
  std::vector<long> sums;
  std::atomic<int> resumed{0};
  int awaits = 0;
  awaited session(sums_app.open());
  means_the_same(
      session, [&](auto& s, int v) { keep_sum(s, v, sums, resumed), ++awaits; },
      [&](auto&) {
        while (resumed != awaits) std::this_thread::yield();  // drained: each is about to go on
        return std::exchange(sums, {});
      });
}

TEST_CASE("the thread that hands out results cannot drain the session, and says so") {
  const auto sums_app = lv::deploy<lv::target<lv::cpu<2>>>(sums());
  std::atomic<int> refused{0}, taken{0};
  awaited session(sums_app.open());
  const auto drain_inside = [&]() -> detached {
    const auto r = co_await session.push_async(1);
    CHECK(r.has_value());
    try {
      session.drain();
    } catch (const lv::error&) {
      refused.fetch_add(1);
    }
    taken.fetch_add(1);
  };
  drain_inside();
  while (taken == 0) std::this_thread::yield();
  CHECK(refused == 1);
}

/// Sums through a session of each kind that is opened with these options.
template <class... Options>
void every_kind_takes() {
  const auto sums_app = lv::deploy<lv::target<lv::cpu<2>>>(sums());
  const lv::any_pipeline<long(int)> erased_app(sums_app);
  const lv::hot_swap<long(int)> point{erased_app};
  const std::vector<long> expected{1, 3, 6, 10};
  const auto give = [](auto& session) {
    for (int i = 1; i <= 4; ++i) CHECK(session.push(i));
    session.drain();
  };
  const auto popped = [&](auto session) {
    give(session);
    CHECK(all_popped(session) == expected);
  };
  popped(sums_app.open<Options...>());
  popped(erased_app.open<Options...>());
  popped(point.open<Options...>());
  lv::dispatcher results;
  for (const bool by_one : {false, true}) {
    std::vector<long> handed;
    const auto take = [&](lv::result<long&>& r) { handed.push_back(*r); };
    auto called = by_one ? lv::callback_session(sums_app.open<Options...>(), take, results)
                         : lv::callback_session(sums_app.open<Options...>(), take);
    give(called);
    CHECK(handed == expected);
    auto events = by_one ? lv::event_session(sums_app.open<Options...>(), results)
                         : lv::event_session(sums_app.open<Options...>());
    give(events);
    ::pollfd ready{events.descriptor(), POLLIN, 0};
    static_cast<void>(::poll(&ready, 1, -1));
    CHECK(all_popped(events) == expected);
    auto async = by_one ? lv::async_session(sums_app.open<Options...>(), results)
                        : lv::async_session(sums_app.open<Options...>());
    std::vector<long> awaited_sums;
    std::vector<std::future<long>> futures;
    for (int i = 1; i <= 4; ++i) futures.push_back(lv::as_future(async.push_async(i)));
    for (std::future<long>& f : futures) awaited_sums.push_back(f.get());
    CHECK(awaited_sums == expected);
  }
}

TEST_CASE("every kind of session is opened with every answer to the question of who works") {
  SUBCASE("callers and workers") { every_kind_takes<>(); }
  SUBCASE("a worker of its own") { every_kind_takes<lv::dedicated>(); }
  SUBCASE("a worker that polls") { every_kind_takes<lv::realtime>(); }
  SUBCASE("the thread that pushes") { every_kind_takes<lv::inline_when_idle>(); }
}

TEST_CASE("any number of threads push into a session that follows a hot swap") {
  const auto add = [](int more) {
    return lv::any_pipeline<int(int)>(lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(
        lv::input<int> | lv::stage<"add">([more](const int& v) { return v + more; })));
  };
  lv::hot_swap<int(int)> point(add(0));
  auto session = point.open();
  lv::multi_producer producers(session);
  constexpr int threads = 4, each = 200;
  std::vector<std::thread> pushing;
  std::atomic<int> left{threads};
  for (int t = 0; t < threads; ++t)
    pushing.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        if (t == 0 && i % 50 == 25) point.swap(add(10'000 * (i / 50 + 1)));
        producers.push(t * each + i);
      }
      if (left.fetch_sub(1) == 1) session.close();
    });
  std::vector<int> next(threads, 0);
  int popped = 0, wrong = 0, swaps = 0;
  while (auto r = session.pop()) {
    const int item = **r % 10'000, at = **r / 10'000;
    wrong += next[static_cast<std::size_t>(item / each)]++ != item % each || at < swaps;
    swaps = at;
    ++popped;
  }
  for (std::thread& t : pushing) t.join();
  CHECK(popped == threads * each);
  CHECK(wrong == 0);
  CHECK(swaps == 4);
}

TEST_CASE("results of a pipeline that changes its rate are popped, and not handed out") {
  const auto pairs =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<lv::tensor<float, 2>> | lv::batch<2> |
                                         lv::stage<"first">([](const lv::tensor<float, 2, 2>& b) { return b[0]; }));
  const auto refused = "levada: a pipeline that changes its rate has no result for each item: pop them";
  CHECK_THROWS_WITH_AS(lv::callback_session(pairs.open(), [](const lv::result<float&>&) {}), refused, lv::error);
  CHECK_THROWS_WITH_AS(lv::event_session(pairs.open()), refused, lv::error);
  CHECK_THROWS_WITH_AS(lv::async_session(pairs.open()), refused, lv::error);
}

TEST_CASE("a drain of futures returns where newer items replaced the last ones") {
  std::atomic<bool> open{false};
  const auto held = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"hold">([&](const int& v) {
                                                         while (!open) std::this_thread::yield();
                                                         return v;
                                                       }));
  for (int round = 0; round < 20; ++round) {
    open = false;
    lv::async_session session(held.open<lv::latest_only>());
    std::vector<std::future<int>> futures;
    for (int i = 0; i < 8; ++i) futures.push_back(lv::as_future(session.push_async(i)));
    open = true;
    session.drain();
    for (const std::future<int>& f : futures) CHECK(f.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
  }
}

}  // namespace run_session_handles
