// SPDX-License-Identifier: Apache-2.0
// Deployments that promise times and keep them by their costs. Those that do not are in must_not_compile.

#include <doctest/doctest.h>

#include <array>
#include <type_traits>
#include <vector>

#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/feedback.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/promises.hpp>
#include <levada/run/simulated.hpp>

namespace run_promises {

namespace lv = levada;
using namespace levada::literals;

using box = lv::target<lv::cpu<2>>;

constexpr lv::kernel_cost rows[] = {
    {"callable", "decode(4 bytes) -> 4 bytes", 3e-3, 1e-4, 3.5e-3},
    {"callable", "detect(4 bytes) -> 4 bytes", 7e-3, 1e-4, 8e-3},
    {"callable", "track(4 bytes) -> 4 bytes", 2e-3, 1e-4, 2.5e-3},
    {"callable", "model(16 bytes) -> 16 bytes", 12e-3, 1e-4, 13e-3},
};
constexpr lv::cost_table measured{.machine = "a test", .kernels = rows, .date = "2026-11-25"};

constexpr auto plus_one = [](const int& i) { return i + 1; };
constexpr auto chain = lv::input<int> | lv::stage<"decode">(plus_one) | lv::stage<"detect">(plus_one) |
                       lv::stage<"track">(lv::serial(plus_one));

template <class Pipeline, class Target, class... Options>
using time_of = lv::detail::timing_of<Pipeline, Target, Options...>;

TEST_CASE("a deployment within its budgets of time runs as any other") {
  const auto app = lv::deploy<
      box, lv::costs<measured>,
      lv::budget<lv::latency<12_ms>, lv::interval<6_ms>, lv::latency<14_ms, lv::quantile::p95>, lv::memory<1_MiB>>>(
      chain);
  CHECK(app(1) == 4);
  int count = 0;
  for (auto&& r : app.stream(std::vector<int>(20, 1))) count += r.value() == 4;
  CHECK(count == 20);
}

TEST_CASE("a promise of a processor whose threads are bound at start-up is for the least of them") {
  using pipeline = std::remove_const_t<decltype(chain)>;
  static_assert(
      time_of<pipeline, lv::target<lv::cpu<2, 8>>, lv::costs<measured>>::time<lv::quantile::median>.interval() ==
      time_of<pipeline, box, lv::costs<measured>>::time<lv::quantile::median>.interval());
  static_assert(time_of<pipeline, lv::target<lv::cpu<1>>, lv::costs<measured>>::time<lv::quantile::median>.interval() >
                11e-3);
}

TEST_CASE("estimates count where that is said") {
  const auto app = lv::deploy<box, lv::budget<lv::latency<1_ms>>, lv::estimates_count>(chain);
  CHECK(app(1) == 4);
}

TEST_CASE("ways between devices are part of the latency and load the device that takes the value") {
  using way = lv::target<lv::cpu<1>, lv::simulated<0>>;
  static constexpr lv::transfer_cost ways[] = {{lv::cpu<1>::id, lv::simulated<0>::id, 1e-3, 0},
                                               {lv::simulated<0>::id, lv::cpu<1>::id, 4e-3, 0}};
  static constexpr lv::cost_table with_ways{.machine = "a test", .kernels = rows, .transfers = ways};
  constexpr auto away = lv::input<int> | lv::stage<"decode">(plus_one) |
                        lv::on<lv::simulated<0>>(lv::stage<"detect">(plus_one)) | lv::stage<"track">(plus_one);
  using timing = time_of<std::remove_const_t<decltype(away)>, way, lv::costs<with_ways>>;
  constexpr const auto& time = timing::time<lv::quantile::median>;
  CHECK(time.latency == doctest::Approx(3e-3 + 1e-3 + 7e-3 + 4e-3 + 2e-3));
  CHECK(time.bottleneck.of == lv::expected_load::device);
  CHECK(time.bottleneck.at == lv::cpu<1>::id);
  CHECK(time.bottleneck.work == doctest::Approx(3e-3 + 4e-3 + 2e-3));
  CHECK(time.bottleneck.most.is_way);
  CHECK(time.bottleneck.most.stage == "detect");
  const auto app = lv::deploy<way, lv::costs<with_ways>, lv::budget<lv::latency<20_ms>, lv::interval<10_ms>>>(away);
  CHECK(app(1) == 4);
}

TEST_CASE("regions of different rates are loaded as often as they run") {
  constexpr auto batched = lv::input<int> | lv::stage<"decode">(plus_one) | lv::batch<4, lv::timeout<50_ms>> |
                           lv::stage<"model">([](const std::array<int, 4>& b) { return b; }) | lv::unbatch |
                           lv::stage<"track">(plus_one);
  using timing = time_of<std::remove_const_t<decltype(batched)>, box, lv::costs<measured>>;
  constexpr const auto& time = timing::time<lv::quantile::median>;
  CHECK(time.known.measured == 3);
  CHECK(time.interval() == doctest::Approx((3e-3 + 12e-3 / 4 + 2e-3) / 2));
  CHECK(time.latency == doctest::Approx(3e-3 + 50e-3 + 12e-3 + 2e-3 + 3 * 1e-3));
  const auto app = lv::deploy<box, lv::costs<measured>, lv::budget<lv::latency<80_ms>, lv::interval<5_ms>>>(batched);
  int count = 0;
  for (auto&& r : app.stream(std::vector<int>(20, 1))) count += r.value() == 3;
  CHECK(count == 20);
}

TEST_CASE("a feedback is loaded as a whole") {
  constexpr auto loop =
      lv::input<int> | lv::stage<"decode">(plus_one) |
      lv::feedback<"sum">(
          lv::join<"add">([](const int& in, const int& sum) { return in + sum; }) | lv::stage<"detect">(plus_one), 0);
  static constexpr lv::kernel_cost with_sum[] = {{"callable", "decode(4 bytes) -> 4 bytes", 3e-3},
                                                 {"callable", "add(4 bytes, 4 bytes) -> 4 bytes", 4e-3},
                                                 {"callable", "detect(4 bytes) -> 4 bytes", 7e-3}};
  static constexpr lv::cost_table costs{.machine = "a test", .kernels = with_sum};
  using timing = time_of<std::remove_const_t<decltype(loop)>, box, lv::costs<costs>>;
  constexpr const auto& time = timing::time<lv::quantile::median>;
  CHECK(time.known.measured == time.known.all);
  CHECK(time.bottleneck.of == lv::expected_load::serial_stage);
  CHECK(time.bottleneck.most.stage == "sum");
  CHECK(time.interval() == doctest::Approx(11e-3));
}

}  // namespace run_promises
