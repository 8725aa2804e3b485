// SPDX-License-Identifier: Apache-2.0
// What a running pipeline takes from the heap: nothing.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <levada/core/detail/foreign.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/deploy/for_each.hpp>
#include <levada/run/detail/deploy/rated_fork.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/simulated.hpp>

#include <support/counting.hpp>

#include <run/concurrent_branches.hpp>

#include "arrival.hpp"
#include "watchdog.hpp"

namespace lv = levada;

int main(int count, char** arguments) {
  lv::test::bring_workers<2>();
  return doctest::Context(count, arguments).run();
}

namespace {

using payload = std::array<int, 64>;

auto pipeline() {
  return lv::input<payload> | lv::stage<"change">([](payload& p) { ++p[0]; }) |
         lv::stage<"sum">([n = 0](const payload& p) mutable { return p[0] + n++ * 0; }) |
         lv::stage<"odd">([](const int& v) -> std::optional<long> {
           if (v % 7 == 0) return std::nullopt;
           return v;
         });
}

constexpr std::uint64_t steady_items = 20'000;

/// Runs `items(n)` until it is warm, then counts.
template <class F>
allocation_counts steady(F items, std::uint64_t n = steady_items) {
  items(n);
  const allocation_counts before = allocations_now();
  items(n);
  return allocations_now() - before;
}

/// What oneTBB's queue takes for the workers that are asked for, each 64th time as for whatever is enqueued: how often
/// none is awake is up to the machine.
std::uint64_t of_queue(const allocation_counts& counts) { return counts.tbb_pooled / 64; }

void check(const allocation_counts& counts) {
  MESSAGE("heap " << counts.heap() << ", oneTBB's pool " << counts.tbb_pooled << " for " << steady_items << " items");
  // No allocation an item; what begins and ends a thing may allocate a few times.
  CHECK(counts.heap() < 100 + of_queue(counts));
  CHECK(counts.tbb_pooled <= steady_items);
}
/// Nothing begins or ends in between.
void check_nothing_begins(const allocation_counts& counts) {
  check(counts);
  CHECK(counts.heap() < 10 + of_queue(counts));
}

}  // namespace

TEST_CASE("inline calls do not allocate") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(pipeline());
  const payload item{};
  const auto counts = steady([&](std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) static_cast<void>(app(item));
  });
  CHECK(counts.heap() == 0);
  CHECK(counts.tbb_pooled == 0);
}

TEST_CASE("measuring and tracing do not allocate once they are on") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(pipeline());
  auto session = app.open();
  session.trace(1000);
  const payload item{};
  const auto counts = steady([&](std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
      session.push(item);
      session.pop();
    }
  });
  CHECK(session.statistics().stages[0].items == 2 * steady_items);
  check_nothing_begins(counts);
}

TEST_CASE("push and pop do not allocate") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(pipeline());
  auto session = app.open();
  payload item{};
  SUBCASE("by one thread") {
    const auto counts = steady([&](std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i) {
        session.push(item);
        CHECK(session.pop().has_value());
      }
    });
    check_nothing_begins(counts);
  }
  SUBCASE("by trying") {
    check(steady([&](std::uint64_t n) {
      std::uint64_t popped = 0;
      for (std::uint64_t i = 0; popped < n;) {
        if (i < n && session.try_push(item)) ++i;
        popped += session.try_pop().has_value();
      }
    }));
  }
}

TEST_CASE("a feedback does not allocate") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<payload> |
      lv::feedback<"sums">(lv::join<"add">([](const payload& p, const payload& sums) {
                             payload next = sums;
                             next[0] += p[1];
                             return next;
                           }) | lv::stage<"count">([](payload& p) { ++p[1]; }),
                           payload{}) |
      lv::feedback<"last", lv::delay<2>>([](const payload& p, int& last) { return last += p[1]; }, 0));
  auto session = app.open();
  const payload item{};
  const auto counts = steady([&](std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
      session.push(item);
      CHECK(session.pop().has_value());
    }
  });
  check(counts);
}

TEST_CASE("branches that change their rate do not allocate") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<payload> |
      lv::fork(lv::batch<4> | lv::stage<"first">(+[](const std::array<payload, 4>& b) { return b[0]; }),
               lv::downsample<2> | lv::repeat<3> | lv::downsample<6>) |
      lv::join<"both">(+[](const payload& a, const payload& b) { return a[0] + b[0]; }));
  auto session = app.open();
  const payload item{};
  check(steady([&](std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; i += 4) {
      for (int k = 0; k < 4; ++k) session.push(item);
      CHECK(session.pop().has_value());
    }
  }));
}

