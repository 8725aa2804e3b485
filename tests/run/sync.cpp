// SPDX-License-Identifier: Apache-2.0
// Streams joined by time: what meets is what an offline matcher finds in the whole recording, however the pushes interleave.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/sync.hpp>
#include <levada/levada.hpp>
#include <levada/run/virtual_clock.hpp>

namespace lv = levada;
using namespace lv::literals;

namespace {

using box = lv::target<lv::cpu<2>>;
using time_point = std::chrono::steady_clock::time_point;
using namespace std::chrono_literals;

struct sample {
  time_point when;
  double value;
};

/// A stream of that rate whose clock drifts and jitters, with an outage; each value is its time in seconds.
std::vector<sample> recorded(double hertz, double seconds, double drift, double jitter, unsigned seed, double from = -1,
                             double to = -1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> noise(-jitter, jitter);
  std::vector<sample> samples;
  double last = 0;
  for (int i = 0; i < static_cast<int>(hertz * seconds); ++i) {
    const double nominal = i / hertz * (1 + drift);
    const double t = std::max(last, nominal + noise(random));
    last = t;
    if (t >= from && t < to) continue;
    samples.push_back({time_point() + 1s + std::chrono::nanoseconds(static_cast<std::int64_t>(t * 1e9)), t});
  }
  return samples;
}

enum class way { nearest, held, between };

/// The same rule over whole recordings.
std::vector<std::pair<double, double>> offline(const std::vector<sample>& first, const std::vector<sample>& other,
                                               way how, std::chrono::nanoseconds tolerance) {
  std::vector<std::pair<double, double>> met;
  for (const sample& f : first) {
    const auto behind =
        std::lower_bound(other.begin(), other.end(), f.when, [](const sample& s, time_point t) { return s.when < t; });
    const bool exact = behind != other.end() && behind->when == f.when;
    const auto before = exact ? behind : behind == other.begin() ? other.end() : behind - 1;
    const auto since = before == other.end() ? std::chrono::nanoseconds::max() : f.when - before->when;
    const auto until = behind == other.end() ? std::chrono::nanoseconds::max() : behind->when - f.when;
    if (how == way::nearest && std::min(since, until) <= tolerance)
      met.emplace_back(f.value, since <= until ? before->value : behind->value);
    if (how == way::held && since <= tolerance) met.emplace_back(f.value, before->value);
    if (how == way::between && since <= tolerance && until <= tolerance)
      met.emplace_back(f.value, exact ? behind->value
                                      : before->value + (behind->value - before->value) *
                                                            (static_cast<double>(since.count()) /
                                                             static_cast<double>(since.count() + until.count())));
  }
  return met;
}

using met_pair = std::pair<double, double>;
const auto pair_up = [](const lv::named_items<lv::named_item<"frame", double>, lv::named_item<"imu", double>>& both) {
  return met_pair(both.get<"frame">(), both.get<"imu">());
};

enum class feeding { one_thread, two_threads };

template <feeding By, class Pipeline>
void check_against_offline(const Pipeline& pipeline, way how, bool outage_of_frames) {
  const auto frames = recorded(30, 10, 0.001, 0.004, 1, outage_of_frames ? 4.0 : -1, outage_of_frames ? 6.0 : -1);
  const auto imu = recorded(200, 10, 0, 0.002, 2, outage_of_frames ? -1 : 4.0, outage_of_frames ? -1 : 6.0);
  const auto expected = offline(frames, imu, how, 8ms);
  REQUIRE(expected.size() > 100);
  const auto app = lv::deploy<box>(pipeline);
  auto session = [&] {
    if constexpr (By == feeding::one_thread)
      return app.template open<lv::overflow<lv::drop_oldest>>();  // of the one that goes on while the other is silent
    else
      return app.open();
  }();
  std::vector<met_pair> met;
  std::jthread frame_feeder, imu_feeder, closer;
  if constexpr (By == feeding::two_threads) {
    frame_feeder = std::jthread([&] {
      for (const sample& f : frames) session.template push<"frame">(f.value, f.when);
    });
    imu_feeder = std::jthread([&] {
      for (const sample& s : imu) session.template push<"imu">(s.value, s.when);
    });
    closer = std::jthread([&] {
      frame_feeder.join();
      imu_feeder.join();
      session.close();
    });
  } else {  // frames come late
    std::size_t i = 0;
    const auto push_imu_until = [&](time_point when) {
      for (; i < imu.size() && imu[i].when <= when; ++i) session.template push<"imu">(imu[i].value, imu[i].when);
    };
    for (const sample& f : frames) {
      push_imu_until(f.when + 30ms);
      session.template push<"frame">(f.value, f.when);
      session.drain();
      while (auto r = session.try_pop()) met.push_back(**r);
    }
    push_imu_until(time_point::max());
    session.close();
  }
  while (auto r = session.pop()) met.push_back(**r);
  CHECK(met.size() == expected.size());
  CHECK(std::equal(met.begin(), met.end(), expected.begin(), expected.end(), [](const met_pair& a, const met_pair& b) {
    return a.first == b.first && std::abs(a.second - b.second) < 1e-12;
  }));
  const lv::item_counts counts = session.counts();
  CHECK(counts.pushed == frames.size());
  CHECK(counts.delivered == expected.size());
  CHECK(counts.dropped == frames.size() - expected.size());
}

}  // namespace

