// SPDX-License-Identifier: Apache-2.0
// Single items: cheap ones that are run by the thread that pops them, beside pushers, cancels and those that look on.

#include "single_items.hpp"

#include <levada/levada.hpp>

#include <soak.hpp>

namespace run_single_items {

namespace lv = levada;
using namespace levada::test;

TEST_CASE("single items between bursts of another thread: order, states and failures are those of a loop") {
  // The two threads wait for each other by yielding: on a busy machine each turn is a time slice.
  const std::uint64_t count = 5'000 * static_cast<std::uint64_t>(soak_scale());
  CHECK(wrong_with_a_pusher(lv::deploy<lv::target<lv::cpu<2>>>(single_item_pipeline()), count) == 0);
  CHECK(wrong_with_a_pusher(lv::deploy<lv::target<lv::cpu<1>>>(single_item_pipeline()), count) == 0);
  // The pusher finds no room, and helps.
  CHECK(wrong_with_a_pusher(lv::deploy<lv::target<lv::cpu<4>>, lv::slots<2>>(single_item_pipeline()), count) == 0);
  const auto unordered = lv::deploy<lv::target<lv::cpu<4>>, lv::slots<2>>(unordered_pipeline());
  CHECK(wrong_with_a_pusher<unordered_reference>(unordered, 5 * count) == 0);
}

TEST_CASE("push and pop in turns until another thread cancels") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(single_item_pipeline());
  for (std::uint64_t after = 0; after < 60 * static_cast<std::uint64_t>(soak_scale()); ++after)
    CHECK(wrong_until_cancelled(app, after * 17 % 2'000) == 0);
}

TEST_CASE("one thread pushes and pops all until another comes to help, or to pop what it pushes") {
  const std::uint64_t sessions = 1'000 * static_cast<std::uint64_t>(soak_scale());
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(single_item_pipeline());
  CHECK(wrong_with_a_late_helper(app, sessions) == 0);
  CHECK(wrong_from_hand_to_hand(app, sessions) == 0);
  CHECK(wrong_with_a_late_helper(lv::deploy<lv::target<lv::cpu<1>>>(single_item_pipeline()), sessions / 10) == 0);
}

TEST_CASE("push and pop in turns while another thread looks on and switches measuring") {
  CHECK(wrong_while_watched(lv::deploy<lv::target<lv::cpu<2>>>(single_item_pipeline()), 50'000) == 0);
}

TEST_CASE("a single item that fails in a parallel stage is told of and popped as its exception") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"root">([](const int& x) {
                                                        if (x < 0) throw std::domain_error("negative");
                                                        return x + 1;
                                                      }) |
                                                      lv::stage<"twice">([](const int& x) { return 2L * x; }));
  auto session = app.open();
  int failures = 0;
  session.on_error([&](std::uint64_t, const std::exception_ptr&) noexcept { ++failures; });
  for (int i = 0; i < 1'000; ++i) {
    session.push(i % 10 == 9 ? -1 : i);
    const auto r = session.pop();
    REQUIRE(r);
    if (i % 10 == 9)
      CHECK_THROWS_AS(static_cast<void>(r->value()), std::domain_error);
    else
      CHECK(r->value() == 2L * (i + 1));
  }
  CHECK(failures == 100);
  CHECK(session.counts().failed == 100);
  CHECK(session.counts().delivered == 900);
}

TEST_CASE("single items through more stages than one loop takes fail in any of them, and are told of") {
  const auto add = lv::stage<"add">([](const std::uint64_t& x) { return x + 1; });
  const auto tail = lv::input<std::uint64_t> | add | add | add | add | add | add | add;
  const auto ends_alone = lv::deploy<lv::target<lv::cpu<2>>>(tail | add | add);
  auto nine = ends_alone.open();
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<std::uint64_t> | lv::stage<"count">(counting{}) | tail |
                                                      lv::stage<"again">(counting{}) | tail);
  auto session = app.open();
  std::uint64_t told = 0, failed = 0, wrong = 0, first = 0, second = 0;
  session.on_error([&](std::uint64_t, const std::exception_ptr&) noexcept { ++told; });
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    nine.push(i);
    wrong += nine.pop()->value() != i + 9;
    session.push(i);
    const auto r = session.pop();
    REQUIRE(r);
    ++first;
    const std::uint64_t between = i + first + 7;
    if (i % 11 == 0 || (++second, between % 11 == 0)) {
      ++failed;
      wrong += r->has_value();
    } else {
      wrong += !r->has_value() || **r != between + second + 7;
    }
  }
  CHECK(wrong == 0);
  CHECK(told == failed);
  CHECK(session.counts().failed == failed);
  CHECK(session.counts().delivered == 3'000 - failed);
}

TEST_CASE("single items of one session and those of others that come and go keep to the threads of the target") {
  crowd in;
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(counted_pipeline(in));
  CHECK(wrong_beside_other_sessions(app, 20'000) == 0);
  CHECK(in.most.load() == 1);
}

TEST_CASE("a single item before a change of the rate is popped behind it") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<std::uint64_t> |
      lv::stage<"count">([calls = std::uint64_t{0}](const std::uint64_t& x) mutable { return x + ++calls; }) |
      lv::repeat<2> | lv::stage<"tenfold">([](const std::uint64_t& x) { return 10 * x; }));
  auto session = app.open();
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    session.push(i);
    for (int k = 0; k < 2; ++k) wrong += session.pop()->value() != 10 * (2 * i + 1);
  }
  CHECK(wrong == 0);
}

}  // namespace run_single_items