TEST_CASE("buffers lent to a pipeline come and go without an allocation") {
  using loan = lv::foreign<int>;
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<loan> | lv::stage<"keep most">([](loan&& l) -> std::optional<loan> {
                                           if (l.view() % 7 == 0) return std::nullopt;
                                           return std::move(l);
                                         }) |
                                         lv::stage<"look">([](const loan& l) { return l.view(); }));
  std::atomic<std::uint64_t> returned{0};
  auto session = app.open();
  const auto counts = steady([&](std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
      session.push(loan(
          static_cast<int>(i),
          [](void* count, const int&) noexcept { ++*static_cast<std::atomic<std::uint64_t>*>(count); }, &returned));
      if (i % 7 != 0) CHECK(session.pop().has_value());
    }
  });
  session.drain();
  check_nothing_begins(counts);
  CHECK(returned.load() == 2 * steady_items);
}

TEST_CASE("push and pop by two threads do not allocate") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(pipeline());
  auto session = app.open();
  allocation_counts counts;
  std::thread pusher([&] {
    for (std::uint64_t i = 0; i < 2 * steady_items; ++i) session.push(payload{});
    session.close();
  });
  std::uint64_t n = 0;
  allocation_counts before;
  while (session.pop()) {
    if (++n == steady_items) before = allocations_now();
    if (n == 2 * steady_items - 100) counts = allocations_now() - before;
  }
  pusher.join();
  CHECK(n == 2 * steady_items);
  check(counts);
}

TEST_CASE("a stream does not allocate for its items") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(pipeline());
  const std::vector<payload> items(steady_items);
  check(steady([&](std::uint64_t) {
    std::uint64_t n = 0;
    for (auto& r : app.stream(items)) n += r.has_value();
    CHECK(n == steady_items);
  }));
}

TEST_CASE("a stream behind another does not allocate") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(pipeline());
  const std::vector<payload> items(3);
  check_nothing_begins(steady([&](std::uint64_t) {
    for (int round = 0; round < 1'000; ++round) {
      std::uint64_t n = 0;
      for (auto& r : app.stream(items)) n += r.has_value();
      CHECK(n == items.size());
    }
  }));
}

TEST_CASE("a stream through a device does not allocate for its items") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>>(
      pipeline() | lv::on<lv::simulated<0>>(lv::stage<"far">([](const long& v) { return v; })) |
      lv::stage<"near">([](const long& v) { return v; }));
  const std::vector<payload> items(steady_items);
  check(steady([&](std::uint64_t) {
    std::uint64_t n = 0;
    for (auto& r : app.stream(items)) n += r.has_value();
    CHECK(n == steady_items);
  }));
}

TEST_CASE("0 to 64 parts of an item do not allocate, nor does the 65th") {
  using parts = lv::bounded<int, 80>;
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::stage<"detect", parts>([](const int& n, parts& found) {
        for (int i = 0; i < n % 66; ++i) found.push_back(i);
      }) |
      lv::for_each<64, lv::overflow_parts::drop_last>(
          lv::stage<"crop">([](const int& at) { return payload{at}; }) |
          lv::stage<"score">([n = 0](payload& p) mutable { p[1] = n++ * 0 + p[0]; }) |
          lv::stage<"keep">([](const payload& p) -> std::optional<int> {
            if (p[1] % 5 == 0) return std::nullopt;
            return p[1];
          })) |
      lv::collect | lv::stage<"sum">([](const lv::bounded<int, 64>& all) {
        int sum = 0;
        for (const int x : all) sum += x;
        return sum;
      }));
  auto session = app.open();
  int sum = 0;
  const auto counts = steady([&](std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
      session.push(static_cast<int>(i));
      sum = **session.pop();
      if (i % 66 == 65) CHECK(sum == 64 * 63 / 2 - 5 * (12 * 13 / 2));
    }
  });
  check_nothing_begins(counts);
}

TEST_CASE("branches that run at once do not allocate") {
  const auto app = lv::test::meeting_app<lv::tbb_executor, 2>();
  static_assert(lv::test::runs_at_once(app));
  auto session = app.open();
  constexpr std::uint64_t items = steady_items / 10;  // at each the worker is waited for
  const auto counts = steady(
      [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
          session.push(20);
          CHECK(session.pop()->has_value());
        }
      },
      items);
  MESSAGE("heap " << counts.heap() << ", oneTBB's pool " << counts.tbb_pooled << " for " << items << " items");
  CHECK(counts.heap() < 10 + of_queue(counts));
  CHECK(counts.tbb_pooled <= 2 * items);  // one for the item, one for a branch
}
