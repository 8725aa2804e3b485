// SPDX-License-Identifier: Apache-2.0
// Sessions that do not wait: what is dropped, what is kept, and that every item is accounted for.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>
#include <levada/run/multi_producer.hpp>

#include "overflow_race.hpp"

namespace run_overflow {

namespace lv = levada;
using namespace lv::literals;
using lv::test::check_account;
using lv::test::race;

using box = lv::target<lv::cpu<2>>;

/// A stage that waits until it may go on, and says how many items have come.
struct gate {
  std::atomic<int> entered{0};
  std::atomic<int> open{0};

  void pass() {
    const int mine = entered.fetch_add(1);
    while (open.load() <= mine) std::this_thread::yield();
  }
  void wait_for(int count) const {
    while (entered.load() < count) std::this_thread::yield();
  }
};

template <class Item>
auto gated(gate& g) {
  return lv::input<Item> | lv::stage<"gated">(lv::serial([&g](Item&& item) {
           g.pass();
           return std::move(item);
         }));
}

template <class Session>
std::vector<int> pop_all(Session& session) {
  std::vector<int> values;
  while (auto r = session.pop()) values.push_back(**r);
  return values;
}

TEST_CASE("a full pipeline rejects: the item stays with the caller") {
  gate g;
  const auto app = lv::deploy<box, lv::slots<4>>(gated<std::unique_ptr<int>>(g));
  auto session = app.open<lv::overflow<lv::reject>>();
  CHECK(session.credits() == 4);
  for (int i = 0; i < 4; ++i) CHECK(session.push(std::make_unique<int>(i)));
  CHECK(session.credits() == 0);
  auto more = std::make_unique<int>(4);
  CHECK_FALSE(session.push(std::move(more)));
  CHECK_FALSE(session.try_push(std::move(more)));
  REQUIRE(more != nullptr);
  CHECK(*more == 4);
  g.open = 100;
  session.close();
  int expected = 0;
  while (auto r = session.pop()) CHECK(*r->value() == expected++);
  CHECK(expected == 4);
  CHECK(session.counts().pushed == 4);
  check_account(session.counts());
}

TEST_CASE("a full pipeline drops the newest, counted") {
  gate g;
  const auto app = lv::deploy<box, lv::slots<4>>(gated<int>(g));
  auto session = app.open<lv::overflow<lv::drop_newest>>();
  for (int i = 0; i < 10; ++i) CHECK(session.push(i) == (i < 4));
  g.open = 100;
  session.close();
  CHECK(pop_all(session) == std::vector<int>{0, 1, 2, 3});
  CHECK(session.counts().pushed == 10);
  CHECK(session.counts().dropped == 6);
  check_account(session.counts());
}

TEST_CASE("a full pipeline drops the oldest that no stage has begun, and never one that is inside") {
  gate g;
  // cpu<1>: one item is begun, the others wait.
  const auto app = lv::deploy<lv::target<lv::cpu<1>>, lv::slots<4>>(gated<int>(g));
  auto session = app.open<lv::overflow<lv::drop_oldest>>();
  CHECK(session.push(0));
  g.wait_for(1);
  for (int i = 1; i < 10; ++i) CHECK(session.push(i));
  g.open = 100;
  session.close();
  lv::item_envelope envelope;
  std::vector<int> values;
  while (auto r = session.pop(envelope)) {
    values.push_back(**r);
    CHECK(envelope.sequence == static_cast<std::uint64_t>(**r));
  }
  CHECK(values == std::vector<int>{0, 7, 8, 9});
  CHECK(session.counts().pushed == 10);
  CHECK(session.counts().dropped == 6);
  check_account(session.counts());
}

TEST_CASE("where all items are begun, the newest is dropped in place of the oldest") {
  gate g;
  g.open = 100;
  const auto app = lv::deploy<box, lv::slots<4>>(gated<int>(g));
  auto session = app.open<lv::overflow<lv::drop_oldest>>();
  for (int i = 0; i < 4; ++i) CHECK(session.push(i));
  session.drain();  // four results wait to be popped
  CHECK_FALSE(session.push(4));
  session.close();
  CHECK(pop_all(session) == std::vector<int>{0, 1, 2, 3});
  CHECK(session.counts().dropped == 1);
  check_account(session.counts());
}

TEST_CASE("latest_only: of the items that wait, only the newest is begun") {
  gate g;
  const auto app = lv::deploy<box>(gated<int>(g));
  auto session = app.open<lv::latest_only>();
  CHECK(session.push(0));
  g.wait_for(1);
  for (int i = 1; i <= 100; ++i) CHECK((i % 2 != 0 ? session.push(i) : session.try_push(i)));
  g.open = 1;
  g.wait_for(2);
  for (int i = 101; i <= 150; ++i) CHECK(session.push(i));
  g.open = 1000;
  session.close();
  CHECK(pop_all(session) == std::vector<int>{0, 100, 150});
  CHECK(session.counts().pushed == 151);
  CHECK(session.counts().dropped == 148);
  check_account(session.counts());
}

/// Items that are moved in: the caller has each that was not taken, as it was.
template <class Push>
void check_moved_in(int from, int until, lv::push_outcome expected, Push push) {
  for (int i = from; i < until; ++i) {
    auto item = std::make_unique<int>(i);
    const lv::push_result pushed = push(std::move(item));
    CHECK(pushed == expected);
    CHECK(pushed.what() == expected);
    CHECK(pushed == (expected == lv::push_outcome::taken));
    CHECK((item == nullptr) == (expected == lv::push_outcome::taken));
  }
}

TEST_CASE("a push says whose its item is, and moves from it only where the pipeline has it") {
  using lv::push_outcome;
  using item = std::unique_ptr<int>;
  gate g;
  g.open = 100;
  const auto app = lv::deploy<box, lv::slots<4>>(gated<item>(g));
  const auto check = [&](auto session, push_outcome when_full, bool waits) {
    const auto then_drain = [&](lv::push_result pushed) { return session.drain(), pushed; };
    const auto pushes = [&](item&& i) { return then_drain(session.push(std::move(i))); };
    const auto tries = [&](item&& i) { return then_drain(session.try_push(std::move(i))); };
    check_moved_in(0, 2, push_outcome::taken, pushes);
    check_moved_in(2, 4, push_outcome::taken, tries);
    // Four results wait to be popped.
    check_moved_in(4, 6, when_full, tries);
    if (!waits) check_moved_in(6, 8, when_full, pushes);
    const lv::item_counts counts = session.counts();
    CHECK(counts.dropped == (when_full == push_outcome::dropped ? 4 : 0));
    session.close();
    check_moved_in(8, 9, push_outcome::refused, tries);
    CHECK(session.counts().dropped == counts.dropped);
  };
  check(app.open(), push_outcome::refused, true);
  check(app.open<lv::overflow<lv::reject>>(), push_outcome::refused, false);
  check(app.open<lv::overflow<lv::drop_newest>>(), push_outcome::dropped, false);
  check(app.open<lv::overflow<lv::drop_oldest>>(), push_outcome::dropped, false);
  check(app.open<lv::latest_only>(), push_outcome::dropped, false);

  auto session = app.open<lv::overflow<lv::reject>>();
  lv::multi_producer producers(session);
  check_moved_in(0, 4, push_outcome::taken, [&](item&& i) { return producers.try_push(std::move(i)); });
  check_moved_in(4, 5, push_outcome::refused, [&](item&& i) { return producers.push(std::move(i)); });
}

template <class... Options>
void races() {
  const auto two = lv::test::two_stages();
  race<Options...>(lv::deploy<box, lv::slots<5>>(two), 20'000);
  race<Options...>(lv::deploy<box, lv::run_by<lv::thread_executor>>(two), 20'000);
  race<Options...>(lv::deploy<lv::target<lv::cpu<1>>>(two), 5'000);
}

TEST_CASE("a pusher that is too fast: in order, nothing lost, nothing twice") {
  SUBCASE("drop_newest") { races<lv::overflow<lv::drop_newest>>(); }
  SUBCASE("drop_oldest") { races<lv::overflow<lv::drop_oldest>>(); }
  SUBCASE("latest_only") { races<lv::latest_only>(); }
  SUBCASE("latest_only, dedicated") { races<lv::latest_only, lv::dedicated>(); }
  SUBCASE("drop_oldest, realtime") { races<lv::overflow<lv::drop_oldest>, lv::realtime>(); }
}

TEST_CASE("an item past its deadline is dropped before its next stage") {
  gate g;
  g.open = 1000;
  std::atomic<int> seen{0};
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(
      lv::input<int> | lv::stage<"first">(lv::serial([&](const int& x) { return ++seen, x; })) |
      lv::stage<"second">([](const int& x) { return x; }));
  auto session = app.open<lv::deadline<10_s>>();
  const auto now = std::chrono::steady_clock::now();
  session.push(0, now - std::chrono::seconds(20));
  session.push(1, now);
  session.push(2, now - std::chrono::hours(1));
  session.push(3);  // from now on
  session.close();
  CHECK(pop_all(session) == std::vector<int>{1, 3});
  CHECK(seen == 2);
  CHECK(session.counts().dropped == 2);
  check_account(session.counts());
}

TEST_CASE("items that are begun together are dropped one by one") {
  lv::virtual_clock clock;
  const auto app =
      lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"waits">(lv::serial([&](const int& ms) {
                                           clock.advance(std::chrono::milliseconds(ms));
                                           return ms;
                                         })));
  auto session = app.open<lv::deadline<10_ms>>(clock);
  for (int round = 0; round < 500; ++round) {  // they are found to be short, and taken many at a time
    for (int i = 0; i < 32; ++i) session.push(0);
    for (int i = 0; i < 32; ++i) session.pop();
  }
  // At the clock's beginning, which is no capture time, an item would be captured when it is pushed.
  clock.advance(std::chrono::seconds(1));
  const auto start = clock.now();
  for (int i = 0; i < 32; ++i) session.push(5, start);
  session.close();
  CHECK(pop_all(session) == std::vector<int>(3, 5));
  CHECK(session.counts().dropped == 29);
  check_account(session.counts());
}

TEST_CASE("the capture time travels with the item") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  auto session = app.open();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) session.push(i, start + std::chrono::milliseconds(i));
  session.close();
  lv::item_envelope e;
  for (int i = 0; session.pop(e); ++i) {
    CHECK(e.sequence == static_cast<std::uint64_t>(i));
    CHECK(e.captured == start + std::chrono::milliseconds(i));
  }
}

TEST_CASE("reset gives every stage its first state, inside an open session") {
  const auto app =
      lv::deploy<box>(lv::input<int> | lv::stage<"sum">([sum = 0](const int& x) mutable { return sum += x; }));
  auto session = app.open();
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 10; ++i) session.push(1);
    session.reset();
  }
  session.push(1);
  session.close();
  int n = 0;
  while (auto r = session.pop()) CHECK(**r == n++ % 10 + 1);
  CHECK(n == 51);
  auto unique = lv::deploy<box>(lv::input<int> |
                                lv::stage<"own">([p = std::make_unique<int>(1)](const int& x) { return x + *p; }));
  auto once = unique.open();
  CHECK_THROWS_WITH_AS(once.reset(), "levada: stage \"own\": its state cannot be copied, so it cannot be reset",
                       lv::error);
}

