// SPDX-License-Identifier: Apache-2.0
// Sessions: who waits for whom, who does the work, and how they end.

#include <doctest/doctest.h>

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>
#include <levada/run/simulated.hpp>

#include "beside.hpp"
#include "items.hpp"
#include "progress.hpp"

namespace run_sessions {

namespace lv = levada;
using namespace levada::test;
using namespace std::chrono_literals;

constexpr auto sum_pipeline() {
  return lv::input<int> | lv::stage<"twice">([](const int& v) { return 2L * v; }) |
         lv::stage<"sum">([sum = 0L](const long& v) mutable { return sum += v; });
}
template <int Threads>
using cpu_only = lv::target<lv::cpu<Threads>>;

constexpr long sum_of(long items) { return items * (items - 1); }

/// Pushes the numbers below `count` on a thread of its own and pops here: the last sum.
template <class Session>
long push_and_pop(Session& session, int count) {
  std::thread pusher([&] {
    for (int i = 0; i < count; ++i) session.push(i);
    session.close();
  });
  long last = 0, popped = 0;
  while (auto r = session.pop()) last = r->value(), ++popped;
  pusher.join();
  CHECK(popped == count);
  return last;
}

TEST_CASE("push and pop by one thread") {
  const auto app = lv::deploy<cpu_only<2>>(sum_pipeline());
  auto session = app.open();
  long expected = 0;
  for (int i = 0; i < 20'000; ++i) {
    session.push(i);
    expected += 2L * i;
    REQUIRE(session.pop()->value() == expected);
  }
  session.close();
  CHECK(!session.pop());
  CHECK(session.is_over());
  CHECK_THROWS_WITH_AS(session.push(1), "levada: push: the session is closed or cancelled", lv::cancelled);
  CHECK(!session.try_push(1));
}

TEST_CASE("a session used only through try_push and try_pop makes progress") {
  const auto on = [](const auto& app) {
    auto session = app.open();
    CHECK(drives_by_trying(session, 2'000));
    // A single item, cold.
    std::this_thread::sleep_for(20ms);
    CHECK(drives_by_trying(session, 1));
  };
  SUBCASE("cpu<1>") { on(lv::deploy<cpu_only<1>>(sum_pipeline())); }
  SUBCASE("cpu<2>") { on(lv::deploy<cpu_only<2>>(sum_pipeline())); }
  SUBCASE("cpu<8>") { on(lv::deploy<cpu_only<8>>(sum_pipeline())); }
  SUBCASE("through a device") {
    on(lv::deploy<lv::target<lv::cpu<1>, lv::simulated<0>>>(
        sum_pipeline() | lv::on<lv::simulated<0>>(lv::stage<"far">([](const long& v) { return v; })) |
        lv::stage<"near">([](const long& v) { return v; })));
  }
}

TEST_CASE("a session used only through try_* makes progress while another session of the app waits in pop") {
  const auto app = lv::deploy<cpu_only<1>>(sum_pipeline());
  auto waiting = app.open(), trying = app.open();
  std::thread other([&] { CHECK(waiting.pop()->value() == 2); });
  std::this_thread::sleep_for(20ms);
  CHECK(drives_by_trying(trying, 200));
  waiting.push(1);
  other.join();
}

TEST_CASE("a session used only through try_* makes progress while others keep the only permit busy") {
  const auto slow = lv::input<int> | lv::stage<"slow">([](const int& v) {
                      std::this_thread::sleep_for(2ms);
                      return v;
                    });
  const auto app = lv::deploy<cpu_only<1>>(slow);
  auto busy = app.open(), trying = app.open();
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      busy.push(1);
      CHECK(busy.pop()->value() == 1);
    }
  });
  for (int i = 0; i < 20; ++i) {
    CHECK(drives_by_trying(trying, 1));
    std::this_thread::sleep_for(1ms);
  }
  stop = true;
  other.join();
  // And the same once the other thread has gone to sleep for good in the middle of it.
  REQUIRE(trying.try_push(5));
  busy.push(1);
  CHECK(eventually([&] { return trying.try_pop().has_value(); }));
}

