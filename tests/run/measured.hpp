// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/measured.hpp: a pipeline that fails and filters, and what its statistics have to say, for every executor.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>
#include <levada/run/deploy.hpp>

namespace levada::test {

/// Of 0, 1, 2, ...: every fifth fails at "check"; of the others every third is filtered at "thin". The first passes
/// them all: it is timed always, and of cheap items not many others are.
inline auto failing_and_filtering() {
  return input<int> | stage<"first">([](const int& x) { return x; }) |
         stage<"check">(serial([](const int& x) { return x % 5 == 4 ? throw std::runtime_error("a fifth") : x; })) |
         stage<"thin">(
             [](const int& x) -> std::optional<int> { return x % 3 == 2 ? std::nullopt : std::optional(x); }) |
         stage<"last">(serial([](const int& x) { return x; }));
}

inline void check_counts(const session_statistics& s, std::uint64_t count, std::size_t segments) {
  std::uint64_t failed = 0, filtered = 0;
  for (std::uint64_t i = 0; i < count; ++i) failed += i % 5 == 4, filtered += i % 5 != 4 && i % 3 == 2;
  CHECK(s.items.pushed == count);
  CHECK(s.items.failed == failed);
  CHECK(s.items.filtered == filtered);
  REQUIRE(s.stages.size() == 4);
  const std::uint64_t came[] = {count, count, count - failed, count - failed - filtered};
  const char* const names[] = {"first", "check", "thin", "last"};
  for (std::size_t i = 0; i < 4; ++i) {
    const stage_statistics& stage = s.stages[i];
    CAPTURE(i);
    CHECK(stage.name == names[i]);
    CHECK(stage.items == came[i]);
    CHECK(stage.time.count > 0);
    CHECK(stage.time.count <= came[i]);
    CHECK(stage.waited.count == stage.time.count);
    CHECK(stage.failed == (i == 1 ? failed : 0));
    CHECK(stage.filtered == (i == 2 ? filtered : 0));
    CHECK(stage.overdue + stage.cancelled == 0);
    CHECK(stage.time.min <= stage.time.median);
    CHECK(stage.time.median <= stage.time.p99);
    CHECK(stage.time.p99 <= stage.time.max);
    CHECK(stage.time.sum >= stage.time.min * stage.time.count);
  }
  REQUIRE(s.segments.size() == segments);
  for (const segment_statistics& segment : s.segments) {
    CHECK(segment.waited.count > 0);
    CHECK(segment.waited.count <= count);
  }
  CHECK(s.age.count == count - filtered);
  CHECK(s.occupied.max <= s.slots);
}

/// One thread pushes, this one pops.
template <class App>
void check_measured(const App& app, int count, std::size_t segments) {
  auto session = app.open();
  session.measure();
  std::thread pusher([&] {
    for (int i = 0; i < count; ++i) session.push(i);
    session.close();
  });
  while (session.pop()) {
  }
  pusher.join();
  const session_statistics s = session.statistics();
  check_counts(s, static_cast<std::uint64_t>(count), segments);
  CHECK(s.occupied.count == static_cast<std::uint64_t>(count));
}

}  // namespace levada::test
