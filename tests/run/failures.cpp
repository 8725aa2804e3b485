// SPDX-License-Identifier: Apache-2.0
// Items that fail: their neighbours, the stages behind them, retries, and who hears of it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>
#include <levada/run/simulated.hpp>

#include "failing.hpp"

namespace run_failures {

namespace lv = levada;
using namespace lv::literals;
using namespace lv::test;

constexpr int items = 5'000;

template <class Sum, class App>
void streams_and_pops(const App& app) {
  const nothing_leaks guard;
  const expectation expected = expected_of<Sum>(items);
  {
    in_order check(expected);
    auto results = app.stream(std::views::iota(0, items));
    for (auto& r : results) check(r);
    check.at_end();
    CHECK(results.counts().failed == static_cast<std::uint64_t>(expected.failed));
    CHECK(results.counts().filtered == static_cast<std::uint64_t>(expected.filtered));
  }
  auto session = app.open();
  std::thread pusher([&] {
    for (int i = 0; i < items; ++i) session.push(i);
    session.close();
  });
  in_order check(expected);
  while (auto r = session.pop()) check(*r);
  pusher.join();
  check.at_end();
}

template <class Sum>
void on_each_machine() {
  SUBCASE("cpu<1>") { streams_and_pops<Sum>(lv::deploy<lv::target<lv::cpu<1>>>(failing_sum<Sum>())); }
  SUBCASE("cpu<4>") { streams_and_pops<Sum>(lv::deploy<lv::target<lv::cpu<4>>>(failing_sum<Sum>())); }
  SUBCASE("three slots") {
    streams_and_pops<Sum>(lv::deploy<lv::target<lv::cpu<2>>, lv::slots<3>>(failing_sum<Sum>()));
  }
  SUBCASE("plain threads") {
    streams_and_pops<Sum>(lv::deploy<lv::target<lv::cpu<2>>, lv::run_by<lv::thread_executor>>(failing_sum<Sum>()));
  }
  SUBCASE("the state in a segment of its own") {
    auto split = lv::input<int> | lv::stage<"make">([](const int& v) {
                   if (fails(v)) throw unlucky(v);
                   return tracked<0>(v);
                 }) |
                 lv::stage<"keep">([](tracked<0>&& t) {
                   return is_filtered(t.checked()) ? std::nullopt : std::optional<tracked<0>>(std::move(t));
                 }) |
                 lv::split_here | lv::stage<"sum">(Sum{});
    streams_and_pops<Sum>(lv::deploy<lv::target<lv::cpu<2>>>(split));
  }
}

/// The n-th call throws where n is among these.
struct throws_at {
  std::set<int> calls;
  int call = 0;
  void check() {
    if (calls.contains(++call)) throw std::runtime_error("call " + std::to_string(call));
  }
};

TEST_CASE("a stage that throws for 3 % of items before one with state: each item once, neighbours unharmed") {
  on_each_machine<skipping_sum>();
}

TEST_CASE("a stage is told of each item that ends before it, in the item's place") { on_each_machine<told_sum>(); }

TEST_CASE("an app that calls itself says where it would wait for itself") {
  std::function<int(int)> again;
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(
      lv::input<int> | lv::stage<"again">([&again](const int& x) { return x == 0 ? 0 : again(x - 1) + 1; }));
  again = [&app](int x) { return app(x); };
  CHECK(app(0) == 0);
  CHECK_THROWS_WITH_AS(app(1), "levada: an app is called in a stage of its own, and runs as many calls as it may",
                       lv::error);
  CHECK(app(0) == 0);
}

TEST_CASE("an inline call tells the stages behind the one where the item ends") {
  const nothing_leaks guard;
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(failing_sum<told_sum>());
  CHECK(app(1) == 1);
  CHECK_THROWS_AS(static_cast<void>(app(7)), unlucky);
  CHECK(app(2) == 1'000'003);
  CHECK(!app(4));
  CHECK(app(3) == 1'001'000'006);
}

struct log_of_ends {
  std::vector<int>* log;
  int operator()(const int& v) { return log->push_back(v), v; }
  void missed(lv::missing why) noexcept { log->push_back(-1 - static_cast<int>(why)); }
};

TEST_CASE("a stage is told of items past their deadline and of cancelled ones") {
  std::vector<int> log;
  std::atomic<bool> inside{false}, go_on{false};
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"wait">(lv::serial([&](const int& v) {
                                                        if (v == 100) {
                                                          inside = true;
                                                          while (!go_on) std::this_thread::yield();
                                                        }
                                                        return v;
                                                      })) |
                                                      lv::stage<"log">(log_of_ends{&log}));
  auto session = app.open<lv::deadline<3600_s>, lv::dedicated>();
  const auto now = std::chrono::steady_clock::now();
  session.push(0, now);
  session.push(1, now - std::chrono::hours(2));
  session.push(2, now);
  session.drain();
  session.push(100, now);
  while (!inside) std::this_thread::yield();
  session.push(101, now);
  session.cancel();
  go_on = true;
  session.drain();
  const int dropped = -1 - static_cast<int>(lv::missing::dropped), gone = -1 - static_cast<int>(lv::missing::cancelled);
  CHECK(log == std::vector<int>{0, dropped, 2, gone, gone});
}

TEST_CASE("retry: f is called again up to n times, its state stays, and the last exception is the item's") {
  const nothing_leaks guard;
  // Calls 2 and 3 throw: the second item takes three. Calls 6 to 8 throw: the fourth item fails.
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::stage<"often">(lv::retry<2>([t = throws_at{{2, 3, 6, 7, 8}}](const int& v) mutable {
        t.check();
        return tracked<0>(v * 100 + t.call);
      })) |
      lv::stage<"value">([](const tracked<0>& t) { return t.checked(); }));
  std::vector<int> found;
  for (auto& r : app.stream(std::views::iota(1, 7))) {
    found.push_back(r ? *r : -1);
    if (!r) CHECK_THROWS_WITH(static_cast<void>(r.value()), "call 8");
  }
  CHECK(found == std::vector<int>{101, 204, 305, -1, 509, 610});
}