TEST_CASE("sessions make progress beside one that is fed without end") {
  const auto one = lv::deploy<cpu_only<1>>(spinning());
  SUBCASE("for the only permit") { CHECK(all_are_served_beside_a_fed_one(one)); }
  SUBCASE("which a thread of its own has") { CHECK(all_are_served_beside_a_fed_one<lv::dedicated>(one)); }
  SUBCASE("which a polling thread has") { CHECK(all_are_served_beside_a_fed_one<lv::realtime>(one)); }
  SUBCASE("for two") { CHECK(all_are_served_beside_a_fed_one(lv::deploy<cpu_only<2>>(spinning()))); }
  SUBCASE("and two that are fed, for two") {
    const auto two = lv::deploy<cpu_only<2>>(spinning());
    fed_session also(two.open<lv::dedicated>());
    CHECK(all_are_served_beside_a_fed_one<lv::dedicated>(two));
  }
  SUBCASE("for the workers, which another app has, too") {
    const auto app = lv::deploy<cpu_only<2>>(spinning()), other = lv::deploy<cpu_only<2>>(spinning());
    auto trying = app.open();
    std::thread beside([&] { CHECK(all_are_served_beside_a_fed_one(other)); });
    for (int turn = 0; turn < 4; ++turn) CHECK(drives_by_trying(trying, 10));
    beside.join();
  }
}

TEST_CASE("items that nobody waits for are run beside a session that is fed without end") {
  std::atomic<int> last{0};
  const auto app = lv::deploy<cpu_only<1>>(spinning() | lv::sink<"note">([&](const int& v) { last = v; }));
  auto fed = app.open<lv::dedicated>();
  std::atomic<bool> stop{false};
  std::thread feeder([&] {
    while (!stop) fed.push(0);
    fed.close();
  });
  auto now_and_then = app.open();
  for (int i = 1; i <= 300; ++i) {
    now_and_then.push(i);
    std::this_thread::sleep_for(std::chrono::microseconds(i % 40));  // while a worker is leaving, or has gone
    if (!eventually([&] { return now_and_then.counts().in_flight == 0; })) {
      FAIL_CHECK("item " << i << " was not run");
      break;
    }
  }
  stop = true;
  feeder.join();
}

TEST_CASE("a permit that one session gives back is taken by another that has a thread at work") {
  std::atomic<int> begun{0}, passed{0};
  std::atomic<bool> let_first{false}, let_other{false};
  const auto app =
      lv::deploy<cpu_only<2>, lv::slots<8>>(lv::input<int> | lv::stage<"held">(lv::parallel([&](const int& v) {
                                              if (v > 0) return ++passed;
                                              ++begun;
                                              while (!(v == 0 ? let_first : let_other)) std::this_thread::yield();
                                              return 0;
                                            })));
  auto one = app.open(), other = app.open();
  const auto pops = [](auto& session) {
    while (session.pop()) {
    }
  };
  other.push(-1);
  other.close();
  std::thread other_popper([&] { pops(other); });
  std::thread pusher([&] {
    for (int i = 0; i < 20; ++i) one.push(i);  // more than there are slots: it waits, too
    one.close();
  });
  std::thread popper([&] { pops(one); });
  CHECK(eventually([&] { return begun == 2; }));
  std::this_thread::sleep_for(5ms);  // the others are parked
  let_other = true;
  CHECK(eventually([&] { return passed >= 7; }));  // of the eight that have slots, one of which is held
  let_first = true;
  pusher.join();
  popper.join();
  other_popper.join();
}

TEST_CASE("pop waits for a thread that takes its time before it pushes") {
  const auto app = lv::deploy<cpu_only<1>>(sum_pipeline());
  auto session = app.open();
  std::thread late([&] {
    std::this_thread::sleep_for(5s);
    session.push(1);
  });
  CHECK(session.pop()->value() == 2);
  late.join();
}

TEST_CASE("items given by push are worked on for a thread that only tries to pop") {
  const auto app = lv::deploy<cpu_only<2>>(sum_pipeline());
  auto session = app.open();
  for (int i = 0; i < 100; ++i) {
    session.push(i);
    if (i % 10 == 0) std::this_thread::sleep_for(1ms);
    CHECK(eventually([&] { return session.try_pop().has_value(); }));
  }
}

