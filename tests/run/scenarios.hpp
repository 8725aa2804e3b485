// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/scenarios.hpp: four stages, each on the processor or on a simulated device, with failures in each, a filter and a
// state, against a loop that does the same; on any executor. Run under oneTBB by run/devices.cpp, under ThreadSanitizer
// by tsan/.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/simulated.hpp>

#include "items.hpp"

namespace levada::test {

using machine = target<cpu<3>, simulated<0>, simulated<1>>;

/// What becomes of an item, as one number: below 0 where it failed and which item it was, else its value.
using outcome = std::int64_t;

enum class failing_stage { first = 1, middle, last };

constexpr outcome outcome_of(failing_stage at, int item) { return -(outcome{item} * 4 + static_cast<int>(at)); }
constexpr outcome outcome_of(int value) { return static_cast<std::uint32_t>(value); }

struct stage_failure : std::runtime_error {
  stage_failure(failing_stage at, int of) : std::runtime_error("a stage failed"), stage(at), item(of) {}
  failing_stage stage;
  int item;
};

// What the four stages do to an item, for the pipelines and for the loop.
inline bool fails_first(int v) { return v % 17 == 3; }
inline bool is_kept(int v) { return v % 5 != 1; }
inline bool fails_middle(int v) { return v % 19 == 5; }
inline bool fails_last(int v) { return v % 23 == 7; }
inline int numbered(int v, int seen) {
  return static_cast<int>(static_cast<unsigned>(v) * 100'000 + static_cast<unsigned>(seen));
}

/// 0: the processor; else the simulated device of that index - 1.
template <int Where, class Part>
constexpr auto placed(Part part) {
  if constexpr (Where == 0)
    return part;
  else
    return on<simulated<Where - 1>>(std::move(part));
}

template <int A, int B, int C, int D, bool Split = false>
struct shape_of_pipeline {
  static constexpr auto mark() { return std::conditional_t<Split, split_here_part, split_after_part<>>{}; }

  static auto make() {
    auto first = stage<"first">([](const tracked<0>& item) {
      if (fails_first(item.checked())) throw stage_failure(failing_stage::first, item.value);
      return tracked<1>(item.value);
    });
    auto keep = stage<"keep">([](tracked<1>&& item) -> std::optional<tracked<1>> {
      if (!is_kept(item.checked())) return std::nullopt;
      return std::move(item);
    });
    auto middle = stage<"middle">([](tracked<1>& item) {
      if (fails_middle(item.checked())) throw stage_failure(failing_stage::middle, item.value);
    });
    // It counts the items it has seen: a failed item before it must neither reach it nor disturb it.
    auto last = stage<"last">([seen = 0](const tracked<1>& item) mutable {
      ++seen;
      if (fails_last(item.checked())) throw stage_failure(failing_stage::last, item.value);
      return tracked<2>(numbered(item.value, seen));
    });
    return input<tracked<0>> | placed<A>(std::move(first)) | mark() | placed<B>(std::move(keep)) | mark() |
           placed<C>(std::move(middle)) | mark() | placed<D>(std::move(last));
  }
};

/// The same in a loop.
struct reference_loop {
  int seen = 0;
  std::uint64_t filtered = 0, failed = 0, delivered = 0;

  /// Nothing where the item is filtered.
  std::optional<outcome> operator()(int v) {
    if (fails_first(v)) return ++failed, outcome_of(failing_stage::first, v);
    if (!is_kept(v)) return ++filtered, std::nullopt;
    if (fails_middle(v)) return ++failed, outcome_of(failing_stage::middle, v);
    ++seen;
    if (fails_last(v)) return ++failed, outcome_of(failing_stage::last, v);
    return ++delivered, outcome_of(numbered(v, seen));
  }
};

template <class Item>
outcome outcome_of(const result<Item>& r) {
  if (r) return outcome_of(r->checked());
  try {
    std::rethrow_exception(r.error());
  } catch (const stage_failure& e) {
    return outcome_of(e.stage, e.item);
  } catch (...) {
    return std::numeric_limits<outcome>::min();  // nothing that the loop expects
  }
}

inline std::vector<outcome> expected_of(int items, reference_loop& loop) {
  std::vector<outcome> all;
  all.reserve(static_cast<std::size_t>(items));
  for (int i = 0; i < items; ++i)
    if (auto r = loop(i)) all.push_back(*r);
  return all;
}

inline void check_sum(const item_counts& c) {
  CHECK(c.pushed == c.delivered + c.failed + c.filtered + c.dropped + c.cancelled + c.in_flight);
}

inline void check_final(const item_counts& c, const reference_loop& loop, std::uint64_t pushed) {
  check_sum(c);
  CHECK(c.pushed == pushed);
  CHECK(c.delivered == loop.delivered);
  CHECK(c.failed == loop.failed);
  CHECK(c.filtered == loop.filtered);
  CHECK(c.dropped == 0);
  CHECK(c.cancelled == 0);
  CHECK(c.in_flight == 0);
}

/// How both devices behave while this lives.
struct devices_that {
  devices_that(std::int64_t delay_ns, std::size_t window) {
    for (simulation* s : {&simulated_device<0>(), &simulated_device<1>()}) {
      s->delay_ns = delay_ns;
      s->reorder_window = window;
    }
  }
  ~devices_that() {
    simulated_device<0>().reset();
    simulated_device<1>().reset();
  }
};

inline std::vector<tracked<0>> items_up_to(int count) {
  std::vector<tracked<0>> items;
  items.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) items.emplace_back(i);
  return items;
}

template <class App>
inline constexpr bool uses_devices = [] {
  for (const auto& s : App::plan.segment)
    if (s.device.kind != device_kind::cpu) return true;
  return false;
}();

template <class App>
void stream_equals_the_loop(const App& app, int count) {
  const nothing_leaks guard;
  const std::vector<tracked<0>> items = items_up_to(count);
  reference_loop loop;
  const auto expected = expected_of(count, loop);
  std::vector<outcome> found;
  auto results = app.stream(items);
  for (auto& r : results) found.push_back(outcome_of(r));
  CHECK(found == expected);
  check_final(results.counts(), loop, static_cast<std::uint64_t>(count));
}

template <class App>
void session_equals_the_loop(const App& app, int count) {
  const nothing_leaks guard;
  reference_loop loop;
  const auto expected = expected_of(count, loop);
  std::vector<outcome> found;
  auto session = app.open();
  std::thread pusher([&] {
    for (int i = 0; i < count; ++i) session.push(tracked<0>(i));
    session.close();
  });
  while (auto r = session.pop()) found.push_back(outcome_of(*r));
  pusher.join();
  CHECK(found == expected);
  CHECK(session.is_over());
  check_final(session.counts(), loop, static_cast<std::uint64_t>(count));
}

template <class App>
void inline_calls_equal_the_loop(const App& app, int count) {
  const nothing_leaks guard;
  // Through devices each call is a session of its own, with a state of its own.
  reference_loop whole;
  constexpr bool fresh = uses_devices<App>;
  for (int i = 0; i < count; ++i) {
    reference_loop own;
    reference_loop& loop = fresh ? own : whole;
    const auto expected = loop(i);
    std::optional<outcome> found;
    try {
      if (std::optional<tracked<2>> r = app(tracked<0>(i))) found = outcome_of(r->checked());
    } catch (const stage_failure& e) {
      found = outcome_of(e.stage, e.item);
    }
    CHECK(found == expected);
  }
}

/// Sessions and streams that end at any moment, with all, some or nothing popped.
template <class App>
void ends_in_mid_flight(const App& app, int rounds, unsigned seed) {
  const nothing_leaks guard;
  std::mt19937 random(seed);
  const std::vector<tracked<0>> items = items_up_to(300);
  for (int round = 0; round < rounds; ++round) {
    const int want = static_cast<int>(random() % 200);
    const auto how = random() % 5;
    if (how == 0) {
      auto results = app.stream(items);
      int got = 0;
      for (auto& r : results) {
        static_cast<void>(r.has_value());
        if (++got > want) break;
      }
      check_sum(results.counts());
    } else if (how == 1) {
      auto session = app.open();
      for (int i = 0; i < want; ++i)
        if (!session.try_push(tracked<0>(i))) static_cast<void>(session.try_pop());
      check_sum(session.counts());
    } else {
      std::stop_source stop;
      auto session = app.open(stop.get_token());
      std::thread pusher([&] {
        try {
          for (int i = 0; i < 300; ++i) session.push(tracked<0>(i));
          session.close();
        } catch (const cancelled&) {
        }
      });
      std::thread popper([&] {
        while (session.pop()) {
        }
      });
      if (how == 2) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
      if (how != 4) std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
      if (how == 3)
        stop.request_stop();
      else
        session.cancel();
      pusher.join();
      popper.join();
      CHECK(session.is_over());
      const item_counts c = session.counts();
      check_sum(c);
      CHECK(c.in_flight == 0);
    }
  }
}

template <class App>
void failing_device(const App& app) {
  if constexpr (uses_devices<App>) {
    const nothing_leaks guard;
    const std::vector<tracked<0>> items = items_up_to(200);
    for (simulation* s : {&simulated_device<0>(), &simulated_device<1>()})
      s->fails = [](std::uint64_t item) { return item % 11 == 4; };
    std::map<int, std::string> device_errors;
    int wrong_order = 0, before = -1;
    auto results = app.stream(items);
    for (auto& r : results) {
      if (r) {
        const int item = r->checked() / 100'000;
        wrong_order += item <= before;
        CHECK(item % 11 != 4);
        before = item;
        continue;
      }
      try {
        std::rethrow_exception(r.error());
      } catch (const device_error& e) {
        const std::string text = e.what();
        CHECK(text.find("simulated<") != std::string::npos);
        const int item = std::atoi(text.substr(text.find("item ") + 5).c_str());
        wrong_order += item <= before;
        before = item;
        device_errors[item] = text;
      } catch (const stage_failure& e) {
        wrong_order += e.item <= before;
        before = e.item;
      }
    }
    CHECK(wrong_order == 0);
    for (const auto& [item, text] : device_errors) CHECK(item % 11 == 4);
    CHECK(device_errors.size() >= 10);
    check_sum(results.counts());
    CHECK(results.counts().in_flight == 0);

    for (simulation* s : {&simulated_device<0>(), &simulated_device<1>()}) s->lost = true;
    auto none = app.stream(items);
    std::size_t ended = 0;
    for (auto& r : none) {
      CHECK(!r.has_value());
      ++ended;
    }
    CHECK(ended + none.counts().filtered == items.size());
    CHECK(none.counts().failed == ended);
    simulated_device<0>().reset();
    simulated_device<1>().reset();
  }
}

template <class Executor, class Shape>
void scenario(int scale) {
  const auto app = deploy<machine, run_by<Executor>, slots<32>>(Shape::make());
  inline_calls_equal_the_loop(app, 100 * scale);
  for (const auto& [delay, window] : {std::pair<std::int64_t, std::size_t>{0, 1}, {0, 8}, {20'000, 5}}) {
    CAPTURE(delay);
    CAPTURE(window);
    const devices_that behave(delay, window);
    const int count = (delay != 0 ? 300 : 2'000) * scale;
    stream_equals_the_loop(app, count);
    session_equals_the_loop(app, count);
    ends_in_mid_flight(app, 25 * scale, static_cast<unsigned>(delay + static_cast<int>(window)));
  }
  failing_device(app);
}

using on_the_processor = shape_of_pipeline<0, 0, 0, 0>;
using in_four_segments = shape_of_pipeline<0, 0, 0, 0, true>;
using device_in_the_middle = shape_of_pipeline<0, 0, 1, 0>;
using device_first = shape_of_pipeline<1, 0, 0, 0>;
using device_last = shape_of_pipeline<0, 0, 0, 1>;
using two_devices = shape_of_pipeline<0, 1, 0, 2>;
using adjacent_devices = shape_of_pipeline<0, 1, 2, 0>;
using device_twice = shape_of_pipeline<1, 2, 1, 0>;

}  // namespace levada::test