TEST_CASE("dedicated: no stage runs on a calling thread") {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> here{0};
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"where">([&](const int& x) {
                                                        return here += std::this_thread::get_id() == caller, x;
                                                      }));
  SUBCASE("dedicated") {
    auto session = app.open<lv::dedicated>();
    for (int i = 0; i < 300; ++i) {
      session.push(i);
      CHECK(**session.pop() == i);
    }
  }
  SUBCASE("realtime, by try_push and try_pop alone") {
    auto session = app.open<lv::realtime>();
    // As many as fit in at once: the way to a worker that polls and back is many time slices long on a busy machine.
    for (int pushed = 0, popped = 0; popped < 1000; std::this_thread::yield()) {
      while (pushed < 1000 && session.try_push(pushed)) ++pushed;
      while (auto r = session.try_pop()) CHECK(**r == popped++);
    }
  }
  CHECK(here == 0);
}

TEST_CASE("realtime: also push and pop wait, full and empty") {
  const auto app =
      lv::deploy<box, lv::slots<4>>(lv::input<int> | lv::stage<"a">(lv::serial([](const int& x) { return x; })));
  auto session = app.open<lv::realtime>();
  std::thread pusher([&] {
    for (int i = 0; i < 200; ++i) session.push(i);
    session.close();
  });
  int expected = 0;
  while (auto r = session.pop()) CHECK(**r == expected++);
  pusher.join();
  CHECK(expected == 200);
}

}  // namespace run_overflow
