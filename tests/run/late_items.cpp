// SPDX-License-Identifier: Apache-2.0
// Sessions of deployments that promise their latency count the items that took longer, each where it spent most. Times
// are made up, or of a virtual clock.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/batch.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/detail/measure/late_watch.hpp>
#include <levada/run/detail/measure/statistics_report.hpp>
#include <levada/run/detail/program/virtual_clock.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/prometheus.hpp>
#include <levada/run/promises.hpp>

namespace run_late_items {

namespace lv = levada;
using namespace levada::literals;
using namespace std::chrono_literals;

using box = lv::target<lv::cpu<2>>;

std::vector<lv::late_item> heard;
void hear(const lv::late_item& item) noexcept { heard.push_back(item); }

/// Two stages, the second of which a device may compute; four slots.
struct watched {
  lv::detail::program code;
  lv::detail::meter by;
  lv::detail::late_watch watch;

  watched() : code(two_stages()), by(code), watch({10us, &hear, nullptr}, code, by) { heard.clear(); }
  static lv::detail::program two_stages() {
    lv::detail::program code;
    code.units = lv::detail::fixed_array<lv::detail::program_unit>(2);
    code.units[0].name = "decode";
    code.units[1].name = "detect";
    code.segments = lv::detail::fixed_array<lv::detail::program_segment>(2);
    code.segments[1].first = 1;
    code.slots = 4;
    return code;
  }
  lv::session_statistics statistics() const {
    lv::session_statistics all;
    all.stages.resize(2);
    watch.write_to(all);
    return all;
  }
};

TEST_CASE("a late item spent most at a stage or before it, or until it was popped") {
  watched w;
  for (std::uint64_t i = 0; i < 4; ++i) w.watch.begun(i, 1'000);
  w.watch.ran(0, 0, 1, 3'000);
  w.watch.ran(0, 1, 1, 3'000);
  w.watch.ran(1, 0, 1, 10'000);
  w.watch.ran(1, 1, 1, 12'000);  // it stood behind its neighbour, too
  w.watch.begun(1, 1'000);       // its next segment
  for (std::uint64_t i = 2; i < 4; ++i) w.watch.ran(0, i, 1, 20'000);
  for (std::uint64_t i = 2; i < 4; ++i) w.watch.ran(1, i, 1, 21'000);
  w.watch.left(1, 1'000, 11'500, 12'500);
  w.watch.left(2, 1'000, 21'000, 22'000);
  w.watch.left(3, 1'000, 49'000, 50'000);
  REQUIRE(heard.size() == 3);
  CHECK(heard[0].sequence == 1);
  CHECK(heard[0].age == 11'500ns);
  CHECK(heard[0].most == 10us);
  CHECK(heard[0].stage == "detect");
  CHECK(heard[1].stage == "decode");
  CHECK(heard[2].stage.empty());  // nobody popped it
  const lv::session_statistics all = w.statistics();
  CHECK(all.late == 3);
  CHECK(all.latency_budget == 10'000);
  CHECK(all.stages[0].late == 1);
  CHECK(all.stages[1].late == 1);
}

TEST_CASE("a slot forgets the item before, other clocks know no stage behind") {
  watched w;
  w.watch.begun(0, 1'000);
  w.watch.ran(0, 0, 1, 90'000);
  w.watch.left(0, 1'000, 90'000, 91'000);
  w.watch.begun(4, 100'000);
  w.watch.ran(0, 4, 1, 101'000);
  w.watch.ran(1, 4, 1, 120'000);
  w.watch.left(4, 100'000, 20'500, 120'500);
  w.watch.left(5, 200'000, 30'000, 0);  // in no timed grain
  // It came to this region late.
  w.watch.begun(6, 300'000);
  w.watch.ran(1, 6, 1, 310'000);
  w.watch.left(6, 300'000, 900'000, 311'000);
  REQUIRE(heard.size() == 4);
  CHECK(heard[0].stage == "decode");
  CHECK(heard[1].stage == "detect");
  CHECK(heard[2].stage.empty());
  CHECK(heard[3].stage.empty());
}

constexpr lv::kernel_cost rows[] = {{"callable", "decode(4 bytes) -> 4 bytes", 1e-3, 0, 2e-3},
                                    {"callable", "model(16 bytes) -> 16 bytes", 1e-3}};
constexpr lv::cost_table costs{.machine = "a test", .kernels = rows};

lv::virtual_clock passing;
/// Every tenth item takes ten milliseconds.
constexpr auto decode = [](const int& i) {
  if (i % 10 == 0) passing.advance(10ms);
  return i;
};

TEST_CASE("items over the budget of latency are counted, told, and a series") {
  heard.clear();
  const auto app =
      lv::deploy<box, lv::costs<costs>, lv::budget<lv::latency<3_ms>, lv::latency<5_ms, lv::quantile::p95>>,
                 lv::estimates_count>(lv::input<int> | lv::stage<"decode">(decode));
  auto session = app.open<lv::on_late<&hear>>(passing);
  for (int i = 0; i < 100; ++i) {
    session.push(i);
    session.pop()->value();
  }
  CHECK(heard.size() == 10);
  for (const lv::late_item& item : heard) {
    CHECK(item.sequence % 10 == 0);
    CHECK(item.age == 10ms);
    CHECK(item.most == 5ms);  // the largest of its budgets
  }
  const lv::session_statistics all = session.statistics();
  CHECK(all.late == 10);
  CHECK(all.stages[0].late <= 10);
  CHECK(lv::report(all).find("\nlate              10 above 5.0 ms") != std::string::npos);
  const std::string page = lv::prometheus_text(all);
  CHECK(page.find("\nlevada_late_items_total 10\n") != std::string::npos);
  CHECK(page.find("\nlevada_stage_late_items_total{stage=\"decode\",position=\"0\"} ") != std::string::npos);
}

TEST_CASE("items that may follow each other within microseconds are watched where that is asked") {
  static constexpr lv::kernel_cost fast[] = {{"callable", "decode(4 bytes) -> 4 bytes", 1e-6}};
  static constexpr lv::cost_table table{.machine = "a test", .kernels = fast};
  constexpr auto line = lv::input<int> | lv::stage<"decode">(decode);
  const auto app = lv::deploy<box, lv::costs<table>, lv::budget<lv::latency<3_ms>>>(line);
  CHECK(app.open().statistics().latency_budget == 0);
  CHECK(app.open<lv::on_late<&hear>>().statistics().latency_budget == 3'000'000);
  const auto paced = lv::deploy<box, lv::costs<table>, lv::budget<lv::latency<3_ms>>>(lv::input<int, lv::every<33_ms>> |
                                                                                      lv::stage<"decode">(decode));
  CHECK(paced.open().statistics().latency_budget == 3'000'000);
}

TEST_CASE("where the rate changes an item is late by its whole way") {
  heard.clear();
  const auto app = lv::deploy<box, lv::costs<costs>, lv::budget<lv::latency<60_ms>>>(
      lv::input<int, lv::every<10_ms>> | lv::stage<"decode">(decode) | lv::batch<4> |
      lv::stage<"model">([](const std::array<int, 4>& b) { return b; }));
  auto session = app.open<lv::on_late<&hear>>(passing);
  for (int i = 1; i <= 8; ++i) {
    session.push(i);
    if (i % 4 != 0) continue;
    passing.advance(i == 4 ? 61ms : 59ms);
    session.pop()->value();
  }
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].age == 61ms);
}

TEST_CASE("nothing is counted where no latency is promised") {
  const auto app = lv::deploy<box, lv::costs<costs>, lv::budget<lv::interval<50_ms>>, lv::estimates_count>(
      lv::input<int> | lv::stage<"decode">(decode));
  auto session = app.open(passing);
  session.push(10);
  session.pop()->value();
  const lv::session_statistics all = session.statistics();
  CHECK(all.latency_budget == 0);
  CHECK(all.stages[0].time.count == 0);  // nor measured
  CHECK(lv::prometheus_text(all).find("late_items") == std::string::npos);
  CHECK(lv::report(all).find("late") == std::string::npos);
}

}  // namespace run_late_items
