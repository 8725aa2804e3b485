// SPDX-License-Identifier: Apache-2.0
// Sessions whose results leave as they complete.

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/detail/graph.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/interop/as_future.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/program/virtual_clock.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/multi_producer.hpp>
#include <levada/run/simulated.hpp>

#include <soak.hpp>

#include "unordered.hpp"

namespace run_unordered {

namespace lv = levada;
using namespace lv::literals;
using two = lv::target<lv::cpu<2>>;

/// Item 0 waits in its stage until it may go on.
struct held_first {
  std::atomic<bool> go_on{false};

  auto pipeline() {
    return lv::input<int> | lv::stage<"held">(lv::parallel([this](const int& x) {
             while (x == 0 && !go_on) std::this_thread::yield();
             return x;
           }));
  }
};

TEST_CASE("a result does not wait behind a longer item") {
  held_first held;
  const auto app = lv::deploy<two, lv::slots<8>>(held.pipeline());
  auto session = app.open<lv::unordered>();
  for (int i = 0; i < 8; ++i) session.push(i);
  lv::item_envelope envelope;
  for (int i = 1; i < 8; ++i) {
    const auto r = session.pop(envelope);
    REQUIRE(r);
    CHECK(**r == i);  // the other worker takes them in turn
    CHECK(envelope.sequence == static_cast<std::uint64_t>(i));
  }
  CHECK(session.credits() == 0);  // slots are free in the order of items
  CHECK(!session.try_pop());
  CHECK(session.counts().in_flight == 1);
  held.go_on = true;
  CHECK(**session.pop() == 0);
  CHECK(session.credits() == 8);
  session.push(8);
  session.close();
  CHECK(**session.pop() == 8);
  CHECK(!session.pop());
  CHECK(session.is_over());
}

TEST_CASE("callbacks, futures and other producers do not wait behind it either") {
  held_first held;
  const auto app = lv::deploy<two, lv::slots<8>>(held.pipeline());
  SUBCASE("callbacks") {
    std::atomic<int> first{0};
    std::atomic<std::uint64_t> number{0};
    lv::callback_session session(app.open<lv::unordered>(), [&](const lv::result<int&>& r, const lv::item_envelope& e) {
      if (first != 0) return;
      number = e.sequence;
      first = *r;
    });
    session.push(0);
    session.push(1);
    while (first == 0) std::this_thread::yield();
    CHECK(first == 1);
    CHECK(number == 1);
    held.go_on = true;
    session.close();
    session.drain();
    CHECK(session.counts().delivered == 2);
  }
  SUBCASE("futures") {
    lv::async_session session(app.open<lv::unordered>());
    std::future<int> zero = lv::as_future(session.push_async(0)), one = lv::as_future(session.push_async(1));
    CHECK(one.get() == 1);
    CHECK(zero.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
    held.go_on = true;
    CHECK(zero.get() == 0);
  }
  SUBCASE("pushed through a multi_producer") {
    auto session = app.open<lv::unordered>();
    lv::multi_producer producers(session);
    producers.push(0);
    std::thread([&] { producers.push(1); }).join();
    CHECK(**session.pop() == 1);
    held.go_on = true;
    CHECK(**session.pop() == 0);
  }
  SUBCASE("known by its item types") {
    const lv::any_pipeline<int(int)> any = app;
    auto session = any.open<lv::unordered>();
    session.push(0);
    session.push(1);
    CHECK(**session.pop() == 1);
    held.go_on = true;
    CHECK(**session.pop() == 0);
  }
}

TEST_CASE("each result comes once, with its number") {
  const int count = 10'000 * lv::test::soak_scale();
  const auto app = lv::deploy<two, lv::slots<16>>(lv::test::unlike_items());
  SUBCASE("popped by waiting") { lv::test::each_comes_once(app, count); }
  SUBCASE("popped by trying") { lv::test::each_comes_once(app, count, true); }
  SUBCASE("by workers that poll") { lv::test::each_comes_once<lv::realtime>(app, count / 4, true); }
  SUBCASE("in one slot") { lv::test::each_comes_once(lv::deploy<two, lv::slots<1>>(lv::test::unlike_items()), 500); }
  SUBCASE("through several segments") {
    const auto split = lv::deploy<two, lv::slots<16>>(
        lv::input<int> | lv::stage<"before">([](const int& x) { return x; }) | lv::split_here |
        lv::stage<"some">(lv::parallel([](const int& x) { return x % 7 != 6 ? std::optional(x) : std::nullopt; })) |
        lv::stage<"long">(lv::parallel([](const int& x) {
          lv::test::random_length(x);
          if (x % 11 == 10) throw std::runtime_error("one of eleven");
          return x;
        })));
    lv::test::each_comes_once(split, count / 4);
  }
}

TEST_CASE("a cancelled unordered session ends") {
  const auto app = lv::deploy<two, lv::slots<8>>(lv::test::unlike_items());
  for (int turn = 0; turn < 20; ++turn) {
    auto session = app.open<lv::unordered>();
    std::thread pusher([&] {
      try {
        for (int i = 0;; ++i) session.push(i);
      } catch (const lv::cancelled&) {
      }
    });
    for (int i = 0; i < turn; ++i) static_cast<void>(session.pop());
    session.cancel();
    pusher.join();
    while (session.pop()) {
    }
    CHECK(session.is_over());
    const lv::item_counts c = session.counts();
    CHECK(c.in_flight == 0);
    CHECK(c.pushed == c.delivered + c.failed + c.filtered + c.cancelled);
  }
}

TEST_CASE("results of a device leave as it reports them") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>, lv::slots<8>>(
      lv::input<int> | lv::on<lv::simulated<0>>(lv::stage<"there">(lv::parallel([](const int& x) { return x + 1; }))));
  auto session = app.open<lv::unordered>();
  std::vector<int> seen(200);
  std::thread pusher([&] {
    for (int i = 0; i < 200; ++i) session.push(i);
    session.close();
  });
  lv::item_envelope envelope;
  while (const auto r = session.pop(envelope)) {
    CHECK(**r == static_cast<int>(envelope.sequence) + 1);
    ++seen[envelope.sequence];
  }
  pusher.join();
  for (const int times : seen) CHECK(times == 1);
}

TEST_CASE("a result that is looked at in its slot holds up no other") {
  using large = std::array<char, (std::size_t{1} << 20) + 1>;
  std::atomic<bool> go_on{false};
  const auto app = lv::deploy<two, lv::slots<3>>(lv::input<int> |
                                                 lv::stage<"large", large>(lv::parallel([&](const int& x, large& out) {
                                                   while (x == 0 && !go_on) std::this_thread::yield();
                                                   out.fill(static_cast<char>(x));
                                                 })));
  auto session = app.open<lv::unordered>();
  for (int i = 0; i < 3; ++i) session.push(i);
  {
    const auto one = session.pop(), other = session.pop();
    CHECK((**one)[5] == 1);
    CHECK((**other)[large().size() - 1] == 2);
    go_on = true;
    const auto last = session.pop();
    CHECK((**last)[7] == 0);
    CHECK(session.credits() == 0);
  }
  CHECK(session.credits() == 3);
  for (int i = 3; i < 9; ++i) {
    session.push(i);
    CHECK((**session.pop())[0] == i);
  }
}

TEST_CASE("results go where the pusher says, and those that are overdue are dropped") {
  const auto app = lv::deploy<two, lv::slots<4>>(lv::input<int> |
                                                 lv::stage<"next">(lv::parallel([](const int& x) { return x + 1; })));
  SUBCASE("external results") {
    auto session = app.open<lv::unordered, lv::external_results>();
    std::array<int, 4> results{};
    for (int i = 0; i < 4; ++i) session.push(i, results[static_cast<std::size_t>(i)]);
    session.close();
    int count = 0;
    while (const auto r = session.pop()) {
      CHECK(&**r == &results[static_cast<std::size_t>(**r - 1)]);
      ++count;
    }
    CHECK(count == 4);
  }
  SUBCASE("overdue at the output") {
    lv::virtual_clock clock;
    auto session = app.open<lv::unordered, lv::deadline<1_ms, lv::at_output>>(clock);
    for (int i = 0; i < 3; ++i) session.push(i);
    session.drain();
    clock.advance(std::chrono::milliseconds(2));
    CHECK(!session.try_pop());
    CHECK(session.counts().drops.overdue_at_output == 3);
    CHECK(session.credits() == 4);
    session.push(3);
    CHECK(**session.pop() == 4);
  }
}

TEST_CASE("a reset unordered session begins anew, and its outputs are popped together") {
  const auto app =
      lv::deploy<two, lv::slots<4>>(lv::input<int> | lv::stage<"count">([n = 0](const int&) mutable { return n++; }));
  auto session = app.open<lv::unordered>();
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < 3; ++i) {
      session.push(0);
      CHECK(**session.pop() == i);
    }
    session.reset();
  }

  const auto same = lv::stage<"same">(lv::parallel([](const int& x) { return x; }));
  const auto outputs = lv::deploy<two>(lv::input<int> | lv::graph(lv::port<"in", int>, lv::node<"a", "in">(same),
                                                                  lv::node<"b", "in">(same), lv::output<"a", "a">,
                                                                  lv::output<"b", "b">));
  auto whole = outputs.open<lv::unordered>();
  whole.push(5);
  CHECK((*whole.pop()).value().get<"a">() == 5);
  auto apart = outputs.open<lv::unordered>();
  apart.push(5);
  CHECK_THROWS_WITH_AS(apart.pop<"a">(),
                       "levada: pop: results that leave as they complete are popped whole, not by outputs", lv::error);
}

// Where an order is all there is.
struct nothing {
  void operator()(const int&) const {}
};
using paired = decltype(lv::deploy<two>(lv::input<int> | lv::batch<2>));
using into_a_sink = decltype(lv::deploy<two>(lv::input<int> | lv::sink<"s">(nothing{})));
static_assert(std::is_same_v<paired::session_mistake<lv::unordered>,
                             lv::pipeline_that_changes_its_rate_gives_its_results_in_order>);
static_assert(std::is_same_v<into_a_sink::session_mistake<lv::unordered>,
                             lv::unordered_session_needs_a_pipeline_that_gives_results>);

}  // namespace run_unordered