template <feeding By>
void check_all_ways() {
  for (const bool outage_of_frames : {false, true}) {
    CAPTURE(outage_of_frames);
    check_against_offline<By>(
        lv::sync_by_time<lv::tolerance<8_ms>>(lv::port<"frame", double>, lv::port<"imu", double>) |
            lv::stage<"pair">(pair_up),
        way::nearest, outage_of_frames);
    check_against_offline<By>(
        lv::sync_by_time<lv::tolerance<8_ms>>(lv::port<"frame", double>, lv::held(lv::port<"imu", double>)) |
            lv::stage<"pair">(pair_up),
        way::held, outage_of_frames);
    check_against_offline<By>(
        lv::sync_by_time<lv::tolerance<8_ms>>(lv::port<"frame", double>, lv::interpolated(lv::port<"imu", double>)) |
            lv::stage<"pair">(pair_up),
        way::between, outage_of_frames);
  }
}

TEST_CASE(
    "a recorded pair of 200 Hz and 30 frames a second, with drift, jitter and an outage of two seconds, as it came") {
  check_all_ways<feeding::one_thread>();
}
TEST_CASE("the same, each stream as fast as it can be read") { check_all_ways<feeding::two_threads>(); }

TEST_CASE("a port that gives nothing is waited for as long as it may stall, by the session's clock") {
  const auto app = lv::deploy<box>(lv::sync_by_time<lv::tolerance<20_ms>, lv::stall<100_ms>>(
                                       lv::port<"frame", double>, lv::held(lv::port<"imu", double>)) |
                                   lv::stage<"pair">(pair_up));
  lv::virtual_clock clock(time_point() + 1s);
  auto session = app.open(clock);
  session.push<"imu">(1.0);
  clock.advance(10ms);
  session.push<"frame">(2.0);
  CHECK(!session.try_pop());
  CHECK(session.counts().in_flight == 1);
  clock.advance(50ms);
  session.push<"frame">(3.0);  // 60 ms behind the last imu: no partner
  CHECK(!session.try_pop());
  clock.advance(60ms);
  session.push<"frame">(4.0);  // now the first has waited 110 ms
  CHECK(**session.pop() == met_pair(2.0, 1.0));
  CHECK_THROWS_WITH_AS(session.push<"frame">(5.0, time_point() + 1s),
                       "levada: push: an item of this port was captured later than this one", lv::error);
  session.close();
  CHECK(!session.pop());
  CHECK(session.counts().dropped == 2);
  CHECK_THROWS_AS(session.push<"imu">(1.0), lv::cancelled);
}

TEST_CASE("more items meet than there are slots, and none is lost; graphs take the ports by their names") {
  const auto app = lv::deploy<box, lv::slots<2>>(
      lv::sync_by_time<lv::tolerance<1_ms>>(lv::port<"a", int>, lv::port<"b", std::vector<int>>) |
      lv::graph(lv::port<"a", int>, lv::port<"b", std::vector<int>>,
                lv::node<"size", "b">(lv::stage<"size">(+[](const std::vector<int>& v) { return v.size(); })),
                lv::node<"sum", "a", "size">(
                    lv::join<"sum">(+[](const int& a, const std::size_t& n) { return a + static_cast<int>(n); })),
                lv::output<"y", "sum">));
  auto session = app.open();
  for (int i = 0; i < 100; ++i) {
    const time_point at = time_point() + 1s + std::chrono::milliseconds(10 * i);
    session.push<"a">(i, at);
    session.push<"b">(std::vector<int>(static_cast<std::size_t>(i % 7)), at);
  }
  session.close();
  for (int i = 0; i < 100; ++i) CHECK(**session.pop() == i + i % 7);
  CHECK(!session.pop());
}
