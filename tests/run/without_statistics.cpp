// SPDX-License-Identifier: Apache-2.0
// A program compiled without statistics: what asks for them compiles, counts are exact, and nothing is measured.

#define LEVADA_NO_STATISTICS
#include <optional>

#include <doctest/doctest.h>
#include <levada/levada.hpp>

namespace lv = levada;

TEST_CASE("without statistics, items are counted and nothing is measured") {
  static_assert(!lv::has_statistics);
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"odd ones">([](const int& x) -> std::optional<int> {
                                           if (x % 2 == 0) return std::nullopt;
                                           return x;
                                         }) |
                                         lv::stage<"sum">([sum = 0](const int& x) mutable { return sum += x; }));
  app.measure();
  auto session = app.open();
  session.measure();
  session.trace();
  for (int i = 0; i < 100; ++i) {
    session.push(i);
    if (i % 2 != 0) CHECK(session.pop()->value() == (i + 1) / 2 * ((i + 1) / 2));
  }
  session.drain();
  const lv::session_statistics s = session.statistics();
  CHECK(s.items.delivered == 50);
  CHECK(s.items.filtered == 50);
  CHECK(s.age.count == 0);
  for (const lv::stage_statistics& stage : s.stages) CHECK(stage.items == 0);
  CHECK(session.traced().events.empty());
}
