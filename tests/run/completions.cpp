// SPDX-License-Identifier: Apache-2.0
// Results that come to the caller: callback, future, coroutine, event descriptor; and pushes from many threads.

#include <sys/resource.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

#include <sanitizer.hpp>

#include "completing.hpp"
#include "wide_items.hpp"

namespace run_completions {

namespace lv = levada;
using namespace lv::literals;
using namespace lv::test;

using box = lv::target<lv::cpu<2>>;
using default_tbb = lv::default_executor<void>::type;

/// A sink that holds items back until it is opened.
struct gate {
  std::atomic<bool> open{false};
  std::atomic<int> entered{0};
  void pass() {
    entered.fetch_add(1);
    while (!open) std::this_thread::yield();
  }
};

TEST_CASE("each item is completed once, as it is in the loop: callback, future, coroutine, event descriptor") {
  // An item that is awaited before the next is given takes time slices on a busy machine.
  SUBCASE("oneTBB") { completions<default_tbb>(400); }
  SUBCASE("plain threads") { completions<lv::thread_executor>(400); }
}

TEST_CASE("a callback may move the result out, and hears of the failures of a sink") {
  std::vector<std::unique_ptr<int>> kept;
  const auto owners =
      lv::deploy<box>(lv::input<int> | lv::stage<"own">([](const int& v) { return std::make_unique<int>(v); }));
  lv::callback_session session(owners.open(),
                               [&](lv::result<std::unique_ptr<int>&> r) { kept.push_back(std::move(*r)); });
  for (int i = 0; i < 100; ++i) session.push(i);
  session.drain();
  REQUIRE(kept.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(*kept[static_cast<std::size_t>(i)] == i);

  const auto sink = lv::deploy<box>(lv::input<int> | lv::stage<"check">([](const int& v) {
                                      if (fails(v)) throw unlucky(v);
                                    }));
  int failed = 0;
  lv::callback_session failures(sink.open(), [&](const lv::result<void>& r) { failed += !r; });
  for (int i = 0; i < 1'000; ++i) failures.push(i);
  failures.drain();
  CHECK(failed == 30);
  CHECK(failures.counts().delivered == 970);
}

TEST_CASE("what would make a callback wait for itself throws in it") {
  const auto app = lv::deploy<box, lv::slots<4>>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  std::function<void()> first;
  lv::callback_session session(app.open(), [&, handed = 0](lv::result<int&>) mutable {
    if (handed++ == 0) first();
  });
  first = [&] {
    CHECK_THROWS_WITH_AS(session.drain(), "levada: drain: the thread that hands out results would wait for itself",
                         lv::error);
    int pushed = 0;
    CHECK_THROWS_AS(
        while (pushed < 100) {
          session.push(0);
          ++pushed;
        },
        lv::error);
    CHECK(pushed == 3);
  };
  session.push(0);
  session.drain();
  CHECK(session.counts().delivered == 4);
}

TEST_CASE("a session with workers of its own completes off the calling threads, too") {
  const auto app = lv::deploy<box>(failing_sum<told_sum>());
  const expectation expected = expected_of<told_sum>(500);
  const auto on = [&](auto opened) {
    lv::async_session session(std::move(opened));
    std::vector<std::future<long>> futures;
    for (int i = 0; i < 500; ++i) futures.push_back(lv::as_future(session.push_async(i)));
    int wrong = 0;
    for (int i = 0; i < 500; ++i)
      wrong +=
          outcome_of(i, [&] { return futures[static_cast<std::size_t>(i)].get(); }) != expected_outcome(expected, i);
    CHECK(wrong == 0);
  };
  SUBCASE("dedicated") { on(app.open<lv::dedicated>()); }
  SUBCASE("realtime") { on(app.open<lv::realtime>()); }
}

TEST_CASE("one dispatcher serves sessions with workers of their own, too") {
  const auto app = lv::deploy<box>(failing_sum<told_sum>());
  const expectation expected = expected_of<told_sum>(300);
  lv::dispatcher results;
  lv::async_session dedicated(app.open<lv::dedicated>(), results);
  lv::async_session realtime(app.open<lv::realtime>(), results);
  std::vector<std::future<long>> of_dedicated, of_realtime;
  for (int i = 0; i < 300; ++i) {
    of_dedicated.push_back(lv::as_future(dedicated.push_async(i)));
    of_realtime.push_back(lv::as_future(realtime.push_async(i)));
  }
  int wrong = 0;
  for (int i = 0; i < 300; ++i)
    for (auto* futures : {&of_dedicated, &of_realtime})
      wrong +=
          outcome_of(i, [&] { return (*futures)[static_cast<std::size_t>(i)].get(); }) != expected_outcome(expected, i);
  CHECK(wrong == 0);
}

TEST_CASE("what one session of a dispatcher hands out may end and begin another, and cannot drain its own") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  lv::dispatcher results;
  std::atomic<int> of_ended{0}, of_begun{0}, refused{0};
  const auto count_in = [](std::atomic<int>& to) { return [&to](lv::result<int&>) { ++to; }; };
  using counting = decltype(lv::callback_session(app.open(), count_in(of_ended), results));
  std::optional<counting> ended, begun;
  ended.emplace(app.open(), count_in(of_ended), results);
  for (int i = 0; i < 10; ++i) ended->push(i);
  ended->drain();
  lv::callback_session first(
      app.open(),
      [&](lv::result<int&>) {
        ended.reset();
        begun.emplace(app.open(), count_in(of_begun), results);
        for (int i = 0; i < 10; ++i) begun->push(i);
        try {
          begun->drain();
        } catch (const lv::error&) {
          ++refused;
        }
      },
      results);
  first.push(1);
  first.drain();
  begun->drain();
  CHECK(of_ended == 10);
  CHECK(of_begun == 10);
  CHECK(refused == 1);
}

TEST_CASE("an item is started by who awaits it, not by who pushes it, and enters in the order of starting") {
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::stage<"order">(lv::serial([at = 0](const int& v) mutable { return 10 * at++ + v; })));
  lv::async_session session(app.open());
  auto first = session.push_async(1), second = session.push_async(2);
  { [[maybe_unused]] const auto never = session.push_async(3); }
  CHECK(session.counts().pushed == 0);
  auto of_second = lv::as_future(std::move(second));
  auto of_first = lv::as_future(std::move(first));
  CHECK(of_second.get() == 2);
  CHECK(of_first.get() == 11);
  CHECK(session.counts().pushed == 2);
}

TEST_CASE("a future's thread waits while the session is full, and the thread that hands out results does not") {
  gate g;
  const auto app = lv::deploy<box, lv::slots<2>>(lv::input<int> | lv::stage<"gated">(lv::serial([&](const int& v) {
                                                   g.pass();
                                                   return v;
                                                 })));
  lv::async_session session(app.open<lv::dedicated>());
  std::atomic<int> started{0};
  std::vector<std::future<int>> futures(20);
  std::thread starts([&] {
    for (int i = 0; i < 20; ++i, ++started) futures[static_cast<std::size_t>(i)] = lv::as_future(session.push_async(i));
  });
  while (started != 2) std::this_thread::yield();  // the third waits
  CHECK(session.counts().pushed == 2);
  g.open = true;
  starts.join();
  for (int i = 0; i < 20; ++i) CHECK(futures[static_cast<std::size_t>(i)].get() == i);

  std::vector<std::future<int>> more;
  const auto start_more = [&]() -> detached {
    static_cast<void>(co_await session.push_async(0));
    for (int i = 0; i < 20; ++i) more.push_back(lv::as_future(session.push_async(i)));
    started = 100;
  };
  start_more();
  while (started != 100) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) CHECK(more[static_cast<std::size_t>(i)].get() == i);
}

