// SPDX-License-Identifier: Apache-2.0
// Streams of one app, one behind the other and at once: each is as the first one is, whatever those before were.

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/simulated.hpp>

#include "items.hpp"

namespace run_streams_in_turn {

namespace lv = levada;
using namespace levada::test;

using box = lv::target<lv::cpu<2>>;

/// The sum of the items so far; an item below zero has none.
struct summing {
  tracked<1> sum{100};
  int operator()(const int& v) {
    if (v < 0) throw std::runtime_error("below zero");
    return sum.value += v;
  }
};
auto sums() { return lv::deploy<box>(lv::input<int> | lv::stage<"sum">(summing{})); }

const std::vector<int> numbers{1, 2, 3, 4, 5, 6, 7, 8, 9};

template <class App>
void check_sums(const App& app, const std::vector<int>& items = numbers) {
  int sum = 100;
  std::size_t next = 0;
  auto results = app.stream(items);
  for (auto& r : results) CHECK(r.value() == (sum += items[next++]));
  CHECK(next == items.size());
  const lv::item_counts counts = results.counts();
  CHECK(counts.pushed == items.size());
  CHECK(counts.delivered == items.size());
  CHECK(counts.in_flight == 0);
  CHECK(counts.failed + counts.filtered + counts.dropped + counts.cancelled == 0);
}

/// Numbers from 0 on, and an exception in place of 5.
struct numbers_that_throw {
  struct iterator {
    using iterator_concept = std::input_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = int;
    int at = 0;
    int operator*() const { return at; }
    iterator& operator++() {
      if (++at == 5) throw std::runtime_error("the range ends so");
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return false; }
  };
  iterator begin() const { return {}; }
  std::default_sentinel_t end() const { return {}; }
};

TEST_CASE("each stream begins with states as they were deployed, which end with it") {
  const nothing_leaks guard;
  const auto app = sums();
  const auto alive = life::alive.load();
  for (int round = 0; round < 200; ++round) {
    check_sums(app);
    CHECK(life::alive == alive);
  }
  check_sums(app, {});
  check_sums(app, std::vector<int>(1'000, 3));
  check_sums(app);
}

TEST_CASE("behind one with failures, one that was left, one whose range threw and one that was cancelled") {
  const nothing_leaks guard;
  const auto app = sums();
  for (int round = 0; round < 20; ++round) {
    int failed = 0;
    auto results = app.stream(std::vector<int>{1, -1, 2, -2});
    for (auto& r : results) failed += !r.has_value();
    CHECK(failed == 2);
    CHECK(results.counts().failed == 2);
  }
  check_sums(app);
  CHECK_THROWS_WITH_AS(
      [&] {
        for (auto& r : app.stream(std::vector<int>{1, -1})) static_cast<void>(r.value());
      }(),
      "below zero", std::runtime_error);
  check_sums(app);
  for (auto& r : app.stream(std::vector<int>(100, 1)))
    if (r.value() == 110) break;
  check_sums(app);
  { const auto never_begun = app.stream(numbers); }
  check_sums(app);
  int seen = 0;
  CHECK_THROWS_AS(
      [&] {
        for (auto& r : app.stream(numbers_that_throw{})) seen += r.has_value();
      }(),
      std::runtime_error);
  CHECK(seen == 5);
  check_sums(app);
  std::stop_source stop;
  for (auto& r : app.stream(std::vector<int>(10'000, 1), stop.get_token()))
    if (r.has_value() && r.value() == 110) stop.request_stop();
  check_sums(app);
}

TEST_CASE("a stop token is of its stream, and of none before or behind it") {
  const auto app = sums();
  std::stop_source first, second;
  for (int round = 0; round < 3; ++round) {
    for (auto& r : app.stream(numbers, first.get_token())) CHECK(r.has_value());
    auto results = app.stream(std::vector<int>(10'000, 1), second.get_token());
    first.request_stop();
    std::size_t n = 0;
    for (auto& r : results) n += r.has_value();
    CHECK(n == 10'000);
    first = std::stop_source();
  }
  second.request_stop();
  auto stopped = app.stream(numbers, second.get_token());
  for (auto& r : stopped) CHECK(!r.has_value());
  check_sums(app);
}

TEST_CASE("ranges of all kinds in turn: items in a row, in a list, made on the way, and moved here") {
  const nothing_leaks guard;
  const auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>>(
      lv::input<tracked<0>> | lv::stage<"look">([n = 0](const tracked<0>& t) mutable { return t.checked() + n++; }));
  std::vector<tracked<0>> row;
  for (int i = 0; i < 7; ++i) row.emplace_back(i);
  const std::list<tracked<0>> list(row.begin(), row.end());
  const auto check = [&](auto&& range) {
    int n = 0;
    for (auto& r : app.stream(std::forward<decltype(range)>(range))) CHECK(r.value() == 2 * n++);
    CHECK(n == 7);
  };
  for (int round = 0; round < 20; ++round) {
    check(row);
    check(list);
    check(std::vector<tracked<0>>(row));
    check(row);
    check(std::views::iota(0, 7) | std::views::transform([](int v) { return tracked<0>(v); }));
  }
}

TEST_CASE("rows of numbers are read from their begin in every stream, and across the end of the slots") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"a">([](const int& v) { return 2 * v; }) |
                                   lv::stage<"b">([](const int& v) { return v + 1; }));
  std::vector<int> items;
  for (int count = 0; count < 150; ++count) {
    std::size_t n = 0;
    for (auto& r : app.stream(items)) CHECK(r.value() == 2 * items[n++] + 1);
    CHECK(n == items.size());
    items.push_back(7 * count);
  }
}

TEST_CASE("statistics and traces are of their stream alone") {
  const auto app = sums();
  check_sums(app);
  check_sums(app);
  auto traced = app.stream(numbers);
  traced.trace(1'000);
  for (auto& r : traced) static_cast<void>(r);
  const lv::session_statistics statistics = traced.statistics();
  CHECK(statistics.items.pushed == numbers.size());
  CHECK(statistics.stages.size() == 1);
  if (lv::has_statistics) {
    CHECK(statistics.stages[0].items == numbers.size());
    const lv::session_trace trace = traced.traced();
    CHECK(!trace.events.empty());
    for (const lv::trace_event& e : trace.events) CHECK(e.item < numbers.size());
  }
  check_sums(app);
  app.measure();
  for (int round = 0; round < 2; ++round) {
    auto measured = app.stream(numbers);
    for (auto& r : measured) static_cast<void>(r);
    if (lv::has_statistics) CHECK(measured.statistics().stages[0].items == numbers.size());
  }
  app.measure(false);
  auto unmeasured = app.stream(numbers);
  for (auto& r : unmeasured) static_cast<void>(r);
  CHECK(unmeasured.statistics().stages[0].items == 0);
}

TEST_CASE("items that are filtered are counted in the stream that they are of") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"odd">([](const int& v) -> std::optional<int> {
                                     return v % 2 != 0 ? std::optional(v) : std::nullopt;
                                   }));
  for (int round = 0; round < 50; ++round) {
    auto results = app.stream(numbers);
    int n = 0;
    for (auto& r : results) CHECK(r.value() == 2 * n++ + 1);
    CHECK(results.counts().delivered == 5);
    CHECK(results.counts().filtered == 4);
    CHECK(results.counts().pushed == 9);
  }
}

TEST_CASE("a state whose copy throws fails that stream, and not the next") {
  struct copied {
    int* copies_left;
    explicit copied(int& left) : copies_left(&left) {}
    copied(const copied& other) : copies_left(other.copies_left) {
      if ((*copies_left)-- == 0) throw std::runtime_error("no copy");
    }
    int operator()(const int& v) { return v; }
  };
  int copies_left = 1'000;
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">(copied(copies_left)));
  const auto count = [&] {
    std::size_t n = 0;
    for (auto& r : app.stream(numbers)) n += r.has_value();
    return n;
  };
  CHECK(count() == numbers.size());
  copies_left = 0;
  CHECK_THROWS_AS(count(), std::runtime_error);
  copies_left = 1'000;
  CHECK(count() == numbers.size());
  CHECK(count() == numbers.size());
}

TEST_CASE("a state that can only be moved goes to one stream") {
  const auto app = lv::deploy<box>(
      lv::input<int> | lv::stage<"own">([own = std::make_unique<int>(3)](const int& v) mutable { return v + *own; }));
  for (auto& r : app.stream(std::vector<int>{4})) CHECK(r.value() == 7);
  CHECK_THROWS_AS(static_cast<void>(app.stream(std::vector<int>{4})), lv::error);
}

TEST_CASE("between sessions, calls, and streams that are not over") {
  const nothing_leaks guard;
  const auto app = sums();
  check_sums(app);
  auto session = app.open();
  session.push(1);
  check_sums(app);
  CHECK(session.pop()->value() == 101);
  check_sums(app);
  session.push(1);
  CHECK(session.pop()->value() == 102);
  session.close();
  CHECK(app(1) == 101);
  auto outer = app.stream(numbers);
  auto at = outer.begin();
  check_sums(app);
  CHECK(at->value() == 101);
  ++at;
  check_sums(app);
  CHECK(at->value() == 103);
}

TEST_CASE("many threads stream at once over one app") {
  const nothing_leaks guard;
  const auto app = sums();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 300; ++round) {
        int sum = 100, next = 0;
        const std::vector<int> items(static_cast<std::size_t>(t + round % 5), t + 1);
        for (auto& r : app.stream(items)) wrong += r.value() != (sum += t + 1), ++next;
        wrong += next != t + round % 5;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  check_sums(app);
}

TEST_CASE("one thread behind another streams over one app") {
  const auto app = sums();
  for (int round = 0; round < 20; ++round) std::thread([&] { check_sums(app); }).join();
}

TEST_CASE("a stream outlives its app, which was moved before; the last of both ends all") {
  const nothing_leaks guard;
  auto app = std::make_unique<decltype(sums())>(sums());
  check_sums(*app);
  auto moved = std::make_unique<decltype(sums())>(std::move(*app));
  app.reset();
  check_sums(*moved);
  auto results = moved->stream(numbers);
  moved.reset();
  int sum = 100, next = 0;
  for (auto& r : results) CHECK(r.value() == (sum += ++next));
  CHECK(next == 9);
}

TEST_CASE("large items, whose slots no app keeps, and items whose work workers share") {
  const auto large =
      lv::deploy<box>(lv::input<std::array<int, 65'536>> |
                      lv::stage<"first">([n = 0](const std::array<int, 65'536>& v) mutable { return v[0] + n++; }));
  const auto items = std::make_unique<std::array<std::array<int, 65'536>, 3>>();
  for (int round = 0; round < 3; ++round) {
    int n = 0;
    for (auto& r : large.stream(*items)) CHECK(r.value() == n++);
    CHECK(n == 3);
  }
  const auto slow = lv::deploy<box>(lv::input<int> | lv::stage<"slow">(lv::parallel([](const int& v) {
                                      volatile int w = v;
                                      for (int i = 0; i < 3'000; ++i) w = w + 1;
                                      return w - 3'000;
                                    })) |
                                    lv::stage<"sum">(summing{}));
  for (int round = 0; round < 300; ++round) check_sums(slow);
}

}  // namespace run_streams_in_turn