TEST_CASE("a sink does its work though nobody pops") {
  std::atomic<int> sum{0};
  const auto app =
      lv::deploy<cpu_only<1>>(lv::input<int> | lv::stage<"add">([&sum](const int& v) { sum.fetch_add(v); }));
  auto session = app.open();
  for (int i = 1; i <= 1'000; ++i) session.push(i);
  CHECK(eventually([&] { return sum == 500'500; }));
  session.drain();
  CHECK(session.counts().delivered == 1'000);
  session.close();
  CHECK(!session.pop());
}

TEST_CASE("a slow consumer blocks push and loses nothing") {
  const auto app = lv::deploy<cpu_only<2>, lv::slots<8>>(sum_pipeline());
  auto session = app.open();
  std::atomic<int> pushed{0};
  std::thread pusher([&] {
    for (int i = 0; i < 100; ++i) {
      session.push(i);
      pushed = i + 1;
    }
    session.close();
  });
  CHECK(eventually([&] { return pushed == 8; }));
  std::this_thread::sleep_for(20ms);
  CHECK(pushed == 8);  // and no more
  CHECK(!session.try_push(1));
  long last = 0;
  int popped = 0;
  while (auto r = session.pop()) {
    last = r->value();
    ++popped;
    if (popped % 10 == 0) std::this_thread::sleep_for(3ms);
    CHECK(pushed <= popped + 8 + 1);
  }
  pusher.join();
  CHECK(popped == 100);
  CHECK(last == sum_of(100));
}

TEST_CASE("a consumer that starts to pop late is waited for") {
  const auto app = lv::deploy<cpu_only<2>, lv::slots<4>>(sum_pipeline());
  auto session = app.open();
  std::thread popper([&] {
    std::this_thread::sleep_for(1s);
    for (int i = 0; i < 20; ++i) CHECK(session.pop().has_value());
  });
  for (int i = 0; i < 20; ++i) session.push(i);
  popper.join();
}

TEST_CASE("waiting for oneself is an error, not a hang: push into a session full of results") {
  const auto app = lv::deploy<cpu_only<2>, lv::slots<4>>(sum_pipeline());
  auto session = app.open();
  for (int i = 0; i < 4; ++i) session.push(i);
  CHECK_THROWS_AS(session.push(4), lv::error);
  // It goes on after that.
  CHECK(session.pop()->value() == 0);
  session.push(4);
  CHECK(session.counts().pushed == 5);
}

TEST_CASE("waiting for oneself is an error, not a hang: pop where nothing is in flight") {
  const auto app = lv::deploy<cpu_only<2>>(sum_pipeline());
  auto session = app.open();
  session.push(1);
  CHECK(session.pop()->value() == 2);
  CHECK_THROWS_AS(static_cast<void>(session.pop()), lv::error);
  session.push(1);
  CHECK(session.pop()->value() == 4);
}

TEST_CASE("an all-filtered stream flows on though nobody pops") {
  const auto app =
      lv::deploy<cpu_only<2>>(lv::input<int> | lv::stage<"none">([](const int&) { return std::optional<int>(); }));
  auto session = app.open();
  for (int i = 0; i < 100'000; ++i) session.push(i);
  session.drain();
  CHECK(session.counts().filtered == 100'000);
  CHECK(session.counts().in_flight == 0);
  session.close();
  CHECK(!session.pop());
  CHECK(session.is_over());
}

TEST_CASE("two sessions of an app equal two isolated runs, each with its own state") {
  const auto app = lv::deploy<cpu_only<8>>(sum_pipeline());
  auto a = app.open(), b = app.open();
  long last_a = 0, last_b = 0;
  std::thread other([&] { last_b = push_and_pop(b, 5'000); });
  last_a = push_and_pop(a, 3'000);
  other.join();
  CHECK(last_a == sum_of(3'000));
  CHECK(last_b == sum_of(5'000));
}

TEST_CASE("eight threads on any number of cores push and pop four sessions") {
  const auto app = lv::deploy<cpu_only<8>>(sum_pipeline());
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto session = app.open();
      right += push_and_pop(session, 2'000 + t) == sum_of(2'000 + t);
    });
  for (std::thread& t : threads) t.join();
  CHECK(right == 4);
}

TEST_CASE("sessions inside oneTBB tasks") {
  const auto app = lv::deploy<cpu_only<2>>(sum_pipeline());
  std::atomic<int> right{0};
  const auto one = [&](int k) {
    auto session = app.open();
    long last = 0;
    for (int i = 0; i < 40; ++i) session.push(i);
    session.close();
    while (auto r = session.pop()) last = r->value();
    int streamed = 0;
    for (auto& r : app.stream(std::vector<int>(static_cast<std::size_t>(100 + k), 1))) streamed += r.has_value();
    right += last == sum_of(40) && streamed == 100 + k;
  };
  SUBCASE("parallel_for over sessions") {
    oneapi::tbb::parallel_for(0, 100, one);
    CHECK(right == 100);
  }
  SUBCASE("in an arena of one thread") {
    oneapi::tbb::task_arena(1).execute([&] { oneapi::tbb::parallel_for(0, 20, one); });
    CHECK(right == 20);
  }
}

TEST_CASE("every oneTBB worker blocked in pop, while another thread pushes") {
  const int workers = oneapi::tbb::info::default_concurrency();
  const auto app = lv::deploy<cpu_only<2>>(sum_pipeline());
  using session_type = decltype(app.open());
  std::vector<session_type> sessions;
  for (int i = 0; i < workers; ++i) sessions.push_back(app.open());
  std::atomic<int> blocked{0}, right{0};
  std::thread pusher([&] {
    const auto until = std::chrono::steady_clock::now() + 500ms;
    while (blocked < workers && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    std::this_thread::sleep_for(20ms);
    for (int i = 0; i < 300; ++i)
      for (session_type& s : sessions) s.push(i);
    for (session_type& s : sessions) s.close();
  });
  oneapi::tbb::task_group group;
  for (session_type& s : sessions)
    group.run([&] {
      ++blocked;
      long last = 0;
      while (auto r = s.pop()) last = r->value();
      right += last == sum_of(300);
    });
  group.wait();
  pusher.join();
  CHECK(right == workers);
}

TEST_CASE("a stage may call parallel_for, serial or parallel, under a full pipeline") {
  const auto work = [](int v) {
    std::atomic<long> sum{0};
    oneapi::tbb::parallel_for(0, 64, [&](int i) { sum += i + v; });
    return sum.load();
  };
  const auto pipeline =
      lv::input<int> | lv::stage<"parallel">([work](const int& v) { return work(v); }) |
      lv::stage<"serial">([work, n = 0](const long& v) mutable { return work(static_cast<int>(v % 1000)) + n++; });
  const auto check = [&](const auto& app) {
    std::vector<int> items(400);
    for (int i = 0; i < 400; ++i) items[static_cast<std::size_t>(i)] = i;
    int n = 0;
    for (auto& r : app.stream(items)) {
      const long first = 64L * n + 2016;
      CHECK(r.value() == 64 * (first % 1000) + 2016 + n);
      ++n;
    }
    CHECK(n == 400);
  };
  SUBCASE("cpu<1>") { check(lv::deploy<cpu_only<1>>(pipeline)); }
  SUBCASE("cpu<8>") { check(lv::deploy<cpu_only<8>>(pipeline)); }
  SUBCASE("inside an arena of one") {
    oneapi::tbb::task_arena(1).execute([&] { check(lv::deploy<cpu_only<2>>(pipeline)); });
  }
  SUBCASE("from several parallel tasks") {
    const auto app = lv::deploy<cpu_only<2>>(pipeline);
    oneapi::tbb::parallel_for(0, 4, [&](int) { check(app); });
  }
}

TEST_CASE("a stage may use a session of another app") {
  const auto inner = lv::deploy<cpu_only<2>>(lv::input<int> | lv::stage<"add">([](const int& v) { return v + 1; }));
  auto session = inner.open();
  const auto outer = lv::deploy<cpu_only<2>>(lv::input<int> | lv::stage<"ask">([&](const int& v) {
                                               session.push(v);
                                               return session.pop()->value();
                                             }));
  std::vector<int> items(1'000, 41);
  int n = 0;
  for (auto& r : outer.stream(items)) n += r.value() == 42;
  CHECK(n == 1'000);
}

TEST_CASE("apps and sessions are movable") {
  auto app = lv::deploy<cpu_only<2>>(sum_pipeline());
  auto moved = std::move(app);
  auto session = moved.open();
  for (int i = 0; i < 10; ++i) session.push(i);
  auto other = std::move(session);
  for (int i = 10; i < 20; ++i) other.push(i);
  long last = 0;
  for (int i = 0; i < 20; ++i) last = other.pop()->value();
  CHECK(last == sum_of(20));
  other = moved.open();
  other.push(3);
  CHECK(other.pop()->value() == 6);
}

TEST_CASE("a session outlives its app") {
  auto app = std::make_optional(lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>>(
      sum_pipeline() | lv::on<lv::simulated<0>>(lv::stage<"far">([](const long& v) { return v; }))));
  auto session = app->open();
  session.push(1);
  app.reset();
  CHECK(session.pop()->value() == 2);
  for (int i = 2; i < 1'000; ++i) {
    session.push(1);
    CHECK(session.pop()->value() == 2 * i);
  }
}

TEST_CASE("a stream from a source outlives its app") {
  auto app = std::make_optional(lv::deploy<cpu_only<2>>(lv::source<"count">([at = std::make_shared<int>(0)] {
                                                          return *at < 500 ? std::optional((*at)++) : std::nullopt;
                                                        }) |
                                                        lv::stage<"same">([](const int& v) { return v; })));
  auto results = app->stream();
  auto at = results.begin();
  auto moved = std::move(*app);
  app.reset();
  int n = 0;
  for (; at != results.end(); ++at) CHECK(at->value() == n++);
  CHECK(n == 500);
}

TEST_CASE("thousands of sessions open, work a little and close") {
  const nothing_leaks guard;
  const auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>>(
      lv::input<tracked<0>> | lv::stage<"a">([](tracked<0>& t) { ++t.value; }) |
      lv::on<lv::simulated<0>>(lv::stage<"b">([](tracked<0>& t) { ++t.value; })));
  for (int i = 0; i < 3'000; ++i) {
    auto session = app.open();
    for (int k = 0; k < i % 5; ++k) session.push(tracked<0>(k));
    if (i % 3 == 0 && i % 5 != 0) CHECK(session.pop()->value().value == 2);
  }
  for (int i = 0; i < 300; ++i) {
    const auto lone = lv::deploy<cpu_only<2>>(sum_pipeline());
    auto session = lone.open();
    static_cast<void>(session.try_push(i));
  }
}

TEST_CASE("a session whose own thread cannot be started leaves nothing behind") {
  using gate = lv::detail::session_gate;
  const auto next_gate = [] {
    gate& g = gate::open(nullptr);
    g.close();
    g.remove_holder();
    return &g;
  };
  const auto app = lv::deploy<cpu_only<2>>(sum_pipeline());

  pthread_attr_t usual, too_large;
  REQUIRE(pthread_getattr_default_np(&usual) == 0);
  REQUIRE(pthread_getattr_default_np(&too_large) == 0);
  REQUIRE(pthread_attr_setstacksize(&too_large, std::size_t{1} << 50) == 0);
  REQUIRE(pthread_setattr_default_np(&too_large) == 0);
  // A worker that an earlier session invited and that comes late frees that session's gate in between: then once more.
  bool gate_is_free_again = false;
  for (int i = 0; i < 1'000 && !gate_is_free_again; ++i) {
    gate* const before = next_gate();
    CHECK_THROWS_AS(app.open<lv::dedicated>(), lv::error);
    gate_is_free_again = next_gate() == before;
  }
  CHECK(gate_is_free_again);
  REQUIRE(pthread_setattr_default_np(&usual) == 0);
  pthread_attr_destroy(&usual);
  pthread_attr_destroy(&too_large);

  auto session = app.open<lv::dedicated>();
  CHECK(push_and_pop(session, 1000) == sum_of(1000));
}

TEST_CASE("cancel wakes who waits in push and in pop") {
  const auto app = lv::deploy<cpu_only<2>, lv::slots<4>>(sum_pipeline());
  for (const bool by_token : {false, true}) {
    std::stop_source stop;
    auto full = app.open(stop.get_token());
    auto empty = app.open(stop.get_token());
    std::thread pusher([&] {
      CHECK_THROWS_AS(
          [&] {
            for (int i = 0; i < 100; ++i) full.push(i);
          }(),
          lv::cancelled);
    });
    std::thread popper([&] { CHECK(!empty.pop()); });
    std::this_thread::sleep_for(30ms);
    if (by_token) {
      stop.request_stop();
    } else {
      full.cancel();
      empty.cancel();
    }
    pusher.join();
    popper.join();
    // What had been finished is still there; then it is over.
    int rest = 0;
    while (full.pop()) ++rest;
    CHECK(rest <= 4);
    CHECK(full.is_over());
    CHECK(full.counts().in_flight == 0);
  }
}

TEST_CASE("a session cancelled before it begins takes nothing") {
  const auto app = lv::deploy<cpu_only<2>>(sum_pipeline());
  std::stop_source stop;
  stop.request_stop();
  auto session = app.open(stop.get_token());
  CHECK_THROWS_AS(session.push(1), lv::cancelled);
  CHECK(!session.pop());
  int n = 0;
  for (auto& r : app.stream(std::vector<int>(10, 1), stop.get_token())) n += r.has_value();
  CHECK(n == 0);
}

TEST_CASE("drain finishes what was pushed") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>>(
      sum_pipeline() | lv::on<lv::simulated<0>>(lv::stage<"far">([](const long& v) { return v; })));
  auto session = app.open();
  for (int i = 0; i < 50; ++i) session.push(i);
  session.drain();
  for (int i = 0; i < 50; ++i) CHECK(session.try_pop().has_value());
}

TEST_CASE("a session that runs inline when idle has finished a single item when push returns, on that thread") {
  std::atomic<int> ran{0};
  std::thread::id at{};
  const auto note = [&](const int& x) {
    at = std::this_thread::get_id();
    ++ran;
    return x + 1;
  };
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"note">(lv::serial(note)) | lv::split_here |
                                         lv::stage<"more">([](const int& x) { return x; }));
  auto session = app.open<lv::inline_when_idle>();
  for (int i = 0; i < 100; ++i) {
    session.push(i);
    CHECK(ran == i + 1);
    CHECK(at == std::this_thread::get_id());
    CHECK(session.try_pop()->value() == i + 1);
  }
  // What is not popped is no reason to wait: the items are finished.
  session.push(1);
  session.push(2);
  CHECK(ran == 102);
  CHECK(session.pop()->value() == 2);
  CHECK(session.pop()->value() == 3);
}

/// It counts how often a worker was invited.
struct counting_executor : lv::thread_executor {
  using thread_executor::thread_executor;
  static inline std::atomic<int> invitations{0};
  void invite(lv::detail::worker_call call) {
    ++invitations;
    thread_executor::invite(call);
  }
};

TEST_CASE("a session that runs inline when idle invites no worker behind a split, however long an item takes") {
  std::thread::id first{}, second{};
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::run_by<counting_executor>>(
      lv::input<int> | lv::stage<"first">(lv::serial([&](const int& x) {
        first = std::this_thread::get_id();
        return x;
      })) |
      lv::split_here | lv::stage<"second">([&](const int& x) {
        second = std::this_thread::get_id();
        const auto begin = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(100)) {
        }
        return x;
      }));
  auto session = app.open<lv::inline_when_idle>();
  for (int i = 0; i < 300; ++i) {
    session.push(i);
    CHECK(first == std::this_thread::get_id());
    CHECK(second == std::this_thread::get_id());
    const auto result = session.try_pop();
    REQUIRE(result.has_value());
    CHECK(result->value() == i);
  }
  CHECK(counting_executor::invitations == 0);
}

TEST_CASE("a session that runs inline when idle gives work away where it cannot") {
  // The only permit is taken while the item is pushed: nobody comes back for a sink's work.
  std::atomic<bool> inside{false}, go_on{false};
  std::atomic<int> ran{0};
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::sink<"wait">([&](const int& x) {
                                                        if (x == 0) {
                                                          inside = true;
                                                          while (!go_on) std::this_thread::yield();
                                                        }
                                                        ++ran;
                                                      }));
  auto busy = app.open();
  busy.push(0);
  while (!inside) std::this_thread::yield();
  auto session = app.open<lv::inline_when_idle>();
  session.push(1);
  CHECK(ran == 0);
  go_on = true;
  while (ran != 2) std::this_thread::yield();
}

}  // namespace run_sessions