TEST_CASE("futures of a sink") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"check">([](const int& v) {
                                     if (v == 3) throw unlucky(v);
                                   }));
  lv::async_session session(app.open());
  auto fine = lv::as_future(session.push_async(1)), fails = lv::as_future(session.push_async(3));
  fine.get();
  CHECK_THROWS_AS(fails.get(), unlucky);
}

TEST_CASE("a late item's future says that it was dropped") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  lv::async_session session(app.open<lv::deadline<60_s>>());
  auto late = lv::as_future(session.push_async(1, std::chrono::steady_clock::now() - std::chrono::hours(1)));
  auto in_time = lv::as_future(session.push_async(2));
  CHECK(outcome_of(1, [&] { return late.get(); }) == -1 - static_cast<long>(lv::missing::dropped));
  CHECK(in_time.get() == 2);
}

TEST_CASE("a coroutine's item is as old as it says") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  std::atomic<int> resumed{0}, without{0};
  lv::async_session session(app.open<lv::deadline<60_s>>());
  const auto each = [&](std::chrono::steady_clock::time_point captured) -> detached {
    const auto r = co_await session.push_async(1, captured);
    without += !r;
    ++resumed;
  };
  each(std::chrono::steady_clock::now() - std::chrono::hours(1));
  each({});
  while (resumed != 2) std::this_thread::yield();
  CHECK(without == 1);
  CHECK(session.counts().dropped == 1);
}