TEST_CASE("retry of a retried callable: each of its calls is tried as often as it says") {
  const nothing_leaks guard;
  const auto often = [](auto retried) {
    const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"f">(std::move(retried)));
    return app(0);
  };
  const auto f = [t = throws_at{{1, 2, 3, 4, 5}}](const int&) mutable {
    t.check();
    return t.call;
  };
  CHECK(often(lv::retry<1>(lv::retry<2>(f))) == 6);
  CHECK(often(lv::retry<2>(lv::serial(lv::retry<1>(f)))) == 6);
  CHECK_THROWS_WITH(often(lv::retry<1>(lv::retry<1>(f))), "call 4");
}

TEST_CASE("retry of a filter, a destination stage, a sink and a function") {
  const nothing_leaks guard;
  SUBCASE("filter") {
    const auto app = lv::deploy<lv::target<lv::cpu<1>>>(
        lv::input<int> | lv::stage<"f">(lv::retry<1>([t = throws_at{{1, 3}}](const int& v) mutable {
          t.check();
          return v % 2 != 0 ? std::optional<int>(v) : std::nullopt;
        })));
    CHECK(app(1) == 1);
    CHECK(app(2) == std::nullopt);
    CHECK(app(3) == 3);
  }
  SUBCASE("a destination is fresh for each call") {
    struct box {
      tracked<0> first;
      int writes = 0;
    };
    const auto app = lv::deploy<lv::target<lv::cpu<1>>>(
        lv::input<int> |
        lv::stage<"f", box>(lv::serial(lv::retry<3>([t = throws_at{{1, 2}}](const int& v, box& out) mutable {
          out.first = tracked<0>(v);
          ++out.writes;
          t.check();
        }))));
    const box made = app(5);
    CHECK(made.first.checked() == 5);
    CHECK(made.writes == 1);
  }
  SUBCASE("sink") {
    int calls = 0;
    const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"f">(lv::retry<1>([&](const int&) {
                                                          if (++calls == 1) throw std::runtime_error("once");
                                                        })));
    app(1);
    CHECK(calls == 2);
  }
  SUBCASE("a function stays parallel, retry of parallel(f) too") {
    const auto p = lv::stage<"f">(lv::retry<1>(+[](const int& v) { return v; }));
    CHECK(decltype(p)::how == lv::concurrency::parallel);
    const auto q = lv::stage<"f">(lv::retry<1>(lv::parallel([&](const int& v) { return v; })));
    CHECK(decltype(q)::how == lv::concurrency::parallel);
    const auto r = lv::stage<"f">(lv::retry<1>([k = 1](const int& v) { return v + k; }));
    CHECK(decltype(r)::how == lv::concurrency::serial);
    const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | p | q);
    CHECK(app(3) == 3);
  }
}

