// SPDX-License-Identifier: Apache-2.0
// Sessions in the time of a clock that stands before its epoch, where times are less than nothing.

#include <array>
#include <chrono>
#include <optional>
#include <thread>

#include <doctest/doctest.h>
#include <levada/graph/detail/batch.hpp>
#include <levada/graph/sync.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/program/virtual_clock.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

namespace run_clocks {

namespace lv = levada;
using namespace lv::literals;
using namespace std::chrono_literals;

using box = lv::target<lv::cpu<2>>;
using time_point = std::chrono::steady_clock::time_point;

template <class Session>
void let_run_until(Session& session, auto done) {
  while (!done()) {
    session.drain();
    std::this_thread::yield();
  }
}

TEST_CASE("a batch is given short when its time is over, wherever the clock stands") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::batch<4, lv::timeout<20_ms>> |
                                   lv::stage<"first">([](const std::array<int, 4>& b) { return b[0]; }));
  for (const time_point start : {time_point() - 10s, time_point() - 20ms, time_point() - 1ns, time_point(),
                                 time_point::min(), time_point::max() - 20ms - 1ns}) {
    CAPTURE(start.time_since_epoch().count());
    lv::virtual_clock clock(start);
    auto session = app.open(clock);
    CHECK(!session.due());
    session.push(7);
    let_run_until(session, [&] { return session.due().has_value(); });
    CHECK(session.due() == start + 20ms);
    clock.advance(20ms - 1ns);
    session.drain();
    CHECK(!session.try_pop());
    clock.advance(1ns);
    session.drain();
    const auto given = session.try_pop();
    REQUIRE(given);
    CHECK(**given == 7);
    CHECK(!session.due());
  }
}

TEST_CASE("a batch whose time would end behind the clock's last waits for its items") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::batch<2, lv::timeout<20_ms>> |
                                   lv::stage<"first">([](const std::array<int, 2>& b) { return b[0]; }));
  lv::virtual_clock clock(time_point::max() - 20ms);
  auto session = app.open(clock);
  session.push(7);
  session.drain();
  clock.advance_to(time_point::max());
  session.drain();
  CHECK(!session.due());
  CHECK(!session.try_pop());
  session.push(8);
  CHECK(**session.pop() == 7);
}

TEST_CASE("a port that stalls is waited for, and items are in order, wherever the clock stands") {
  const auto app = lv::deploy<box>(
      lv::sync_by_time<lv::tolerance<20_ms>, lv::stall<100_ms>>(lv::port<"a", int>, lv::held(lv::port<"b", int>)) |
      lv::stage<"sum">([](const lv::named_items<lv::named_item<"a", int>, lv::named_item<"b", int>>& both) {
        return both.get<"a">() + both.get<"b">();
      }));
  for (const time_point start : {time_point() - 10s, time_point() - 100ms, time_point::min() + 1s}) {
    CAPTURE(start.time_since_epoch().count());
    lv::virtual_clock clock(start);
    auto session = app.open(clock);
    session.push<"b">(1, start - 1ms);
    session.push<"a">(2, start);
    CHECK(session.due() == start + 100ms);
    clock.advance(100ms - 1ns);
    session.drain();
    CHECK(!session.try_pop());
    clock.advance(1ns);
    session.drain();
    const auto given = session.try_pop();
    REQUIRE(given);
    CHECK(**given == 3);
    CHECK_THROWS_WITH_AS(session.push<"a">(2, start - 1ns),
                         "levada: push: an item of this port was captured later than this one", lv::error);
  }
}

TEST_CASE("a deadline that begins before the clock's first moment drops nothing") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& x) { return x; }));
  lv::virtual_clock clock(time_point::min() + 1s);
  auto session = app.open<lv::deadline<10_s>>(clock);
  session.push(1, time_point::min());
  CHECK(**session.pop() == 1);
  clock.advance(9s + 1ns);
  session.push(2, time_point::min());
  session.close();
  CHECK(!session.pop());
  CHECK(session.counts().dropped == 1);
}

}  // namespace run_clocks