TEST_CASE("futures come from many threads") {
  const auto app =
      lv::deploy<box, lv::slots<4>>(lv::input<int> | lv::stage<"twice">([](const int& v) { return 2 * v; }));
  lv::async_session session(app.open());
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i)
        right += lv::as_future(session.push_async(1'000 * t + i)).get() == 2 * (1'000 * t + i);
    });
  for (std::thread& t : threads) t.join();
  CHECK(right == 1'200);
}

TEST_CASE("a coroutine waits for room without holding up a thread, and resumes on the completion thread") {
  gate g;
  const auto app = lv::deploy<lv::target<lv::cpu<1>>, lv::slots<2>>(lv::input<int> |
                                                                    lv::stage<"gated">(lv::serial([&](const int& v) {
                                                                      g.pass();
                                                                      return v;
                                                                    })));
  std::atomic<int> resumed{0}, elsewhere{0};
  lv::async_session session(app.open<lv::dedicated>());
  const std::thread::id here = std::this_thread::get_id();
  const auto each = [&](int v) -> detached {
    auto r = co_await session.push_async(v);
    static_assert(std::is_same_v<decltype(r), lv::result<int>>);
    elsewhere += std::this_thread::get_id() != here && r && *r == v;
    ++resumed;
  };
  for (int i = 0; i < 50; ++i) each(i);  // returns though only two fit in and none is finished
  CHECK(resumed == 0);
  g.open = true;
  while (resumed != 50) std::this_thread::yield();
  CHECK(elsewhere == 50);
}

TEST_CASE("a coroutine whose item throws on its way into the pipeline hears of it, and the others go on") {
  const nothing_leaks guard;
  gate g;
  const auto app =
      lv::deploy<box, lv::slots<4>>(lv::input<fragile> | lv::stage<"value">(lv::serial([&](const fragile& f) {
                                      g.pass();
                                      return f.value();
                                    })));
  constexpr int count = 100;
  std::atomic<int> ended{0}, wrong{0};
  {
    lv::async_session session(app.open<lv::dedicated>());
    const auto each = [&](int v, bool breaks) -> detached {
      auto awaited = session.push_async(fragile(v));
      fragile::breaks = breaks;
      const auto r = co_await std::move(awaited);
      const bool failed = outcome_of(v, [&] { return r.value(); }) == -1 - static_cast<long>(lv::missing::failed);
      wrong += failed ? !fails(v) : !r || *r != v || fails(v);
      ++ended;
    };
    each(7, true);  // there is room
    CHECK(ended == 1);
    fragile::breaks = false;
    for (int i = 0; i < count; ++i) each(i, i == count - 1);  // some wait for room
    g.open = true;
    while (ended != count + 1) std::this_thread::yield();
    fragile::breaks = false;
    CHECK(session.counts().pushed == session.counts().delivered);
    CHECK(session.counts().in_flight == 0);
  }
  CHECK(wrong <= 0);
}

