// SPDX-License-Identifier: Apache-2.0
// A pipeline known by its item types alone does what its executable does.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <levada/run/any_pipeline.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/multi_producer.hpp>
#include <levada/run/simulated.hpp>

#include "items.hpp"
#include "progress.hpp"

namespace run_any_pipeline {

namespace lv = levada;
using namespace levada::test;

using box = lv::target<lv::cpu<2>>;

/// Filters, fails, counts.
auto make_app() {
  return lv::deploy<box>(lv::input<tracked<0>> |
                         lv::stage<"keep">([](const tracked<0>& item) -> std::optional<tracked<1>> {
                           if (item.checked() % 5 == 1) return std::nullopt;
                           return tracked<1>(item.value);
                         }) |
                         lv::stage<"check">([](tracked<1>& item) {
                           if (item.checked() % 7 == 3) throw std::runtime_error(std::to_string(item.value));
                         }) |
                         lv::stage<"count">([seen = 0](const tracked<1>& item) mutable {
                           return tracked<2>(item.checked() * 1'000 + ++seen % 1'000);
                         }));
}
using any_app = lv::any_pipeline<std::optional<tracked<2>>(tracked<0>)>;
static_assert(std::is_same_v<any_app::output, tracked<2>>);

std::vector<tracked<0>> items_up_to(int count) {
  std::vector<tracked<0>> items;
  for (int i = 0; i < count; ++i) items.emplace_back(i);
  return items;
}

template <class Result>
int code_of(Result& r) {
  if (r) return r->checked();
  try {
    std::rethrow_exception(r.error());
  } catch (const std::runtime_error& e) {
    return -std::stoi(e.what());
  }
}

template <class Stream>
std::vector<int> codes_of(Stream&& results) {
  std::vector<int> codes;
  for (auto& r : results) codes.push_back(code_of(r));
  return codes;
}

void check_equal(const lv::item_counts& a, const lv::item_counts& b) {
  CHECK(a.pushed == b.pushed);
  CHECK(a.delivered == b.delivered);
  CHECK(a.failed == b.failed);
  CHECK(a.filtered == b.filtered);
  CHECK(a.dropped == b.dropped);
  CHECK(a.drops.sum() == b.drops.sum());
  CHECK(a.refused == b.refused);
  CHECK(a.cancelled == b.cancelled);
  CHECK(a.in_flight == b.in_flight);
}

/// Numbers that are made one by one, for an input range.
struct counted_down {
  struct iterator {
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;
    int* left;
    int operator*() const { return *left; }
    iterator& operator++() { return --*left, *this; }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return *left == 0; }
  };
  int left;
  iterator begin() { return {&left}; }
  std::default_sentinel_t end() const { return {}; }
};

