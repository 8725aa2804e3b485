// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/concurrent_branches.hpp: branches of one item at once, on any executor. Run under oneTBB by
// run/concurrent_branches.cpp, on plain threads by tsan/. That they meet is shown by waiting for each other; nothing
// hangs where they do not.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/units.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/deploy.hpp>

namespace levada::test {

/// As if somebody had measured these.
inline constexpr kernel_cost branch_costs[] = {
    {"callable", "left(4 bytes) -> 4 bytes", 1e-4, 0}, {"callable", "right(4 bytes) -> 4 bytes", 1e-4, 0},
    {"callable", "a(8 bytes) -> 8 bytes", 1e-4, 0},    {"callable", "b(8 bytes) -> 8 bytes", 1e-4, 0},
    {"callable", "c(8 bytes) -> 8 bytes", 1e-4, 0},
};
inline constexpr cost_table branch_table{.machine = "none", .kernels = branch_costs};

template <class Executor, int Threads = 2>
auto deploy_branches(auto pipeline) {
  return deploy<target<cpu<Threads>>, costs<branch_table>, run_by<Executor>>(std::move(pipeline));
}
template <class App>
constexpr bool runs_at_once(const App&) {
  return App::plan.fork.size() > 0 && App::plan.fork[0].order == branch_order::at_once;
}

/// Two that each wait for the other to begin, for some time.
struct rendezvous {
  static inline std::atomic<int> begun[2];

