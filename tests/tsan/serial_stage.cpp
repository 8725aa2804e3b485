// SPDX-License-Identifier: Apache-2.0
// The twin of racy/parallel_stage.cpp without its mistake.

#include <doctest/doctest.h>

#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

namespace lv = levada;

TEST_CASE("a stage that changes what it captured is serial, and so free of races, with more threads than cores") {
  constexpr long items = 20'000;
  long sum = 0, seen = 0;
  auto add = [&sum](const int& item) {
    sum += item;
    return item;
  };
  const auto app =
      lv::deploy<lv::target<lv::cpu<8>>, lv::run_by<lv::thread_executor>>(lv::input<int> | lv::stage<"add">(add));
  for (auto&& item : app.stream(std::vector<int>(items, 1))) seen += item.value();
  CHECK(sum == items);
  CHECK(seen == items);
}
