// SPDX-License-Identifier: Apache-2.0
// Why items are dropped: each for one reason, counted apart.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <levada/graph/detail/batch.hpp>
#include <levada/graph/detail/graph.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/sync.hpp>
#include <levada/interop/report.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/measure/statistics_report.hpp>
#include <levada/run/detail/program/virtual_clock.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/hot_swap.hpp>

#include "overflow_race.hpp"

namespace run_drops {

namespace lv = levada;
using namespace lv::literals;
using namespace std::chrono_literals;
using lv::test::check_account;

using one = lv::target<lv::cpu<1>>;
using time_point = std::chrono::steady_clock::time_point;

auto same() {
  return lv::input<int> | lv::stage<"same">([](const int& x) { return x; });
}

/// A stage that says when it has begun an item, and waits until it may go on.
struct held {
  std::atomic<bool> inside{false}, go_on{false};

  auto pipeline() {
    return lv::input<int> | lv::stage<"held">(lv::serial([this](const int& x) {
             inside = true;
             while (!go_on) std::this_thread::yield();
             return x;
           }));
  }
  void wait() const {
    while (!inside) std::this_thread::yield();
  }
};

template <class Session>
void finish(Session& session, held& stage) {
  stage.go_on = true;
  session.close();
  while (session.pop()) {
  }
}

void check_drops(const lv::item_counts& c, const lv::drop_counts& expected) {
  CHECK(c.drops.replaced == expected.replaced);
  CHECK(c.drops.rejected == expected.rejected);
  CHECK(c.drops.partnerless == expected.partnerless);
  CHECK(c.drops.partial == expected.partial);
  CHECK(c.drops.overdue == expected.overdue);
  CHECK(c.drops.overdue_at_output == expected.overdue_at_output);
  CHECK(c.dropped == expected.sum());
  check_account(c);
}

TEST_CASE("items that give way to newer ones, and those that find no room, are dropped for two reasons") {
  held stage;
  const auto app = lv::deploy<one, lv::slots<4>>(stage.pipeline());
  SUBCASE("drop_oldest") {
    auto session = app.open<lv::overflow<lv::drop_oldest>, lv::dedicated>();
    CHECK(session.push(0));
    stage.wait();
    for (int i = 1; i < 10; ++i) CHECK(session.push(i));
    stage.go_on = true;
    session.drain();
    for (int i = 10; i < 13; ++i) CHECK(session.push(i) == lv::push_outcome::dropped);
    finish(session, stage);
    check_drops(session.counts(), {.replaced = 6, .rejected = 3});
    CHECK(session.counts().refused == 0);
  }
  SUBCASE("latest_only") {
    auto session = app.open<lv::latest_only, lv::dedicated>();
    CHECK(session.push(0));
    stage.wait();
    for (int i = 1; i < 10; ++i) CHECK(session.try_push(i));
    finish(session, stage);
    check_drops(session.counts(), {.replaced = 8});
  }
  SUBCASE("drop_newest") {
    auto session = app.open<lv::overflow<lv::drop_newest>, lv::dedicated>();
    for (int i = 0; i < 9; ++i) CHECK(session.push(i) == (i < 4));
    finish(session, stage);
    check_drops(session.counts(), {.rejected = 5});
  }
}

TEST_CASE("a push that is refused is counted beside the items") {
  held stage;
  const auto app = lv::deploy<one, lv::slots<4>>(stage.pipeline());
  const auto check = [&](auto session, bool by_push) {
    for (int i = 0; i < 4; ++i) CHECK(session.try_push(i));
    for (int i = 0; i < 3; ++i) CHECK((by_push ? session.push(9) : session.try_push(9)) == lv::push_outcome::refused);
    CHECK(session.counts().refused == 3);
    finish(session, stage);
    CHECK(session.try_push(9) == lv::push_outcome::refused);  // not for want of room
    check_drops(session.counts(), {});
    CHECK(session.counts().pushed == 4);
    CHECK(session.counts().refused == 3);
  };
  SUBCASE("by a session that rejects") { check(app.open<lv::overflow<lv::reject>, lv::dedicated>(), true); }
  SUBCASE("by one whose push would wait") { check(app.open<lv::dedicated>(), false); }
  SUBCASE("by one of any pipeline") {
    const lv::any_pipeline<int(int)> any(app);
    check(any.open<lv::overflow<lv::reject>, lv::dedicated>(), true);
  }
}

TEST_CASE("items past their deadline are overdue, and the statistics say before which stage") {
  lv::virtual_clock clock;
  const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"slow">(lv::serial([&](const int& ms) {
                                     clock.advance(std::chrono::milliseconds(ms));
                                     return ms;
                                   })) |
                                   lv::stage<"behind">([](const int& x) { return x; }));
  auto session = app.open<lv::deadline<10_ms>>(clock);
  session.measure();
  clock.advance(1s);
  session.push(5, clock.now() - 11ms);  // before the first
  session.push(11, clock.now());        // before the second
  session.drain();
  session.push(10, clock.now());
  session.close();
  CHECK(**session.pop() == 10);
  CHECK(!session.pop());
  check_drops(session.counts(), {.overdue = 2});
  const lv::session_statistics s = session.statistics();
  CHECK(s.stages.at(0).overdue == 1);
  CHECK(s.stages.at(1).overdue == 1);
  CHECK(lv::report(s).find("3 pushed, 1 delivered, 2 dropped (2 overdue before a stage)") != std::string::npos);
}

