// SPDX-License-Identifier: Apache-2.0
// Streams: what ranges they take, what they copy, and when they ask for more.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/simulated.hpp>

#include "items.hpp"

namespace run_streams {

namespace lv = levada;
using namespace levada::test;
using namespace std::chrono_literals;

using box = lv::target<lv::cpu<2>, lv::simulated<0>>;

auto plus_one() {
  return lv::deploy<box>(lv::input<int> | lv::stage<"add">([](const int& v) { return v + 1; }));
}
auto look_at() {
  return lv::deploy<box>(lv::input<tracked<0>> | lv::stage<"look">([](const tracked<0>& t) { return t.checked(); }));
}

template <class Stream>
std::vector<int> values_of(Stream&& results) {
  std::vector<int> values;
  for (auto& r : results) values.push_back(r.value());
  return values;
}

/// An input iterator's view of a generator.
template <class Next>
struct generated {
  Next next;
  struct iterator {
    using iterator_concept = std::input_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = int;
    generated* of = nullptr;
    std::optional<int> current{};
    int operator*() const { return *current; }
    iterator& operator++() {
      current = of->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !current; }
  };
  iterator begin() { return {this, next()}; }
  std::default_sentinel_t end() const { return {}; }
};
template <class Next>
generated(Next) -> generated<Next>;

TEST_CASE("an empty range gives nothing, a range of one item one result") {
  const auto app = plus_one();
  CHECK(values_of(app.stream(std::vector<int>())).empty());
  CHECK(values_of(app.stream(std::vector<int>{41})) == std::vector<int>{42});
}

TEST_CASE("of the few items of a short range, no thread takes all that are left") {
  struct meeting {
    std::atomic<int> here{0};
    std::atomic<bool> took_place{false};
  };
  meeting both;
  const auto meet = [&both](const int& i) {
    const auto start = std::chrono::steady_clock::now();
    const auto is_over = [&](auto time) { return std::chrono::steady_clock::now() - start > time; };
    if (i == 0) {  // from this one the others are known to be short
      while (!is_over(700ns)) {
      }
    } else {
      ++both.here;
      while (!both.took_place.load() && !is_over(10s))
        if (both.here.load() == 2) both.took_place.store(true);
      --both.here;
    }
    return i;
  };
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"meet">(lv::parallel(meet)));
  CHECK(values_of(app.stream(std::vector{0, 1, 2, 3, 4, 5, 6, 7})) == std::vector{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(both.took_place.load());
}

TEST_CASE("any range will do: arrays, lists, views, const, rvalue and input ranges") {
  const auto app = plus_one();
  const std::vector<int> expected{2, 3, 4};
  const int array[] = {1, 2, 3};
  CHECK(values_of(app.stream(array)) == expected);
  const std::list<int> list{1, 2, 3};
  CHECK(values_of(app.stream(list)) == expected);
  CHECK(values_of(app.stream(std::views::iota(1, 4))) == expected);
  CHECK(values_of(app.stream(list | std::views::transform([](int v) { return v; }))) == expected);
  CHECK(values_of(app.stream(std::array{1, 2, 3})) == expected);
  std::istringstream text("1 2 3");
  CHECK(values_of(app.stream(std::ranges::subrange(std::istream_iterator<int>(text), std::istream_iterator<int>()))) ==
        expected);
  std::istringstream more("1 2 3");
  CHECK(values_of(app.stream(std::views::istream<int>(more))) == expected);
}

TEST_CASE("items of a range are used where they are: not copied, not moved, not changed") {
  const nothing_leaks guard;
  const auto app = look_at();
  std::vector<tracked<0>> items;
  for (int i = 0; i < 500; ++i) items.emplace_back(i);
  life::copies = 0;
  const auto alive = life::alive.load();
  int n = 0;
  for (auto& r : app.stream(items)) {
    CHECK(r.value() == n++);
    if (n == 250) CHECK(life::alive == alive);
  }
  CHECK(n == 500);
  for (auto& r : app.stream(std::as_const(items))) n -= r.has_value();
  CHECK(n == 0);
  CHECK(life::copies == 0);
}

TEST_CASE("items that are made on the way are constructed in their slots, once") {
  const nothing_leaks guard;
  const auto app = look_at();
  life::copies = 0;
  int made = 0;
  auto results =
      app.stream(std::views::iota(0, 500) | std::views::transform([&](int v) { return ++made, tracked<0>(v); }));
  CHECK(values_of(results).size() == 500);
  CHECK(made == 500);
  CHECK(life::copies == 0);
}

TEST_CASE("an in-place first stage changes copies, never the caller's items") {
  const nothing_leaks guard;
  const auto app = lv::deploy<box>(lv::input<tracked<0>> | lv::stage<"add">([](tracked<0>& t) { t.value += 100; }));
  std::vector<tracked<0>> items;
  for (int i = 0; i < 200; ++i) items.emplace_back(i);
  int n = 0;
  for (auto& r : app.stream(items)) CHECK(r->checked() == 100 + n++);
  for (int i = 0; i < 200; ++i) CHECK(items[static_cast<std::size_t>(i)].checked() == i);
  CHECK(app(items[7]).value == 107);
  CHECK(items[7].checked() == 7);
}

TEST_CASE("an infinite range ends where the loop breaks") {
  const auto app = plus_one();
  long sum = 0;
  for (auto& r : app.stream(std::views::iota(0))) {
    sum += r.value();
    if (r.value() == 10'000) break;
  }
  CHECK(sum == 10'000L * 10'001 / 2);
}

TEST_CASE("each result is delivered before a live source is asked for more than it has been able to use") {
  const auto on = [](const auto& app, int ahead) {
    int asked = 0, seen = 0, worst = 0;
    generated live{[&]() -> std::optional<int> {
      // A source that blocks for long: what went in before is to be out by then.
      std::this_thread::sleep_for(2ms);
      worst = std::max(worst, asked - seen);
      return asked < 60 ? std::optional(asked++) : std::nullopt;
    }};
    for (auto& r : app.stream(live)) {
      CHECK(r.value() == seen + 1);
      ++seen;
    }
    CHECK(seen == 60);
    CHECK(worst <= ahead);
  };
  // The generator is asked for the next item inside ++, so one item has not been looked at yet.
  SUBCASE("on the processor, cpu<1>") {
    on(lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | lv::stage<"add">([](const int& v) { return v + 1; })), 1);
  }
  SUBCASE("on the processor, cpu<2>") { on(plus_one(), 1); }
}

TEST_CASE("a range that throws: what came before is delivered, then the exception") {
  const nothing_leaks guard;
  const auto app = look_at();
  const auto expect = [&](auto&& range, int before) {
    std::vector<int> found;
    bool thrown = false;
    auto results = app.stream(range);
    try {
      for (auto& r : results) found.push_back(r.value());
    } catch (const std::runtime_error& e) {
      thrown = std::string(e.what()) == "source";
    }
    CHECK(thrown);
    CHECK(static_cast<int>(found.size()) == before);
    for (int i = 0; i < static_cast<int>(found.size()); ++i) CHECK(found[static_cast<std::size_t>(i)] == i);
    CHECK(results.counts().pushed == static_cast<std::uint64_t>(before));
  };
  for (const int at : {0, 1, 63, 64, 65, 200}) {
    CAPTURE(at);
    // Where an item is made.
    expect(std::views::iota(0, 300) | std::views::transform([at](int v) {
             if (v == at) throw std::runtime_error("source");
             return tracked<0>(v);
           }),
           at);
    // Where the range goes on.
    int n = 0;
    expect(generated{[&n, at]() -> std::optional<int> {
             if (n == at) throw std::runtime_error("source");
             return n++;
           }},
           at);
  }
}

TEST_CASE("an item that cannot be copied into its slot ends the stream with that exception") {
  struct fragile {
    int value = 0;
    std::unique_ptr<int> held = std::make_unique<int>(0);
    explicit fragile(int v) : value(v) {}
    fragile(const fragile& o) : value(o.value) {
      if (value == 100) throw std::runtime_error("copy");
    }
    fragile(fragile&&) = default;
    fragile& operator=(fragile&&) = default;
  };
  const auto app = lv::deploy<box>(lv::input<fragile> | lv::stage<"change">([](fragile& f) { *f.held = ++f.value; }));
  std::vector<fragile> items;
  for (int i = 0; i < 200; ++i) items.emplace_back(i);
  int n = 0;
  CHECK_THROWS_WITH(
      [&] {
        for (auto& r : app.stream(items)) CHECK(r->value == ++n);
      }(),
      "copy");
  CHECK(n == 100);
  CHECK_THROWS_WITH(app(items[100]), "copy");
  auto session = app.open();
  CHECK_THROWS_WITH(session.push(items[100]), "copy");
  CHECK(session.counts().pushed == 0);
  session.push(items[1]);
  CHECK(session.pop()->value().value == 2);
}

TEST_CASE("a source stage: its items, its end, what it throws, and what comes after") {
  int calls = 0;
  auto app = lv::deploy<box>(lv::source<"count">([&calls]() -> std::optional<int> {
                               if (++calls == 150) throw std::runtime_error("source");
                               return calls <= 300 ? std::optional(calls) : std::nullopt;
                             }) |
                             lv::stage<"add">([](const int& v) { return v + 1; }));
  int n = 0;
  CHECK_THROWS_WITH(
      [&] {
        for (auto& r : app.stream()) CHECK(r.value() == ++n + 1);
      }(),
      "source");
  CHECK(n == 149);
  // The source goes on where it was.
  int first = 0, more = 0;
  for (auto& r : app.stream()) {
    if (first == 0) first = r.value();
    ++more;
  }
  CHECK(first == 152);
  CHECK(more == 150);
}

TEST_CASE("source to sink: run to the end, counts and the first failure") {
  std::vector<int> seen;
  int n = 0;
  auto app = lv::deploy<box>(
      lv::source<"count">([&n]() -> std::optional<int> { return n < 1'000 ? std::optional(n++) : std::nullopt; }) |
      lv::stage<"keep">([](const int& v) -> std::optional<int> {
        if (v % 2 != 0) return std::nullopt;
        return v;
      }) |
      lv::sink<"note">([&seen](const int& v) { seen.push_back(v); }));
  const lv::item_counts c = app.run();
  CHECK(c.pushed == 1'000);
  CHECK(c.delivered == 500);
  CHECK(c.filtered == 500);
  REQUIRE(seen.size() == 500);
  for (int i = 0; i < 500; ++i) CHECK(seen[static_cast<std::size_t>(i)] == 2 * i);

  auto failing = lv::deploy<box>(lv::input<int> | lv::stage<"check">([](const int& v) {
                                   if (v % 7 == 5) throw std::runtime_error(std::to_string(v));
                                 }));
  CHECK_THROWS_WITH(failing.run(std::views::iota(0, 100)), "5");
}

TEST_CASE("results stay valid until the stream moves on, and are destroyed in time") {
  const nothing_leaks guard;
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"make">([](const int& v) { return tracked<3>(v); }));
  {
    auto results = app.stream(std::views::iota(0, 1'000));
    int n = 0;
    for (auto& r : results) {
      CHECK(r->checked() == n++);
      if (n == 777) break;
    }
  }
  auto unused = app.stream(std::views::iota(0, 1'000));
  auto begun = app.stream(std::views::iota(0, 1'000));
  CHECK(begun.begin()->value().checked() == 0);
}

}  // namespace run_streams