TEST_CASE("tensors are awaited in coroutines whose frames are not aligned for them") {
  const auto app = lv::deploy<box, lv::slots<4>>(
      lv::input<wide_tensor> | lv::stage<"next">([](const wide_tensor& v) -> std::optional<wide_tensor> {
        const int i = static_cast<int>(v[0]);
        if (fails(i)) throw unlucky(i);
        if (is_filtered(i)) return std::nullopt;
        wide_tensor next = v;
        for (float& f : next) ++f;
        return next;
      }));
  constexpr int count = 300;
  std::vector<wide_tensor> given(count);
  for (int i = 0; i < count; ++i) given[static_cast<std::size_t>(i)].fill(static_cast<float>(i));
  std::atomic<int> ended{0}, values{0}, wrong{0};
  lv::async_session session(app.open());
  const auto each = [&](const wide_tensor& item, int i) -> detached {
    const auto r = co_await session.push_async(item);
    static_assert(std::is_same_v<decltype(r), const lv::result<lv::indirect<wide_tensor>>>);
    const long expected =
        fails(i) || is_filtered(i) ? -1 - static_cast<long>(fails(i) ? lv::missing::failed : lv::missing::filtered) : i;
    wrong += outcome_of(i, [&] { return static_cast<long>(r.value()[63]) - 1; }) != expected;
    if (r) {
      ++values;
      wrong += !lies_aligned(*r) || r->data() != r.value().data() || (*r)(0) != static_cast<float>(i + 1) || r.error();
    }
    const auto made = co_await [&] {
      wide_tensor next = item;
      next.fill(1);
      return session.push_async(std::move(next));
    }();
    wrong += !lies_aligned(*made) || (*made)[63] != 2;
    ++ended;
  };
  for (int i = 0; i < count; ++i) each(given[static_cast<std::size_t>(i)], i);
  while (ended != count) std::this_thread::yield();
  CHECK(values == count - 3 * 3 - count / 10);
  CHECK(wrong == 0);
}

TEST_CASE("a coroutine's move-only item of any alignment is destroyed once, and lies aligned, whatever becomes of it") {
  const nothing_leaks guard;
  constexpr int count = 100;
  std::atomic<int> ended{0};
  std::vector<long> outcomes(count);
  std::vector<wide> given;
  given.reserve(count);
  for (int i = 0; i < count; ++i) given.emplace_back(i);
  const auto each = [&](auto& session, int i) -> detached {
    auto r = co_await session.push_async(std::move(given[static_cast<std::size_t>(i)]));
    outcomes[static_cast<std::size_t>(i)] = outcome_of(i, [&] { return r.value().value(); });
    if (r) {
      const auto moved = std::move(r);
      if (moved->value() != i) outcomes[static_cast<std::size_t>(i)] = -100;
    }
    ended.fetch_add(1);
  };
  gate g;
  const auto app = lv::deploy<box, lv::slots<4>>(
      lv::input<wide> | lv::stage<"keep">(lv::serial([&](wide&& w) -> std::optional<wide> {
        g.pass();
        if (fails(w.value())) throw unlucky(w.value());
        return is_filtered(w.value()) ? std::nullopt : std::optional<wide>(std::move(w));
      })));
  const auto missing_as = [](lv::missing why) { return -1 - static_cast<long>(why); };
  int wrong = 0;

  SUBCASE("a value, failed, or filtered") {
    lv::async_session session(app.open<lv::dedicated>());
    for (int i = 0; i < count; ++i) each(session, i);  // most wait for room
    g.open = true;
    while (ended != count) std::this_thread::yield();
    for (int i = 0; i < count; ++i)
      wrong += outcomes[static_cast<std::size_t>(i)] != (fails(i)         ? missing_as(lv::missing::failed)
                                                         : is_filtered(i) ? missing_as(lv::missing::filtered)
                                                                          : i);
  }
  SUBCASE("given up, or refused") {
    {
      lv::async_session session(app.open<lv::dedicated>());
      for (int i = 0; i < count - 1; ++i) each(session, i);
      session.cancel();
      each(session, count - 1);
      g.open = true;
    }
    for (int i = 1; i < count; ++i)
      wrong += outcomes[static_cast<std::size_t>(i)] != missing_as(lv::missing::cancelled) && i > 4;
    wrong += outcomes.back() != missing_as(lv::missing::cancelled);
  }
  SUBCASE("dropped") {
    lv::async_session session(app.open<lv::dedicated, lv::overflow<lv::drop_oldest>>());
    for (int i = 0; i < count; ++i) each(session, i);
    g.open = true;
    while (ended != count) std::this_thread::yield();
    int dropped = 0;
    for (const long o : outcomes) dropped += o == missing_as(lv::missing::dropped);
    CHECK(dropped >= count - 8);
    CHECK(outcomes.back() == count - 1);
  }
  CHECK(wrong == 0);
  CHECK(ended == count);
}