TEST_CASE("items without partners are partnerless, by time, by number, and at a full port rejected or replaced") {
  const auto pair = [](const lv::named_items<lv::named_item<"a", int>, lv::named_item<"b", int>>& both) {
    return both.get<"a">() + both.get<"b">();
  };
  SUBCASE("by time") {
    const auto app = lv::deploy<one>(lv::sync_by_time<lv::tolerance<1_ms>>(lv::port<"a", int>, lv::port<"b", int>) |
                                     lv::stage<"sum">(pair));
    const time_point start = time_point() + 1s;
    auto session = app.open<lv::overflow<lv::drop_oldest>>();
    session.push<"b">(1, start);
    session.push<"a">(1, start);
    session.push<"a">(2, start + 10ms);
    session.push<"b">(2, start + 20ms);
    CHECK(session.counts().drops.partnerless == 1);
    for (int i = 0; i < 258; ++i) session.push<"a">(3, start + 30ms);
    CHECK(session.counts().drops.replaced == 2);
    session.close();
    while (session.pop()) {
    }
    check_drops(session.counts(), {.replaced = 2, .partnerless = 1 + 256});
  }
  SUBCASE("by time, where the port drops its newest") {
    const auto app = lv::deploy<one>(lv::sync_by_time<lv::tolerance<1_ms>>(lv::port<"a", int>, lv::port<"b", int>) |
                                     lv::stage<"sum">(pair));
    auto session = app.open<lv::overflow<lv::drop_newest, "a">, lv::overflow<lv::reject, "b">>();
    for (int i = 0; i < 258; ++i)
      CHECK(session.push<"a">(3, time_point() + 1s) == (i < 256 ? lv::push_outcome::taken : lv::push_outcome::dropped));
    session.close();
    check_drops(session.counts(), {.rejected = 2, .partnerless = 256});
  }
  SUBCASE("by number") {
    const auto app = lv::deploy<one, lv::slots<4>>(
        lv::graph(lv::port<"a", int>, lv::port<"b", int>,
                  lv::node<"sum", "a", "b">(lv::join<"sum">([](const int& a, const int& b) { return a + b; })),
                  lv::output<"sum", "sum">));
    auto session = app.open<lv::overflow<lv::reject>>();
    for (int i = 0; i < 4; ++i) CHECK(session.push<"a">(i));
    CHECK(session.push<"a">(4) == lv::push_outcome::refused);
    CHECK(session.push<"b">(0));
    session.drain();
    CHECK(session.pop());
    CHECK(session.counts().in_flight == 3);
    session.close();
    check_drops(session.counts(), {.partnerless = 3});
    CHECK(session.counts().refused == 1);
  }
  SUBCASE("given up by a cancel they are cancelled") {
    const auto app = lv::deploy<one>(lv::sync_by_time<lv::tolerance<1_ms>>(lv::port<"a", int>, lv::port<"b", int>) |
                                     lv::stage<"sum">(pair));
    auto session = app.open();
    session.push<"a">(1, time_point() + 1s);
    session.cancel();
    CHECK(session.counts().cancelled == 1);
    check_drops(session.counts(), {});
  }
}

TEST_CASE("items that do not fill a batch are the rest of one") {
  const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"same">([](const int& x) { return x; }) |
                                   lv::batch<4, lv::partial::drop> |
                                   lv::stage<"first">([](const std::array<int, 4>& b) { return b[0]; }));
  auto session = app.open();
  for (int i = 0; i < 7; ++i) session.push(i);
  session.close();
  while (session.pop()) {
  }
  check_drops(session.counts(), {.partial = 3});
}

TEST_CASE("a hot session adds up the reasons of all its pipelines") {
  const auto app = lv::deploy<one, lv::slots<4>>(same());
  lv::hot_swap<int(int)> hot{lv::any_pipeline<int(int)>(app)};
  auto session = hot.open<lv::overflow<lv::drop_newest>>();
  const auto fill = [&] {
    for (int i = 0; i < 6; ++i) static_cast<void>(session.push(i));
    session.drain();
    for (int i = 0; i < 4; ++i) CHECK(session.try_pop());
  };
  fill();
  hot.swap(lv::any_pipeline<int(int)>(app));
  fill();
  session.close();
  while (session.pop()) {
  }
  CHECK(session.counts().pushed == 12);
  check_drops(session.counts(), {.rejected = 4});
}

}  // namespace run_drops
