// SPDX-License-Identifier: Apache-2.0
// Deployments that promise times and keep them by their costs. Those that do not are in must_not_compile.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/feedback.hpp>
#include <levada/graph/sync.hpp>
#include <levada/interop/report.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/detail/program/virtual_clock.hpp>
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

// ---- paces ----

template <class Pipeline>
constexpr const lv::detail::head_paces& paces_in = lv::detail::paces_of<std::remove_const_t<Pipeline>>::value;

TEST_CASE("a pipeline says at its head when its items come, each port for itself") {
  constexpr auto line = lv::input<int, lv::every<33_ms>> | lv::stage<"decode">(plus_one);
  static_assert(paces_in<decltype(line)>.ports[0].pace == 33'000'000);
  static_assert(!paces_in<decltype(chain)>.are_said());
  auto source =
      lv::source<"camera", lv::every<33_ms>>([n = 0]() mutable { return n < 5 ? std::optional(n++) : std::nullopt; }) |
      lv::stage<"decode">(plus_one);
  static_assert(paces_in<decltype(source)>.ports[0].pace == 33'000'000);
  auto filmed = lv::deploy<box, lv::costs<measured>>(std::move(source));
  int sum = 0;
  for (auto&& r : filmed.stream()) sum += r.value();
  CHECK(sum == 15);
  CHECK(lv::report(filmed).find("an item every 33 ms\n") != std::string::npos);
  constexpr auto two = lv::graph(lv::port<"left", int, lv::every<20_ms>>, lv::port<"right", int>,
                                 lv::node<"both", "left", "right">([](const int& l, const int& r) { return l + r; }),
                                 lv::output<"sum", "both">);
  static_assert(paces_in<decltype(two)>.ports.size() == 2);
  static_assert(paces_in<decltype(two)>.ports[0].pace == 20'000'000);
  static_assert(paces_in<decltype(two)>.ports[1].pace == 0);
  static_assert(lv::detail::arrival_of(paces_in<decltype(two)>).pace == 20e-3);
  constexpr auto met = lv::sync_by_time<lv::tolerance<20_ms>, lv::stall<50_ms>>(
                           lv::port<"frame", int, lv::every<33_ms>>, lv::held(lv::port<"state", int, lv::every<10_ms>>),
                           lv::interpolated(lv::port<"gyro", float>)) |
                       lv::stage<"fuse">([](const auto& in) { return in.template get<"state">(); });
  constexpr auto& paces = paces_in<decltype(met)>;
  static_assert(paces.ports[0].name == "frame" && paces.ports[1].name == "state" && paces.ports[2].name == "gyro");
  static_assert(paces.ports[1].pace == 10'000'000 && paces.ports[1].how == lv::detail::meeting::held);
  static_assert(paces.meet_by_time() && paces.ports[2].pace == 0);
  // Until the gyro is given up, of whose items nobody said when they come.
  constexpr lv::item_arrival arrival = lv::detail::arrival_of(paces);
  static_assert(arrival.pace == 33e-3 && arrival.waits == 50e-3 && arrival.waits_for.empty());
}

TEST_CASE("the tolerance that paces need is that of clocks which stand as well as they can") {
  using lv::detail::meeting;
  const auto needed = [](std::int64_t first, std::int64_t other, meeting how) {
    return lv::detail::tolerance_to_meet(first, {"other", other, how});
  };
  for (std::int64_t first = 1; first <= 40; ++first)
    for (std::int64_t other = 1; other <= 40; ++other)
      for (const meeting how : {meeting::nearest, meeting::held, meeting::between}) {
        // In halves, since a clock may stand between two ticks of the other.
        std::int64_t least = 4 * other;
        for (std::int64_t phase = 0; phase < 2 * other; ++phase) {
          std::int64_t most = 0;
          for (std::int64_t k = 0; k < other; ++k) {
            const std::int64_t since = (2 * k * first + phase) % (2 * other),
                               until = since == 0 ? 0 : 2 * other - since;
            most = std::max(most, how == meeting::nearest ? std::min(since, until)
                                  : how == meeting::held  ? since
                                                          : std::max(since, until));
          }
          least = std::min(least, most);
        }
        CHECK(needed(first, other, how) == (least + 1) / 2);
      }
}

