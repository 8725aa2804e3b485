// SPDX-License-Identifier: Apache-2.0
// Sessions that are closed port by port, or while others push: who waits hears of it, and nothing enters behind the
// last result.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/sync.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

#include "closing.hpp"
#include "overflow_race.hpp"

namespace run_closing {

namespace lv = levada;
using namespace lv::literals;
using namespace std::chrono_literals;
using namespace lv::test;

using box = lv::target<lv::cpu<2>>;

template <class Session>
std::vector<int> pop_all(Session& session) {
  std::vector<int> values;
  while (auto r = session.pop()) values.push_back(**r);
  CHECK(session.is_over());
  return values;
}

/// A thread that pushes to a port until it is told that it is closed.
template <class Push>
std::jthread pushes_until_cancelled(std::atomic<bool>& told, Push push) {
  return std::jthread([&told, push] {
    try {
      for (int i = 0;; ++i) push(i);
    } catch (const lv::cancelled&) {
      told = true;
    }
  });
}

TEST_CASE(
    "by number: who waits at a port for partners that never come is told, and the session ends with the last pair") {
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box, lv::slots<4>>(by_number());
  auto session = app.open();
  std::atomic<bool> told{false};
  std::jthread right = pushes_until_cancelled(told, [&](int i) { session.push<"right">(i); });
  while (session.counts().in_flight != 4) std::this_thread::yield();
  std::this_thread::sleep_for(1ms);  // it waits
  CHECK(!told);
  for (int i = 0; i < 2; ++i) CHECK(session.push<"left">(item_on_port(i)));
  session.close<"left">();
  CHECK(pop_all(session) == std::vector<int>{0, 101});
  right.join();
  CHECK(told);
  CHECK(session.counts().delivered == 2);
  CHECK(session.counts().drops.partnerless == session.counts().pushed - 2);
  check_account(session.counts());
}

TEST_CASE("by number: a port that is closed ahead of the others is closed to its own items alone") {
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box, lv::slots<8>>(by_number());
  auto session = app.open();
  for (int i = 0; i < 3; ++i) CHECK(session.push<"left">(item_on_port(i)));
  session.close<"left">();
  CHECK_THROWS_WITH_AS(session.push<"left">(item_on_port(3)),
                       "levada: push: this port is closed, or another that gives no more partners", lv::cancelled);
  CHECK(session.try_push<"left">(item_on_port(3)) == lv::push_outcome::refused);
  session.drain();
  CHECK(!session.is_over());
  CHECK(session.counts().in_flight == 3);
  for (int i = 0; i < 2; ++i) CHECK(session.push<"right">(i));
  CHECK(**session.pop() == 0);
  CHECK(session.counts().in_flight == 2);
  CHECK(session.push<"right">(2));
  CHECK_THROWS_AS(session.push<"right">(3), lv::cancelled);
  CHECK(session.try_push<"right">(3) == lv::push_outcome::refused);
  CHECK(pop_all(session) == std::vector<int>{101, 202});
  CHECK(session.counts().dropped == 0);
  CHECK(session.counts().refused == 0);
  check_account(session.counts());
}

TEST_CASE("by number: what is there without partners is counted when the port is closed, and the session goes on") {
  const lv::test::nothing_leaks guard;
  const auto app =
      lv::deploy<box, lv::slots<8>>(lv::graph(lv::port<"a", int>, lv::port<"b", int>, lv::port<"c", int>,
                                              lv::node<"sum", "a", "b", "c">(lv::join<"sum">(
                                                  [](const int& a, const int& b, const int& c) { return a + b + c; })),
                                              lv::output<"sum", "sum">));
  auto session = app.open();
  for (int i = 0; i < 5; ++i) CHECK(session.push<"a">(i));
  for (int i = 0; i < 2; ++i) CHECK(session.push<"b">(i));
  session.close<"b">();
  CHECK(session.counts().drops.partnerless == 3);
  CHECK(session.counts().in_flight == 2);
  CHECK(session.try_push<"a">(5) == lv::push_outcome::refused);
  for (int i = 0; i < 2; ++i) CHECK(session.push<"c">(i));
  CHECK(pop_all(session) == std::vector<int>{0, 3});
  CHECK(session.counts().drops.partnerless == 3);
  check_account(session.counts());
}

TEST_CASE("a port without items, or the last one, ends the session; whole items are closed as a whole") {
  const auto app = lv::deploy<box, lv::slots<8>>(by_number());
  {
    auto session = app.open();
    session.close<"right">();
    CHECK(!session.pop());
    CHECK(session.is_over());
    CHECK_THROWS_AS(session.push<"left">(item_on_port(0)), lv::cancelled);
    session.close<"right">();
    session.close<"left">();
    session.close();
  }
  {
    auto session = app.open();
    session.push({item_on_port(1), 1});
    CHECK_THROWS_WITH_AS(session.close<"left">(),
                         "levada: close: items were pushed whole before, and no port can be closed alone", lv::error);
    session.close();
    CHECK(pop_all(session) == std::vector<int>{101});
  }
}

TEST_CASE("by time: items wait no longer for a port that is closed, and meet what it gave") {
  const lv::test::nothing_leaks guard;
  const auto check = [](const auto& pipeline, const std::vector<int>& expected) {
    const auto app = lv::deploy<box>(pipeline);
    auto session = app.open();
    session.template push<"right">(1, at(0));
    session.template push<"right">(2, at(30));
    for (const auto& [i, ms] : {std::pair{1, 20}, {2, 40}, {3, 50}, {4, 51}})
      session.template push<"left">(item_on_port(i), at(ms));
    session.drain();
    CHECK(session.counts().in_flight >= 3);
    session.template close<"right">();
    session.drain();
    std::vector<int> met;
    while (auto r = session.try_pop()) met.push_back(**r);
    CHECK(met == expected);
    CHECK(!session.is_over());
    session.template push<"left">(item_on_port(5), at(52));  // of no partner any more, and waits for none
    session.drain();
    CHECK(session.counts().in_flight == 0);
    CHECK(session.counts().drops.partnerless == 5 - expected.size());
    CHECK_THROWS_AS(session.template push<"right">(3, at(60)), lv::cancelled);
    CHECK(session.template try_push<"right">(3, at(60)) == lv::push_outcome::refused);
    session.template close<"left">();
    CHECK(!session.pop());
    CHECK(session.is_over());
    check_account(session.counts());
  };
  check(by_time(), {102, 202, 302});
  check(by_time(lv::held(lv::port<"right", int>)), {101, 202, 302});
  check(by_time(lv::interpolated(
            lv::port<"right", int>,
            [](const int& a, const int& b, double t) { return a + static_cast<int>(static_cast<double>(b - a) * t); })),
        {101});
}

TEST_CASE("by time: with its first port the session ends, and who waits at another is told") {
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box>(by_time());
  auto session = app.open();
  CHECK(session.push<"left">(item_on_port(1), at(0)));
  std::atomic<bool> told{false}, over{false};
  std::atomic<int> pushed{0};
  std::jthread right = pushes_until_cancelled(told, [&](int i) {
    session.push<"right">(i, at(i));
    ++pushed;
  });
  CHECK(**session.pop() == 100);
  std::jthread popper([&] {
    CHECK(!session.pop());
    over = true;
  });
  while (pushed < 256) std::this_thread::yield();
  std::this_thread::sleep_for(1ms);  // it waits
  CHECK(!told);
  CHECK(!over);
  session.close<"left">();
  right.join();
  popper.join();
  CHECK(told);
  CHECK(session.is_over());
  check_account(session.counts());
}

TEST_CASE("one thread that waits for a port it cannot push to is told so") {
  const auto app = lv::deploy<box>(by_time());
  auto session = app.open();
  session.close<"right">();
  session.push<"left">(item_on_port(1), at(0));
  CHECK_THROWS_WITH_AS(session.pop(), "levada: pop: nothing is in flight, and only this thread has ever pushed",
                       lv::error);
  CHECK(session.counts().drops.partnerless == 1);
}

/// An item whose way into the session takes as long as others say.
struct slow {
  struct way {
    std::atomic<bool> inside{false}, go_on{false};
  };
  way* through = nullptr;

