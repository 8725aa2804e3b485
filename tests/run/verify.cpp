// SPDX-License-Identifier: Apache-2.0
// What a deployment takes beside its plan: what is compared with what, on numbers made up; and with stages that sleep,
// which take no less than they say on any machine.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <levada/core/detail/units.hpp>
#include <levada/interop/report.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/promises.hpp>
#include <levada/run/simulated.hpp>

namespace run_verify {

namespace lv = levada;
using namespace levada::literals;
using namespace std::chrono_literals;

using box = lv::target<lv::cpu<2>>;

constexpr auto slept = [](const int& i) {
  std::this_thread::sleep_for(2ms);
  return i + 1;
};
constexpr auto sleeps = lv::input<int> | lv::stage<"decode">(slept) | lv::stage<"detect">(slept);

constexpr lv::kernel_cost half[] = {{"callable", "decode(4 bytes) -> 4 bytes", 1e-3},
                                    {"callable", "detect(4 bytes) -> 4 bytes", 1e-3}};
constexpr lv::cost_table halved{.machine = "a test", .kernels = half, .date = "2026-11-25"};

lv::verified_part part(double expected, double measured, lv::cost_origin origin = lv::cost_origin::measured) {
  return {{expected, measured}, "a", "cpu", origin};
}

TEST_CASE("costs hold where the parts take together what these say, give or take a half") {
  lv::verification all;
  CHECK(all.costs_hold());  // nothing is known
  all.parts = {part(2e-3, 2e-3), part(1e-6, 9e-6)};
  CHECK(all.costs_hold());
  all.parts[0].measured = 4e-3;
  CHECK_FALSE(all.costs_hold());
  CHECK(all.ratio() == doctest::Approx(2).epsilon(0.01));
  all.parts[0].measured = 1e-3;
  CHECK_FALSE(all.costs_hold());
  // An estimate that is off tells nothing of the table.
  all.parts = {part(2e-3, 2e-3), part(1e-3, 9e-3, lv::cost_origin::estimated), part(0, 1e-3), part(1e-3, 0)};
  CHECK(all.ratio() == doctest::Approx(1));
}

TEST_CASE("budgets are compared with what lone items and results in a row took") {
  const lv::time_bound bounds[] = {
      {true, 10_ms, lv::quantile::median}, {true, 10_ms, lv::quantile::p95}, {false, 4_ms, lv::quantile::median}};
  const double expected[] = {8e-3, 9e-3, 3e-3};
  lv::promised_times promised{.bounds = bounds, .expected = expected, .machine = "a test"};
  promised.time.latency = 8e-3;
  std::vector<double> lone(100, 9e-3);
  for (std::size_t i = 0; i < 10; ++i) lone[7 * i] = 12e-3;

  lv::verification all = lv::detail::verified(promised, lone, 3e-3);
  REQUIRE(all.budgets.size() == 3);
  CHECK_FALSE(all.budgets[0].is_exceeded());
  CHECK(all.budgets[1].is_exceeded());
  CHECK(all.budgets[1].measured == 12e-3);
  CHECK_FALSE(all.budgets[2].is_exceeded());
  CHECK(all.exceeded() == &all.budgets[1]);
  CHECK_THROWS_WITH_AS(all.or_throw(), "levada: verify: budget of latency 10 ms at p95 exceeded: 12 ms",
                       lv::budget_exceeded);

  // Later items that fill a batch come at their pace, and not at once as here.
  promised.time.waiting = 5e-3;
  CHECK(lv::detail::verified(promised, lone, 3e-3).latency.measured == doctest::Approx(14e-3));
}

TEST_CASE("a pace that is too fast is told, but where sessions drop by design") {
  lv::promised_times promised{};
  promised.time.pace = 2e-3;
  promised.time.items_a_result = 4;
  CHECK(lv::detail::verified(promised, {}, 7e-3).keeps_up());
  const lv::verification late = lv::detail::verified(promised, {}, 9e-3);
  CHECK_FALSE(late.keeps_up());
  CHECK_THROWS_WITH_AS(late.or_throw(), "levada: verify: a result needs 9 ms, and items come for one every 8 ms",
                       lv::budget_exceeded);
  promised.drops = true;
  CHECK(lv::detail::verified(promised, {}, 9e-3).keeps_up());
}

TEST_CASE("a table whose costs were halved is told, and the machine that it is not of") {
  const auto app = lv::deploy<box, lv::costs<halved>, lv::budget<lv::latency<60_s>>>(sleeps);
  const lv::verification all = app.verify(1, 8);
  REQUIRE(all.parts.size() == 2);
  CHECK(all.parts[0].name == "decode");
  CHECK(all.parts[1].device == "cpu");
  CHECK(all.parts[1].expected == 1e-3);
  CHECK(all.ratio() > 1.8);  // the median is a sixteenth off at most
  CHECK_FALSE(all.costs_hold());
  CHECK(all.latency.measured >= 4e-3);
  CHECK_FALSE(all.is_of_this_machine());
  CHECK_NOTHROW(all.or_throw());
  const std::string text = lv::report(all);
  CHECK(text.find("what their costs say: measure these again\ncosts of a test; this is ") != std::string::npos);
  CHECK(text.find("budget of latency 60 s: holds, ") != std::string::npos);
  const std::string json = lv::report<lv::format::json>(all);
  CHECK(json.find(
            "{\"parts\":[{\"name\":\"decode\",\"device\":\"cpu\",\"cost\":\"measured\",\"expected_seconds\":0.001,") !=
        std::string::npos);
  CHECK(json.find("\"costs_hold\":false,\"costs_of\":\"a test\",\"date\":\"2026-11-25\",") != std::string::npos);
}

TEST_CASE("what takes longer than promised is an exception where that is asked") {
  // The costs say three milliseconds, and the stages sleep for four.
  static constexpr lv::kernel_cost less[] = {{"callable", "decode(4 bytes) -> 4 bytes", 1e-3},
                                             {"callable", "detect(4 bytes) -> 4 bytes", 2e-3}};
  static constexpr lv::cost_table table{.machine = "a test", .kernels = less};
  const auto app = lv::deploy<box, lv::costs<table>, lv::budget<lv::latency<3_ms>>>(sleeps);
  const lv::verification all = app.verify(1, 4);
  REQUIRE(all.exceeded() != nullptr);
  CHECK(lv::report(all).find("budget of latency 3 ms: exceeded, ") != std::string::npos);
  CHECK_THROWS_AS(all.or_throw(), lv::budget_exceeded);
}

TEST_CASE("regions of different rates, sinks and devices are verified as others are") {
  static constexpr lv::kernel_cost rows[] = {{"callable", "model(16 bytes) -> 16 bytes", 2e-3},
                                             {"callable", "decode(4 bytes) -> 4 bytes", 2e-3},
                                             {"callable", "store(4 bytes)", 1e-3}};
  static constexpr lv::cost_table table{.machine = "a test", .kernels = rows};
  const auto batched = lv::deploy<box, lv::costs<table>, lv::budget<lv::latency<60_s>>>(
      lv::input<int, lv::every<10_ms>> | lv::stage<"decode">(slept) | lv::batch<4> |
      lv::stage<"model">([](const std::array<int, 4>& b) { return b; }) | lv::unbatch);
  const lv::verification of_batches = batched.verify([] { return 1; }, 8);
  REQUIRE(of_batches.parts.size() == 2);
  CHECK(of_batches.parts[1].name == "model");
  CHECK(of_batches.parts[0].measured >= 1.8e-3);
  CHECK(of_batches.latency.measured >= 30e-3);  // until a batch has come

  const auto stored = lv::deploy<box, lv::costs<table>, lv::budget<lv::latency<60_s>>>(
      lv::input<int> | lv::stage<"decode">(slept) | lv::sink<"store">([](const int&) {}));
  CHECK(stored.verify(1, 4).latency.measured >= 2e-3);

  using away = lv::target<lv::cpu<1>, lv::simulated<0>>;
  const auto there = lv::deploy<away, lv::costs<table>, lv::budget<lv::latency<60_s>>, lv::estimates_count>(
      lv::input<int> | lv::on<lv::simulated<0>>(lv::stage<"decode">(slept)));
  const lv::verification on_device = there.verify(1, 4);
  REQUIRE(!on_device.parts.empty());
  CHECK(on_device.parts[0].device == "simulated<0>");
}

}  // namespace run_verify
