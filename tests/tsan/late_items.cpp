// SPDX-License-Identifier: Apache-2.0
// Items that are late while branches of them run at once, and another thread pops, for ThreadSanitizer.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/batch.hpp>
#include <levada/graph/detail/fork.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>
#include <levada/run/promises.hpp>

namespace tsan_late_items {

namespace lv = levada;
using namespace levada::literals;

std::atomic<std::uint64_t> heard{0};
void hear(const lv::late_item&) noexcept { ++heard; }

constexpr auto slept = [](const int& i) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  return i;
};
constexpr lv::kernel_cost rows[] = {{"callable", "left(4 bytes) -> 4 bytes", 2e-4},
                                    {"callable", "right(4 bytes) -> 4 bytes", 2e-4},
                                    {"callable", "both(4 bytes, 4 bytes) -> 4 bytes", 1e-6}};
constexpr lv::cost_table costs{.machine = "a test", .kernels = rows};

TEST_CASE("late items are counted once, whoever runs their branches and whoever pops them") {
  constexpr auto line = lv::input<int> | lv::fork(lv::stage<"left">(slept), lv::stage<"right">(slept)) |
                        lv::join<"both">([](const int& l, const int& r) { return l + r; });
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::costs<costs>, lv::budget<lv::latency<500_us>>,
                              lv::run_by<lv::thread_executor>>(line);
  auto session = app.open<lv::on_late<&hear>>();
  session.trace(1024);
  constexpr int items = 300;
  std::thread pusher([&] {
    for (int i = 0; i < items; ++i) session.push(i);
    session.close();
  });
  int popped = 0;
  while (auto result = session.pop()) {
    popped += result->value() >= 0;
    if (popped % 50 == 0) CHECK(session.statistics().late <= items);
  }
  pusher.join();
  CHECK(popped == items);
  CHECK(session.statistics().late == heard);
}

TEST_CASE("items of a stream are stamped as they come, where the rate changes") {
  constexpr auto batched = lv::input<int, lv::every<1_ms>> | lv::stage<"left">(slept) | lv::batch<2> |
                           lv::stage<"sum">([](const std::array<int, 2>& b) { return b[0] + b[1]; });
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::costs<costs>, lv::budget<lv::latency<2_ms>>,
                              lv::estimates_count, lv::run_by<lv::thread_executor>>(batched);
  auto results = app.stream<lv::on_late<&hear>>(std::vector<int>(200, 1));
  results.trace(1024);
  int sum = 0;
  for (auto&& r : results) sum += r.value();
  CHECK(sum == 200);
  CHECK(results.statistics().age.count == 100);
}

}  // namespace tsan_late_items