  explicit slow(way* w) : through(w) {}
  slow(slow&& other) noexcept : through(std::exchange(other.through, nullptr)) {
    if (through == nullptr) return;
    through->inside = true;
    while (!through->go_on) std::this_thread::yield();
  }
  slow(const slow& other) : through(other.through) {}
};

/// A thread is in a push, one closes and pops, and only then the push goes on: what is popped is all there ever is.
template <class App, class Push>
void check_close_during(const App& app, Push push) {
  slow::way way;
  auto session = app.open();
  push(session, slow(&way));
  std::atomic<bool> ended{false};
  std::atomic<int> popped{0};
  std::jthread pusher([&] { CHECK_NOTHROW(session.template push<"slow">(slow(&way), at(0))); });
  while (!way.inside) std::this_thread::yield();
  std::jthread closer([&] {
    session.close();
    while (session.pop()) ++popped;
    ended = true;
  });
  for (int i = 0; i < 500 && !ended; ++i) std::this_thread::sleep_for(100us);
  way.go_on = true;
  pusher.join();
  closer.join();
  CHECK(session.is_over());
  CHECK(!session.try_pop());
  CHECK(session.counts().delivered == static_cast<std::uint64_t>(popped));
  check_account(session.counts());
}

TEST_CASE("nothing enters behind the last result where a port is pushed to while the session is closed") {
  const auto value = [](const slow&, const int& n) { return n; };
  SUBCASE("by number") {
    check_close_during(
        lv::deploy<box>(lv::graph(lv::port<"n", int>, lv::port<"slow", slow>,
                                  lv::node<"both", "slow", "n">(lv::join<"both">(value)), lv::output<"both", "both">)),
        [](auto& session, const slow&) { session.template push<"n">(1); });
  }
  SUBCASE("by time") {
    check_close_during(
        lv::deploy<box>(
            lv::sync_by_time<lv::tolerance<20_ms>>(lv::port<"slow", slow>, lv::port<"n", int>) |
            lv::stage<"both">([](const lv::named_items<lv::named_item<"slow", slow>, lv::named_item<"n", int>>& both) {
              return both.get<"n">();
            })),
        [](auto& session, const slow&) { session.template push<"n">(1, at(0)); });
  }
}

TEST_CASE("a session that is closed at any moment while its ports are pushed to has no result behind the last") {
  const auto number = lv::deploy<box, lv::slots<4>>(by_number());
  const auto time = lv::deploy<box, lv::slots<4>>(by_time());
  SUBCASE("by number") { check_closing_at_any_moment(number, 300, all_ports); }
  SUBCASE("by number, a port") { check_closing_at_any_moment(number, 300, one_port); }
  SUBCASE("by time") { check_closing_at_any_moment(time, 300, all_ports); }
  SUBCASE("by time, the first port") { check_closing_at_any_moment(time, 300, first_port); }
}

}  // namespace run_closing