TEST_CASE("a result of a value that lies apart is used as any result") {
  const nothing_leaks guard;
  using of_wide = lv::result<lv::indirect<wide>>;
  static_assert(alignof(of_wide) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  static_assert(!std::is_copy_constructible_v<of_wide> && std::is_nothrow_move_constructible_v<of_wide>);
  static_assert(std::is_same_v<decltype(*std::declval<of_wide&>()), wide&>);
  static_assert(std::is_same_v<decltype(*std::declval<of_wide>()), wide&&>);
  of_wide one(lv::indirect<wide>(wide(1)));
  const wide* const there = &*one;
  const of_wide moved = std::move(one);
  CHECK(&*moved == there);
  CHECK(moved->value() == 1);
  const of_wide without(std::make_exception_ptr(unlucky(2)));
  CHECK(!without);
  CHECK_THROWS_AS(static_cast<void>(without.value()), unlucky);

  lv::result<lv::indirect<wide_tensor>> first(lv::indirect<wide_tensor>(wide_tensor{}));
  auto second = first;
  second->fill(1);
  CHECK((*first)[0] == 0);
  first = second;
  CHECK(*first == *second);
  CHECK(&*first != &*second);
}

TEST_CASE("a push that waits for room holds up later pushes, and nobody who pops") {
  const auto app =
      lv::deploy<box, lv::slots<2>>(lv::input<int> | lv::stage<"same">(lv::serial([](const int& v) { return v; })));
  auto session = app.open();
  lv::multi_producer producers(session);
  producers.push(0);
  producers.push(1);
  CHECK(!producers.try_push(7));
  std::atomic<int> pushed{0};
  std::vector<std::thread> waiting;
  for (int t = 0; t < 8; ++t)
    waiting.emplace_back([&, t] {
      producers.push(10 + t);
      ++pushed;
    });
  CHECK(**session.pop() == 0);
  CHECK(**session.pop() == 1);
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += **session.pop();
  for (std::thread& t : waiting) t.join();
  CHECK(sum == 8 * 10 + 28);
  CHECK(pushed == 8);
}

TEST_CASE("cancel lets go of all threads that push") {
  const auto app =
      lv::deploy<box, lv::slots<2>>(lv::input<int> | lv::stage<"same">(lv::serial([](const int& v) { return v; })));
  auto session = app.open();
  lv::multi_producer producers(session);
  std::thread popper([&] {
    for (int i = 0; i < 100; ++i) static_cast<void>(session.pop());
    session.cancel();
    while (session.pop()) {
    }
  });
  std::vector<std::thread> pushing;
  std::atomic<int> refused{0};
  for (int t = 0; t < 8; ++t)
    pushing.emplace_back([&] {
      try {
        for (;;) producers.push(1);
      } catch (const lv::cancelled&) {
        ++refused;
      }
    });
  popper.join();
  for (std::thread& t : pushing) t.join();
  CHECK(refused == 8);
}

// The undefined sanitizer asks by a pipe whether an object is there, and finds none where it gets no pipe.
TEST_CASE("where no file can be opened any more a session has no descriptor, and says so" *
          doctest::skip(lv::test::under_sanitizer)) {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  std::string text;
  try {
    const lv::event_session session(app.open());
  } catch (const lv::error& e) {
    text = e.what();
  }
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(text == "levada: the system gives no event descriptor");
}

TEST_CASE("the descriptor of a session that is over stays readable, and a cancelled one wakes the loop") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  lv::event_session session(app.open());
  pollfd waiting{session.descriptor(), POLLIN, 0};
  CHECK(::poll(&waiting, 1, 0) == 0);
  CHECK(session.try_push(5));
  REQUIRE(::poll(&waiting, 1, -1) == 1);
  CHECK(**session.try_pop() == 5);
  CHECK(!session.try_pop());
  CHECK(::poll(&waiting, 1, 0) == 0);
  session.cancel();
  REQUIRE(::poll(&waiting, 1, -1) == 1);
  CHECK(!session.try_pop());
  CHECK(session.is_over());
  CHECK(::poll(&waiting, 1, 0) == 1);
}