TEST_CASE("an erased pipeline streams what its executable streams, with the same counts") {
  const nothing_leaks guard;
  const auto app = make_app();
  const any_app erased = app;
  const auto items = items_up_to(3'000);
  auto typed_results = app.stream(items);
  auto erased_results = erased.stream(items);
  const auto expected = codes_of(typed_results);
  CHECK(expected.size() == 2'400);
  const auto copies = life::copies.load();
  CHECK(codes_of(erased_results) == expected);
  CHECK(life::copies.load() == copies);  // used where they are
  check_equal(erased_results.counts(), typed_results.counts());
  CHECK(codes_of(erased.stream(items_up_to(3'000))) == expected);  // a range that the stream keeps

  std::vector<int> numbers(3'000);
  for (int i = 0; i < 3'000; ++i) numbers[static_cast<std::size_t>(i)] = i;
  CHECK(codes_of(erased.stream(numbers)) == expected);  // elements that become items
}

TEST_CASE("an erased pipeline streams a range of items that are there one by one") {
  const lv::any_pipeline<int(int)> twice =
      lv::deploy<box>(lv::input<int> | lv::stage<"twice">([](const int& v) { return 2 * v; }));
  int expected = 1'000;
  for (auto& r : twice.stream(counted_down{1'000})) REQUIRE(r.value() == 2 * expected--);
  CHECK(expected == 0);
}

TEST_CASE("a stream in which everything is filtered ends") {
  const lv::any_pipeline<std::optional<int>(int)> none = lv::deploy<box>(
      lv::input<int> | lv::stage<"none">([](const int&) -> std::optional<int> { return std::nullopt; }));
  auto results = none.stream(std::vector<int>(10'000, 1));
  for (auto& r : results) FAIL(r.value());
  CHECK(results.counts().filtered == 10'000);
}

TEST_CASE("an erased pipeline with nothing in it says so") {
  const char* const what = "levada: any_pipeline: there is no pipeline in it";
  CHECK_THROWS_WITH_AS(any_app(nullptr), what, lv::error);
  any_app from = make_app();
  CHECK(from);
  const any_app to = std::move(from);
  CHECK(to);
  CHECK(!from);
  CHECK_THROWS_WITH_AS(from.open(), what, lv::error);
  CHECK_THROWS_WITH_AS(from.stream(items_up_to(1)), what, lv::error);
  from = to;
  CHECK(from.open().try_push(tracked<0>(0)));
}

TEST_CASE("an inline call of an erased pipeline returns, filters and throws") {
  const nothing_leaks guard;
  const any_app erased = make_app();
  CHECK(erased(tracked<0>(2))->checked() == 2'001);
  const tracked<0> given(4);
  CHECK(erased(given)->checked() == 4'002);
  CHECK(!erased(tracked<0>(6)));
  CHECK_THROWS_WITH_AS(static_cast<void>(erased(tracked<0>(10))), "10", std::runtime_error);
}

TEST_CASE("a session of an erased pipeline delivers in order, from two threads") {
  const nothing_leaks guard;
  const auto app = make_app();
  const auto items = items_up_to(5'000);
  const auto expected = codes_of(app.stream(items));
  auto session = any_app(app).open();
  std::atomic<bool> pushing{false};
  std::thread pusher([&] {
    for (const tracked<0>& item : items) {
      session.push(item);
      pushing.store(true);
      pushing.notify_all();
    }
    session.close();
  });
  pushing.wait(false);  // a session takes it for a mistake where nobody pushes for two seconds
  std::vector<int> found;
  while (auto r = session.pop()) found.push_back(code_of(*r));
  pusher.join();
  CHECK(found == expected);
  CHECK(session.is_over());
  const auto c = session.counts();
  CHECK(c.pushed == 5'000);
  CHECK(c.filtered == 1'000);
  CHECK(c.delivered + c.failed == 4'000);
  CHECK(c.in_flight == 0);
}

TEST_CASE("a session of an erased pipeline works by try_push and try_pop, drains and cancels") {
  const lv::any_pipeline<int(int)> twice =
      lv::deploy<box>(lv::input<int> | lv::stage<"twice">([](const int& v) { return 2 * v; }));
  auto session = twice.open();
  CHECK(drives_by_trying(session, 2'000));
  session.push(1);
  session.drain();
  CHECK(session.try_pop()->value() == 2);
  session.push(1);
  session.cancel();
  CHECK_THROWS_AS(session.push(1), lv::cancelled);
  while (session.pop()) {
  }
  CHECK(session.is_over());
}

TEST_CASE("a move-only item goes through an erased pipeline, and an untaken one stays with the caller") {
  using item = std::unique_ptr<int>;
  const lv::any_pipeline<item(item)> add = lv::deploy<box, lv::slots<2>>(
      lv::input<item> | lv::stage<"add">([](item&& v) { return std::make_unique<int>(*v + 1); }));
  CHECK(*add(std::make_unique<int>(1)) == 2);
  auto session = add.open();
  item mine = std::make_unique<int>(7);
  session.push(std::move(mine));
  session.push(std::make_unique<int>(8));
  session.drain();
  mine = std::make_unique<int>(9);
  CHECK(!session.try_push(std::move(mine)));
  CHECK(*mine == 9);
  CHECK(*session.pop()->value() == 8);
}

TEST_CASE(
    "an erased pipeline may end in a sink, change its input, run through a device, and be held as one that filters") {
  long sum = 0;
  const lv::any_pipeline<void(int)> sink = lv::deploy<box>(lv::input<int> | lv::stage<"half">([](int& v) { v /= 2; }) |
                                                           lv::sink<"sum">([&sum](const int& v) { sum += v; }));
  const std::vector<int> items(1'000, 4);
  for (auto& r : sink.stream(items)) FAIL(r.has_value());
  sink(4);
  CHECK(sum == 2'002);
  CHECK(items.front() == 4);

  using machine = lv::target<lv::cpu<2>, lv::simulated<0>>;
  const lv::any_pipeline<std::optional<int>(int)> device = lv::deploy<machine>(
      lv::input<int> | lv::on<lv::simulated<0>>(lv::stage<"twice">([](const int& v) { return 2 * v; })));
  CHECK(device(4).value() == 8);
  int count = 0;
  for (auto& r : device.stream(items)) count += r.value() == 8;
  CHECK(count == 1'000);
}

TEST_CASE("sessions and streams outlive the pipeline that they come from") {
  auto session = [] {
    const lv::any_pipeline<int(int)> twice =
        lv::deploy<box>(lv::input<int> | lv::stage<"twice">([](const int& v) { return 2 * v; }));
    return twice.open();
  }();
  session.push(4);
  CHECK(session.pop()->value() == 8);
}

TEST_CASE("a session of an erased pipeline has options, envelopes, hooks, credits, resets and statistics") {
  using namespace std::chrono_literals;
  const lv::any_pipeline<int(int)> app =
      lv::deploy<box, lv::slots<4>>(lv::input<int> | lv::stage<"sum">([sum = 0](const int& v) mutable {
                                      if (v < 0) throw std::runtime_error("negative");
                                      return sum += v;
                                    }));
  auto session = app.open<lv::overflow<lv::reject>, lv::deadline<lv::operator""_ms(1000000)>>();
  std::vector<std::uint64_t> failed;
  session.on_error(
      [&failed](std::uint64_t sequence, const std::exception_ptr&) noexcept { failed.push_back(sequence); });
  session.measure();
  CHECK(session.credits() == 4);
  const auto now = std::chrono::steady_clock::now();
  for (int i = 1; i <= 4; ++i) CHECK(session.push(i == 3 ? -1 : i, now + i * 1ms));
  CHECK(!session.push(5));
  CHECK(!session.try_push(5));
  CHECK(session.credits() == 0);
  lv::item_envelope envelope;
  CHECK(session.pop(envelope)->value() == 1);
  CHECK(envelope.captured == now + 1ms);
  CHECK(session.pop(envelope)->value() == 3);
  CHECK(envelope.sequence == 1);
  CHECK(!session.pop()->has_value());
  CHECK(failed == std::vector<std::uint64_t>{2});
  session.drain();
  CHECK(session.try_pop(envelope)->value() == 7);
  CHECK(envelope.sequence == 3);
  session.reset();
  CHECK(session.try_push(1, now - 2'000s));  // too late when it comes to its stage
  CHECK(session.try_push(2));
  CHECK(session.pop()->value() == 2);
  session.close();
  CHECK(!session.pop());
  const lv::session_statistics s = session.statistics();
  CHECK(s.items.dropped == 1);
  CHECK(s.stages.at(0).items == 5);
}

TEST_CASE("sessions and streams of an erased pipeline measure and trace") {
  const lv::any_pipeline<int(int)> twice =
      lv::deploy<box>(lv::input<int> | lv::stage<"twice">([](const int& v) { return 2 * v; }));
  auto session = twice.open();
  session.trace();
  session.push(1);
  CHECK(session.pop()->value() == 2);
  const lv::session_trace of_session = session.traced();
  CHECK(of_session.stages == std::vector<std::string>{"twice"});
  CHECK(of_session.events.empty() == !lv::has_statistics);

  const std::vector<int> items(100, 1);
  auto results = twice.stream(items);
  results.measure();
  results.trace(1'000);
  for (auto& r : results) REQUIRE(*r == 2);
  const lv::session_statistics s = results.statistics();
  CHECK(s.items.delivered == 100);
  CHECK(s.stages.at(0).items == (lv::has_statistics ? 100 : 0));
  const lv::session_trace of_stream = results.traced();
  CHECK(of_stream.events.empty() == !lv::has_statistics);
}

TEST_CASE("many threads push into a session of an erased pipeline") {
  const lv::any_pipeline<int(int)> same =
      lv::deploy<box, lv::slots<4>>(lv::input<int> | lv::stage<"same">(lv::serial([](const int& v) { return v; })));
  auto session = same.open();
  lv::multi_producer producers(session);
  std::atomic<int> left{4};
  std::vector<std::thread> pushing;
  for (int t = 0; t < 4; ++t)
    pushing.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        if (i % 3 != 0 || !producers.try_push(i)) producers.push(i);
      if (left.fetch_sub(1) == 1) session.close();
    });
  long sum = 0;
  while (auto r = session.pop()) sum += r->value();
  for (std::thread& t : pushing) t.join();
  CHECK(sum == 4 * 500 * 499 / 2);
}

}  // namespace run_any_pipeline
