// SPDX-License-Identifier: Apache-2.0
// Deadlines that are looked at once more before a result is handed out, in each way to get results.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/detail/batch.hpp>
#include <levada/graph/detail/graph.hpp>
#include <levada/interop/as_future.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/program/virtual_clock.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/event_session.hpp>
#include <levada/run/hot_swap.hpp>

#include "items.hpp"
#include "overflow_race.hpp"

namespace run_deadlines {

namespace lv = levada;
using namespace lv::literals;
using namespace std::chrono_literals;
using lv::test::check_account;

using one = lv::target<lv::cpu<1>>;
using time_point = std::chrono::steady_clock::time_point;
using at_output = lv::deadline<10_ms, lv::at_output>;
using tracked = lv::test::tracked<0>;

/// Its only stage takes as long as the item says; an item of 13 fails.
auto taking(lv::virtual_clock& clock) {
  return lv::input<int> | lv::stage<"take">(lv::serial([&clock](const int& ms) {
           clock.advance(std::chrono::milliseconds(ms));
           if (ms == 13) throw std::runtime_error("13");
           return tracked(ms);
         }));
}

void check_overdue(const lv::item_counts& c, std::uint64_t at_the_output, std::uint64_t before = 0) {
  CHECK(c.drops.overdue_at_output == at_the_output);
  CHECK(c.drops.overdue == before);
  check_account(c);
}

/// An awaiting coroutine that nobody waits for.
struct detached {
  struct promise_type {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

TEST_CASE("a deadline bounds no age at the output; at_output looks at results once more") {
  const lv::test::nothing_leaks guard;
  lv::virtual_clock clock(time_point() + 1s);
  const auto app = lv::deploy<one>(taking(clock));
  const auto popped = [&](auto session) {
    std::vector<int> values;
    for (const int ms : {3, 11, 10, 13, 11, 0}) {
      session.push(ms);
      session.drain();
      if (auto r = session.try_pop()) values.push_back(*r ? (**r).checked() : -1);
    }
    session.push(0);
    session.drain();
    clock.advance(11ms);  // it waits to be popped
    CHECK(session.try_pop().has_value() == (values.size() == 6));
    session.close();
    CHECK(!session.pop());
    CHECK(session.is_over());
    check_overdue(session.counts(), values.size() == 6 ? 0 : 3);
    return values;
  };
  CHECK(popped(app.open<lv::deadline<10_ms>>(clock)) == std::vector<int>{3, 11, 10, -1, 11, 0});
  CHECK(popped(app.open<at_output>(clock)) == std::vector<int>{3, 10, -1, 0});
  CHECK(popped(app.open<at_output, lv::dedicated>(clock)) == std::vector<int>{3, 10, -1, 0});
}

TEST_CASE("pop waits on behind a result that was overdue") {
  const lv::test::nothing_leaks guard;
  lv::virtual_clock clock(time_point() + 1s);
  const auto app = lv::deploy<one, lv::slots<4>>(taking(clock));
  auto session = app.open<at_output>(clock);
  std::thread pusher([&] {
    for (int i = 0; i < 400; ++i) session.push(i % 4 == 3 ? 2 : 11);
    session.close();
  });
  std::uint64_t got = 0;
  while (auto r = session.pop()) {
    CHECK((**r).checked() == 2);
    ++got;
  }
  pusher.join();
  const lv::item_counts c = session.counts();
  CHECK(c.delivered == got);
  CHECK(c.drops.overdue_at_output + c.drops.overdue + got == 400);
  CHECK(c.drops.overdue_at_output > 0);
  check_account(c);
}

TEST_CASE("callbacks, futures, coroutines and event loops get no result that is overdue") {
  const lv::test::nothing_leaks guard;
  lv::virtual_clock clock(time_point() + 1s);
  const auto app = lv::deploy<one>(taking(clock));
  SUBCASE("callbacks") {
    std::atomic<int> sum{0};
    lv::callback_session session(app.open<at_output>(clock), [&](lv::result<tracked&> r) { sum += (*r).checked(); });
    for (const int ms : {11, 5, 12}) session.push(ms), session.drain();
    CHECK(sum == 5);
    check_overdue(session.counts(), 2);
  }
  SUBCASE("futures") {
    lv::async_session session(app.open<at_output>(clock));
    CHECK(lv::as_future(session.push_async(5)).get().checked() == 5);
    CHECK_THROWS_AS(lv::as_future(session.push_async(11)).get(), lv::no_result);
  }
  SUBCASE("coroutines") {
    std::atomic<int> outcome{0};
    lv::async_session session(app.open<at_output>(clock));
    const auto wait_for = [&](int ms) -> detached {
      auto r = co_await session.push_async(ms);
      if (r) {
        outcome = lv::detail::value_in(*r).checked();
      } else {
        try {
          r.value();
        } catch (const lv::no_result& why) {
          outcome = why.why == lv::missing::dropped ? -1 : -2;
        }
      }
    };
    for (const auto& [ms, expected] : {std::pair{11, -1}, std::pair{5, 5}}) {
      outcome = 0;
      wait_for(ms);
      while (outcome == 0) std::this_thread::yield();
      CHECK(outcome == expected);
    }
  }
  SUBCASE("event loops") {
    lv::event_session session(app.open<at_output>(clock));
    CHECK(session.push(11));
    while (session.counts().dropped == 0) session.try_pop();
    CHECK(session.push(5));
    std::optional<lv::result<tracked>> r;
    while (!(r = session.try_pop())) std::this_thread::yield();
    CHECK((**r).checked() == 5);
    check_overdue(session.counts(), 1);
  }
}

TEST_CASE("hot sessions, those of any pipeline and those with results outside look at the output, too") {
  lv::virtual_clock clock(time_point() + 1s);
  const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"same">([](const int& x) { return x; }));
  const auto check = [](auto session) {
    const time_point now = std::chrono::steady_clock::now();
    session.push(1, now - 1h);
    session.push(2, now + 1h);
    CHECK(**session.pop() == 2);
    session.push(3, now + 1h);
    session.close();
    CHECK(**session.pop() == 3);
    CHECK(!session.pop());
    CHECK(session.counts().dropped == 1);
  };
  const lv::any_pipeline<int(int)> any(app);
  check(any.open<at_output>());
  check(lv::hot_swap<int(int)>(any).open<at_output>());
  int outside[2] = {};
  auto session = app.open<at_output, lv::external_results>(clock);
  session.push(1, outside[0]);
  session.push(2, outside[1]);
  session.drain();
  clock.advance(11ms);
  CHECK(!session.try_pop());
  session.push(3, outside[0]);
  CHECK(&**session.pop() == &outside[0]);
  check_overdue(session.counts(), 2);
}

TEST_CASE("where the rate changes, what leaves the last region is looked at, and nothing before") {
  lv::virtual_clock clock(time_point() + 1s);
  const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"same">([](const int& x) { return x; }) | lv::batch<2> |
                                   lv::stage<"first">([](const std::array<int, 2>& b) { return b[0]; }));
  auto session = app.open<at_output>(clock);
  session.push(1);
  session.push(2);
  session.drain();
  clock.advance(11ms);
  CHECK(!session.try_pop());
  CHECK(session.counts(0).dropped == 0);
  check_overdue(session.counts(1), 1);
  session.push(3);
  session.push(4);
  CHECK(**session.pop() == 3);
}

TEST_CASE("several outputs are popped whole where the output is looked at") {
  lv::virtual_clock clock(time_point() + 1s);
  const auto app = lv::deploy<one>(lv::graph(
      lv::port<"x", int>, lv::node<"a", "x">(lv::stage<"a">([](const int& x) { return x; })),
      lv::node<"b", "x">(lv::stage<"b">([](const int& x) { return -x; })), lv::output<"a", "a">, lv::output<"b", "b">));
  auto session = app.open<at_output>(clock);
  CHECK_THROWS_WITH_AS(
      session.pop<"a">(),
      "levada: pop: a session that looks at its deadline at the output is popped whole, not by outputs", lv::error);
  session.push(1);
  session.drain();
  clock.advance(11ms);
  session.push(2);
  CHECK((**session.pop()).get<"b">() == -2);
  check_overdue(session.counts(), 1);
}

}  // namespace run_deadlines