TEST_CASE("the descriptor is not left readable where nothing is left, though nobody asked it") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  lv::event_session session(app.open());
  pollfd waiting{session.descriptor(), POLLIN, 0};
  int found = 0;  // where nothing is left
  bool stuck = false;
  const auto enough = std::chrono::steady_clock::now() + std::chrono::seconds(5);  // a busy machine gets through fewer
  for (int i = 0; i < 10'000 && !stuck && std::chrono::steady_clock::now() < enough; ++i) {
    session.push(i);
    while (!session.try_pop()) {
    }
    found += session.try_pop().has_value();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!stuck && ::poll(&waiting, 1, 0) == 1) {
      found += session.try_pop().has_value();
      stuck = std::chrono::steady_clock::now() > end;
    }
  }
  CHECK(found == 0);
  CHECK(!stuck);
}

TEST_CASE("behind drain the results of a session with a descriptor are there at once") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  lv::event_session session(app.open());
  const pollfd readable{session.descriptor(), POLLIN, 0};
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 5; ++i) session.push(i);
    if (round % 2 == 0)
      session.drain();
    else
      session.reset();
    pollfd waiting = readable;
    CHECK(::poll(&waiting, 1, 0) == 1);
    int found = 0;
    while (const auto r = session.try_pop()) CHECK(**r == found++);
    CHECK(found == 5);
  }
}

TEST_CASE("many threads push into sessions with callbacks and events") {
  const auto app =
      lv::deploy<box, lv::slots<4>>(lv::input<int> | lv::stage<"same">(lv::serial([](const int& v) { return v; })));
  constexpr int threads = 4, each = 500;
  const auto push_all = [](auto& session) {
    lv::multi_producer producers(session);
    std::vector<std::thread> pushing;
    for (int t = 0; t < threads; ++t)
      pushing.emplace_back([&] {
        for (int i = 0; i < each; ++i)
          if (i % 3 != 0 || !producers.try_push(i)) producers.push(i);
      });
    for (std::thread& t : pushing) t.join();
    session.close();
  };
  long sum = 0;
  {
    lv::callback_session session(app.open(), [&](lv::result<int&> r) { sum += *r; });
    push_all(session);
    session.drain();
  }
  lv::event_session session(app.open());
  std::thread pushing([&] { push_all(session); });
  while (!session.is_over()) {
    pollfd waiting{session.descriptor(), POLLIN, 0};
    if (::poll(&waiting, 1, -1) != 1) break;
    while (auto r = session.try_pop()) sum += **r;
  }
  pushing.join();
  CHECK(sum == 2L * threads * each * (each - 1) / 2);
}

TEST_CASE("sessions whose results come to the caller say what a session says") {
  const auto app = lv::deploy<box, lv::slots<8>>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  const auto says = [](auto& session, auto push) {
    CHECK(session.credits() == 8);
    session.measure();
    session.trace();
    push();
    while (session.counts().in_flight != 0) std::this_thread::yield();
    CHECK(session.statistics().items.delivered == 1);
    CHECK(session.statistics().slots == 8);
    CHECK(session.traced().stages.size() == 1);
    if (lv::has_statistics) {
      CHECK(session.statistics().stages.at(0).items == 1);
      CHECK(!session.traced().events.empty());
    }
    session.close();
    CHECK(session.credits() == 0);
  };
  lv::callback_session called(app.open(), [](lv::result<int&>) {});
  says(called, [&] { called.push(1); });
  lv::async_session future(app.open());
  says(future, [&] { lv::as_future(future.push_async(1)).wait(); });
  lv::async_session awaited(app.open());
  std::atomic<int> resumed{0}, without{0};
  says(awaited, [&] { count_one(awaited, 1, resumed, without); });
  lv::event_session event(app.open());
  says(event, [&] {
    event.push(1);
    while (!event.try_pop()) std::this_thread::yield();
  });
}

}  // namespace run_completions