TEST_CASE("a retried stage is told of the items that end before it") {
  struct sum {
    int of = 0;
    int operator()(const int& v) { return of += v; }
    void missed(lv::missing) noexcept { of += 100; }
  };
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"odd">([](const int& v) {
                                                        return v % 2 != 0 ? std::optional<int>(v) : std::nullopt;
                                                      }) |
                                                      lv::stage<"sum">(lv::retry<1>(sum{})));
  std::vector<int> found;
  for (auto& r : app.stream(std::views::iota(1, 6))) found.push_back(*r);
  CHECK(found == std::vector<int>{1, 104, 209});
}

TEST_CASE("a join is told of the items that end before it, and may be called again") {
  struct sums {
    long of = 0;
    int calls = 0;
    long operator()(const int& a, const long& b) {
      if (++calls % 2 == 1) throw std::runtime_error("the first call");
      return of += a + b;
    }
    void missed(lv::missing) noexcept { of += 100; }
  };
  const auto branches = lv::fork(lv::identity, lv::stage<"odd">([](const int& v) {
                                   if (v % 2 == 0) throw std::runtime_error("even");
                                   return 10L * v;
                                 }));
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | branches | lv::join<"sum">(lv::retry<1>(sums())));
  const std::vector<int> numbers{0, 1, 2, 3};
  std::vector<long> given;
  for (auto&& r : app.stream(numbers)) given.push_back(r.has_value() ? *r : -1);
  CHECK(given == std::vector<long>{-1, 111, -1, 244});

  const auto once = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | branches | lv::join<"sum">(sums()));
  given.clear();
  for (auto&& r : once.stream(numbers)) given.push_back(r.has_value() ? *r : -1);
  CHECK(given == std::vector<long>{-1, -1, -1, 233});
}

TEST_CASE("on_error hears of each failed item before it is delivered, with its sequence number") {
  const auto app = lv::deploy<lv::target<lv::cpu<4>>>(failing_sum<skipping_sum>());
  auto session = app.open();
  std::mutex mutex;
  std::set<std::uint64_t> heard;
  session.on_error([&](std::uint64_t sequence, const std::exception_ptr& why) noexcept {
    const std::lock_guard lock(mutex);
    try {
      std::rethrow_exception(why);
    } catch (const unlucky& u) {
      if (static_cast<std::uint64_t>(u.item) == sequence) heard.insert(sequence);
    } catch (...) {
    }
  });
  std::thread pusher([&] {
    for (int i = 0; i < items; ++i) session.push(i);
    session.close();
  });
  lv::item_envelope envelope;
  std::size_t failed = 0, unheard = 0;
  while (auto r = session.pop(envelope)) {
    if (*r) continue;
    ++failed;
    const std::lock_guard lock(mutex);
    unheard += heard.contains(envelope.sequence) ? 0 : 1;
  }
  pusher.join();
  CHECK(failed == items / 100 * 3);
  CHECK(heard.size() == failed);
  CHECK(unheard == 0);
  auto late = app.open();
  late.push(1);
  CHECK_THROWS_WITH_AS(late.on_error([](std::uint64_t, const std::exception_ptr&) noexcept {}),
                       "levada: on_error: an item was pushed before it", lv::error);
}