TEST_CASE("a pace says when items that wait for later ones go on") {
  constexpr auto batched = lv::input<int, lv::every<10_ms>> | lv::batch<4> |
                           lv::stage<"model">([](const std::array<int, 4>& b) { return b; }) | lv::unbatch;
  const auto app = lv::deploy<box, lv::costs<measured>, lv::budget<lv::latency<60_ms>>>(batched);
  using timing = time_of<std::remove_const_t<decltype(batched)>, box, lv::costs<measured>>;
  CHECK(timing::time<lv::quantile::median>.waiting == doctest::Approx(30e-3));
  const std::string text = lv::report(app);
  CHECK(text.find("an item every 10 ms\n"
                  "budget of latency 60 ms, expected 42 ms\n"
                  "latency 42 ms, 30 ms of it for later items; most at model, 12 ms\n"
                  "a result every 10 ms; loads at this pace:\n"
                  "  cpu: 15 %, 3 ms on 2 workers\n") != std::string::npos);
  CHECK(text.find("costs of a test, 2026-11-25, measured\n") != std::string::npos);
}

TEST_CASE("a deployment that drops opens its sessions so, and its report says what share") {
  constexpr auto fast = lv::input<int, lv::every<4_ms>> | lv::stage<"decode">(plus_one) |
                        lv::stage<"detect">(plus_one) | lv::stage<"track">(lv::serial(plus_one));
  const auto app = lv::deploy<box, lv::costs<measured>, lv::overflow<lv::drop_newest>, lv::slots<2>>(fast);
  auto session = app.open();
  for (int i = 0; i < 9; ++i) session.push(i);
  session.close();
  while (session.pop()) {
  }
  CHECK(session.counts().pushed == 9);
  CHECK(session.counts().dropped > 0);
  const std::string json = lv::report<lv::format::json>(app);
  CHECK(json.find("\"promises\":{\"pace_seconds\":0.004,\"drops\":true,") != std::string::npos);
  CHECK(lv::report(app).find("dropped, since items come faster: 33.3 %\n") != std::string::npos);
}

/// A clock that passes as stages work; no stage begins before the items that are due have come.
struct work_done {
  static constexpr std::int64_t never = std::int64_t{1} << 62;
  lv::virtual_clock clock;
  std::atomic<std::int64_t> due{never};
  std::atomic<int> decoded{0}, tracked{0};

  std::int64_t now() const { return std::chrono::nanoseconds(clock.now().time_since_epoch()).count(); }
  void work(std::chrono::milliseconds time) {
    while (due <= now()) std::this_thread::yield();
    clock.advance(time);
  }
};

/// Items that come when the clock says so, which is set forward where nothing is at work.
template <class Session>
lv::item_counts run_by(work_done& work, Session& session, std::chrono::nanoseconds pace, int items) {
  const std::int64_t begin = work.now();
  const int decoded = work.decoded, tracked = work.tracked;
  int taken = 0;
  for (int i = 0; i < items; ++i) {
    work.due = begin + i * pace.count();
    while (work.now() < work.due) {
      while (session.try_pop()) {
      }
      if (work.decoded - decoded == taken && work.tracked - tracked == taken / 4 * 4)
        work.clock.advance_to(lv::virtual_clock::time_point(std::chrono::nanoseconds(work.due)));
      else
        std::this_thread::yield();
    }
    while (session.try_pop()) {
    }
    taken += session.push(i) ? 1 : 0;
  }
  work.due = work_done::never;
  session.close();
  while (session.pop()) {
  }
  return session.counts();
}

TEST_CASE("at its pace a session drops nothing; a fifth faster than the bottleneck it drops what the plan says") {
  static work_done work;
  using namespace std::chrono_literals;
  using one = lv::target<lv::cpu<1>>;
  const auto stages = [](auto input) {
    return input | lv::stage<"decode">([](const int& i) {
             work.work(3ms);
             ++work.decoded;
             return i;
           }) |
           lv::batch<4> | lv::stage<"model">([](const std::array<int, 4>& b) {
             work.work(12ms);
             return b;
           }) |
           lv::unbatch | lv::stage<"track">(lv::serial([](const int& i) {
             work.work(2ms);
             ++work.tracked;
             return i;
           }));
  };
  // 3 + 12 / 4 + 2 milliseconds an item.
  const auto kept = lv::deploy<one, lv::costs<measured>, lv::slots<32>>(stages(lv::input<int, lv::every<8500_us>>));
  auto session = kept.open<lv::overflow<lv::drop_newest>, lv::dedicated>(work.clock);
  CHECK(run_by(work, session, 8500us, 4000).dropped == 0);

  const auto forced = lv::deploy<one, lv::costs<measured>, lv::slots<32>, lv::overflow<lv::drop_newest>>(
      stages(lv::input<int, lv::every<6400_us>>));
  auto overrun = forced.open<lv::dedicated>(work.clock);
  const lv::item_counts counts = run_by(work, overrun, 6400us, 4000);
  CHECK(static_cast<double>(counts.dropped) / 4000 == doctest::Approx(0.2).epsilon(0.1));
}

}  // namespace run_promises