  template <int Mine>
  static int wait(const int& patience) {
    begun[Mine].fetch_add(1);
    for (int i = 0; i < patience; ++i) {
      if (begun[0].load() == begun[1].load()) return 1;
      std::this_thread::yield();
    }
    return 0;
  }
};

template <class Executor, int Threads>
auto meeting_app() {
  return deploy_branches<Executor, Threads>(input<int> |
                                            fork(stage<"left">(+[](const int& n) { return rendezvous::wait<0>(n); }),
                                                 stage<"right">(+[](const int& n) { return rendezvous::wait<1>(n); })) |
                                            join<"both">(+[](const int& a, const int& b) { return a + b; }));
}

template <class Executor>
void branches_meet() {
  const auto app = meeting_app<Executor, 2>();
  static_assert(runs_at_once(app));
  auto session = app.open();
  bool met = false;
  for (int i = 0; i < 5'000 && !met; ++i) {
    rendezvous::begun[0] = rendezvous::begun[1] = 0;
    session.push(10'000);
    met = session.pop()->value() == 2;
  }
  CHECK(met);
}

template <class Executor>
void one_thread_runs_them_in_turn() {
  const auto app = meeting_app<Executor, 1>();
  static_assert(!runs_at_once(app));
  auto session = app.open();
  rendezvous::begun[0] = rendezvous::begun[1] = 0;
  for (int i = 0; i < 100; ++i) {
    session.push(10);
    CHECK(session.pop()->value() == 1);  // the second finds that the first has begun
  }
}

/// A fork at the input, which a stream borrows and a session has; with the result in the caller's memory; of items that
/// are late.
template <class Executor>
void branches_of_the_input() {
  const auto app = deploy_branches<Executor>(
      input<int> |
      fork(stage<"left">(+[](const int& n) { return n + 1; }), stage<"right">(+[](const int& n) { return 2 * n; })) |
      join<"sum">(+[](const int& a, const int& b) { return a + b; }));
  static_assert(runs_at_once(app));
  for (int n = 0; n < 200; ++n) {
    const std::vector<int> one{n};
    for (auto&& r : app.stream(one)) CHECK(r.value() == 3 * n + 1);
  }
  auto into = app.template open<external_results>();
  for (int n = 0; n < 200; ++n) {
    int sum = 0;
    into.push(n, sum);
    CHECK(&into.pop()->value() == &sum);
    CHECK(sum == 3 * n + 1);
  }
  auto late = app.template open<deadline<3600_s>>();
  const auto now = std::chrono::steady_clock::now();
  for (int n = 0; n < 100; ++n) {
    late.push(n, n % 2 == 0 ? now : now - std::chrono::hours(2));
    if (n % 2 == 0)
      CHECK(late.pop()->value() == 3 * n + 1);
    else
      late.drain();
  }
  CHECK(late.counts().dropped == 50);
}

/// Counts how many there are.
struct counted_number {
  static inline std::atomic<int> alive{0};
  std::unique_ptr<int> number;
  explicit counted_number(int n) : number(std::make_unique<int>(n)) { ++alive; }
  counted_number(counted_number&& other) noexcept : number(std::move(other.number)) { ++alive; }
  ~counted_number() { --alive; }
};

template <int Remainder, class F>
auto failing(F f) {
  return [f](const counted_number& c) {
    if (*c.number % 8 == Remainder || *c.number % 8 == 6) throw std::runtime_error(std::to_string(Remainder));
    return counted_number(f(*c.number));
  };
}
inline int plus_one(int n) { return n + 1; }

/// What becomes of an item: a number, or which branch's failure it is.
inline int expected_of(int n) {
  if (n % 8 == 6) return -2;  // all fail: the first that is written counts
  if (n % 8 >= 2 && n % 8 <= 5) return -(n % 8);
  return 4 * n + 3;
}

/// Three branches, each of which fails for some items, the second behind a stage that changes its item in place; what
/// is made before them is taken by all, and behind them.
template <class Executor, int Threads>
auto failing_app() {
  return deploy_branches<Executor, Threads>(
      input<int> | stage<"make">([](const int& n) { return counted_number(n); }) |
      fork(stage<"a">(parallel(failing<2>(plus_one))),
           stage<"b">(parallel(failing<3>(plus_one))) | stage<"same">([](counted_number& c) {
             if (*c.number % 8 == 5) throw std::runtime_error("4");  // one more than it was
           }),
           stage<"c">(parallel(failing<5>(plus_one))), identity) |
      join<"sum">([](const counted_number& a, const counted_number& b, const counted_number& c,
                     const counted_number& n) { return *a.number + *b.number + *c.number + *n.number; }));
}

inline int found_in(auto&& r) {
  try {
    return r.value();
  } catch (const std::runtime_error& e) {
    return -std::stoi(e.what());
  }
}

template <class Executor>
void branches_fail() {
  {
    const auto app = failing_app<Executor, 4>();
    static_assert(runs_at_once(app) && std::remove_cvref_t<decltype(app)>::plan.fork[0].branches == 3);
    auto session = app.open();
    session.measure();
    for (int n = 0; n < 400; ++n) {  // each alone, and so its branches at once
      session.push(n);
      CHECK(found_in(*session.pop()) == expected_of(n));
    }
    const auto s = session.statistics();
    CHECK(s.items.failed == 250);
    for (const auto& stage : s.stages) CHECK(stage.items <= 400);
    CHECK(s.stages[0].items == 400);
    CHECK(s.stages.back().items == 150);
    std::vector<int> all(2'000);
    for (int n = 0; n < 2'000; ++n) all[static_cast<std::size_t>(n)] = n;
    int n = 0;
    for (auto&& r : app.stream(all)) CHECK(found_in(r) == expected_of(n++));
    CHECK(n == 2'000);
    for (int i = 0; i < 40; ++i) CHECK((expected_of(i) < 0 || app(i) == expected_of(i)));
  }
  CHECK(counted_number::alive == 0);
}

/// A session that is cancelled while branches run.
template <class Executor>
void branches_are_cancelled() {
  for (int round = 0; round < 50; ++round) {
    {
      const auto app = failing_app<Executor, 3>();
      auto session = app.open();
      std::atomic<int> pushed{0};
      std::jthread canceller([&] {
        while (pushed.load() < round % 10 + 1) std::this_thread::yield();
        session.cancel();
      });
      try {
        for (int n = 0;; ++n) {
          session.push(8 * n);
          pushed.fetch_add(1);
          if (!session.pop()) break;
        }
      } catch (const cancelled&) {
      }
      canceller.join();
      const auto counts = session.counts();
      CHECK(counts.in_flight == 0);
      CHECK(counts.failed == 0);
    }
    CHECK(counted_number::alive == 0);
  }
}

}  // namespace levada::test