TEST_CASE("on_error hears of what a device fails") {
  const auto app = lv::deploy<lv::target<lv::cpu<1>, lv::simulated<0>>>(
      lv::input<int> | lv::on<lv::simulated<0>>(lv::stage<"far">([](const int& v) {
        if (v % 2 != 0) throw unlucky(v);
        return v;
      })));
  auto session = app.open();
  std::atomic<std::uint64_t> sum{0};
  session.on_error([&](std::uint64_t sequence, const std::exception_ptr&) noexcept { sum += sequence; });
  for (int i = 0; i < 10; ++i) session.push(i);
  session.close();
  int failed = 0;
  while (auto r = session.pop()) failed += !*r;
  CHECK(failed == 5);
  CHECK(sum == 1 + 3 + 5 + 7 + 9);
}

TEST_CASE("four sessions of one app on four streams equal four isolated runs") {
  const auto items_of = [](int k) { return std::views::iota(k, 2'000 + 37 * k); };
  const auto run = [&](auto& session, int k) {
    std::vector<long> found;
    std::thread pusher([&] {
      for (const int v : items_of(k)) session.push(v);
      session.close();
    });
    while (auto r = session.pop()) found.push_back(*r ? **r : -1);
    pusher.join();
    return found;
  };
  std::vector<std::vector<long>> isolated(4), together(4);
  for (int k = 0; k < 4; ++k) {
    const auto own = lv::deploy<lv::target<lv::cpu<2>>>(failing_sum<told_sum>());
    auto session = own.open();
    isolated[static_cast<std::size_t>(k)] = run(session, k);
  }
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(failing_sum<told_sum>());
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      auto session = app.open();
      together[static_cast<std::size_t>(k)] = run(session, k);
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(isolated[k].size() > 1'700);
    CHECK(together[k] == isolated[k]);
  }
}

TEST_CASE("a result whose move throws is that exception, and those behind it come") {
  const nothing_leaks guard;
  constexpr int count = 63;
  const auto pops_all = [&](auto& session, auto pop) {
    for (int i = 0; i < count; ++i) session.push(i);
    session.close();
    session.drain();
    fragile::breaks = true;
    int next = 0;
    while (auto r = pop()) {
      if (*r)
        CHECK((**r).value() == next);
      else
        CHECK_THROWS_AS(r->value(), unlucky);
      CHECK(r->has_value() == !fails(next++));
    }
    fragile::breaks = false;
    CHECK(next == count);
    CHECK(session.counts().delivered == count);
    CHECK(session.counts().in_flight == 0);
    CHECK(session.is_over());
  };
  const auto make = lv::stage<"make">([](const int& v) { return fragile(v); });
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | make);
  SUBCASE("pop") {
    auto session = app.open();
    pops_all(session, [&] { return session.pop(); });
  }
  SUBCASE("pop with its envelope") {
    auto session = app.open();
    lv::item_envelope envelope;
    pops_all(session, [&] { return session.pop(envelope); });
    CHECK(envelope.sequence == count - 1);
  }
  SUBCASE("try_pop") {
    auto session = app.open();
    pops_all(session, [&] { return session.try_pop(); });
  }
  SUBCASE("pop of an output") {
    const auto outputs = lv::deploy<lv::target<lv::cpu<2>>>(
        lv::graph(lv::port<"n", int>, lv::node<"make", "n">(make),
                  lv::node<"same", "n">(lv::stage<"same">([](const int& v) { return v; })), lv::output<"made", "make">,
                  lv::output<"number", "same">));
    auto session = outputs.open();
    pops_all(session, [&, number = 0]() mutable {
      if (auto r = session.pop<"number">()) CHECK(**r == number++);
      return session.pop<"made">();
    });
  }
}

}  // namespace run_failures
