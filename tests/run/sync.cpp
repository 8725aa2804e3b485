// SPDX-License-Identifier: Apache-2.0
// Streams joined by time: what meets is what an offline matcher finds in the whole recording, however the pushes
// interleave.

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/sync.hpp>
#include <levada/levada.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/detail/program/virtual_clock.hpp>
#include <levada/run/event_session.hpp>

#include "items.hpp"
#include "overflow_race.hpp"
#include "progress.hpp"

namespace run_sync {

namespace lv = levada;
using namespace lv::literals;

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

auto stalling() {
  return lv::sync_by_time<lv::tolerance<20_ms>, lv::stall<100_ms>>(lv::port<"frame", double>,
                                                                   lv::held(lv::port<"imu", double>)) |
         lv::stage<"pair">(pair_up);
}

/// A frame that waits for an imu which gives nothing more.
template <class Session>
void push_one_that_waits(Session& session) {
  session.template push<"imu">(1.0, session.now() - 1ms);
  session.template push<"frame">(2.0);
}

TEST_CASE("who waits in pop gets what a port that gives nothing has held up, though nobody pushes any more") {
  const auto app = lv::deploy<box>(stalling());
  const auto check = [](auto session) {
    std::atomic<bool> has_popped{false};
    std::optional<met_pair> met;
    std::jthread popper([&] {
      if (auto r = session.pop()) met = **r;
      has_popped = true;
    });
    push_one_that_waits(session);
    CHECK(session.due());
    CHECK(lv::test::eventually([&] { return has_popped.load(); }));
    session.cancel();
    popper.join();
    CHECK(met == met_pair(2.0, 1.0));
    CHECK(!session.due());
  };
  SUBCASE("a usual session") { check(app.open()); }
  SUBCASE("dedicated") { check(app.open<lv::dedicated>()); }
  SUBCASE("realtime") { check(app.open<lv::realtime>()); }
}

TEST_CASE("drain waits for what a port that gives nothing holds up; with a clock, as far as that has come") {
  const auto app = lv::deploy<box>(stalling());
  SUBCASE("the machine's") {
    auto session = app.open();
    push_one_that_waits(session);
    session.drain();
    CHECK(session.try_pop());
  }
  const auto check = [](auto& session, lv::virtual_clock& clock) {
    const time_point begin = clock.now();
    CHECK(!session.due());
    push_one_that_waits(session);
    clock.advance(10ms);
    session.template push<"frame">(3.0);
    CHECK(session.due() == begin + 100ms);
    clock.advance_to(begin + 100ms - 1ns);
    session.drain();
    CHECK(!session.try_pop());
    clock.advance_to(*session.due());
    session.drain();
    CHECK(**session.try_pop() == met_pair(2.0, 1.0));
    CHECK(!session.try_pop());
    CHECK(session.due() == begin + 110ms);
    clock.advance_to(*session.due());
    session.drain();
    CHECK(!session.due());
    CHECK(**session.try_pop() == met_pair(3.0, 1.0));
    CHECK(session.counts().in_flight == 0);
  };
  lv::virtual_clock clock(time_point() + 1s);
  SUBCASE("one's own") {
    auto session = app.open(clock);
    check(session, clock);
  }
  SUBCASE("one's own, and a worker of its own") {
    auto session = app.open<lv::dedicated>(clock);
    check(session, clock);
  }
}

TEST_CASE("drain does not wait for what finds no room before results are popped") {
  const auto app = lv::deploy<box, lv::slots<1>>(stalling());
  auto session = app.open();
  for (int i = 0; i < 3; ++i) {
    push_one_that_waits(session);
    session.push<"frame">(3.0);
  }
  session.drain();
  CHECK(!session.due());
  for (int i = 0; i < 6; ++i) {
    session.drain();
    CHECK(session.try_pop());
  }
  CHECK(session.counts().in_flight == 0);
}

TEST_CASE("a port that blocks goes on when what waits before it has stalled, though only this thread pushes") {
  const auto app = lv::deploy<box>(
      lv::sync_by_time<lv::tolerance<0_ms>, lv::stall<4_s>>(lv::port<"frame", double>, lv::port<"imu", double>) |
      lv::stage<"pair">(pair_up));
  auto session = app.open();
  for (int i = 0; i < 257; ++i) CHECK(session.push<"frame">(1.0));
  CHECK(session.counts().pushed == 257);
  CHECK(session.counts().dropped > 0);
}

TEST_CASE("threads of the session's own let in what a port that gives nothing has held up") {
  const auto app = lv::deploy<box>(stalling());
  std::atomic<int> handed{0};
  const auto f = [&](lv::result<met_pair&> r) { handed += *r == met_pair(2.0, 1.0); };
  const auto by_clock_of_machine = [&](auto session) {
    push_one_that_waits(session);
    lv::callback_session called(std::move(session), f);
    CHECK(lv::test::eventually([&] { return handed == 1; }));
  };
  SUBCASE("callbacks") { by_clock_of_machine(app.open()); }
  SUBCASE("callbacks, dedicated") { by_clock_of_machine(app.open<lv::dedicated>()); }
  SUBCASE("callbacks, drained") {
    auto session = app.open();
    push_one_that_waits(session);
    lv::callback_session called(std::move(session), f);
    called.drain();
    CHECK(handed == 1);
  }
  SUBCASE("callbacks by a clock of one's own") {
    lv::virtual_clock clock(time_point() + 1s);
    auto session = app.open(clock);
    push_one_that_waits(session);
    lv::callback_session called(std::move(session), f);
    called.drain();
    CHECK(handed == 0);
    clock.advance(100ms);
    SUBCASE("drained") {
      called.drain();
      CHECK(handed == 1);
    }
    CHECK(lv::test::eventually([&] { return handed == 1; }));
  }
  SUBCASE("an event descriptor") {
    auto session = app.open();
    push_one_that_waits(session);
    lv::event_session events(std::move(session));
    pollfd of{events.descriptor(), POLLIN, 0};
    REQUIRE(::poll(&of, 1, 10'000) == 1);
    CHECK(**events.try_pop() == met_pair(2.0, 1.0));
  }
  SUBCASE("the worker of a dedicated session, before a sink") {
    const auto sink = lv::deploy<box>(stalling() | lv::stage<"hand">([&](const met_pair&) { ++handed; }));
    auto session = sink.open<lv::dedicated>();
    push_one_that_waits(session);
    CHECK(lv::test::eventually([&] { return handed == 1; }));
  }
}

TEST_CASE("callbacks of more items than there are slots, which were pushed before") {
  const auto app = lv::deploy<box, lv::slots<2>>(
      lv::sync_by_time<lv::tolerance<1_ms>>(lv::port<"frame", double>, lv::port<"imu", double>) |
      lv::stage<"pair">(pair_up));
  auto session = app.open();
  for (int i = 0; i < 50; ++i) {
    const time_point at = time_point() + 1s + std::chrono::milliseconds(10 * i);
    session.push<"frame">(i, at);
    session.push<"imu">(i, at);
  }
  session.close();
  std::atomic<int> handed{0};
  lv::callback_session called(std::move(session), [&](lv::result<met_pair&> r) { handed += r->first == handed; });
  CHECK(lv::test::eventually([&] { return handed == 50 && called.is_over(); }));
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

// ---- what a port does when it is full ----

using lv::test::check_account;
using frame = lv::test::tracked<0>;
using reading = lv::test::tracked<1>;
using frame_and_reading = lv::named_items<lv::named_item<"frame", frame>, lv::named_item<"imu", reading>>;
constexpr int ring = 256;

/// The `i`-th frame and the `i`-th reading are captured at once.
time_point captured(int i) { return time_point() + 1s + std::chrono::milliseconds(i); }

const auto values = [](const frame_and_reading& both) {
  return std::pair(both.get<"frame">().checked(), both.get<"imu">().checked());
};

auto tracked_pairs() {
  return lv::deploy<box>(lv::sync_by_time<lv::tolerance<0_ms>>(lv::port<"frame", frame>, lv::port<"imu", reading>) |
                         lv::stage<"values">(values));
}

/// Those from `begin` to `end`, without it.
std::vector<int> numbers(int begin, int end) {
  std::vector<int> all(static_cast<std::size_t>(end - begin));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

/// The frames that met, each the reading of its own time.
template <class Session>
std::vector<int> met_frames(Session& session) {
  std::vector<int> met;
  while (auto r = session.pop()) {
    CHECK((*r)->first == (*r)->second);
    met.push_back((*r)->first);
  }
  return met;
}

/// What is left of 300 that come to a ring of 256 before any partner: which are still there, and what push says of
/// each.
struct of_full {
  lv::overflow_policy policy;
  std::vector<int> kept;
  bool takes_more, counts_more;
};
const of_full rejecting{lv::reject, numbers(0, ring), false, false};
const of_full oldest{lv::drop_oldest, numbers(300 - ring, 300), true, true};
const of_full newest{lv::drop_newest, numbers(0, ring), false, true};

template <lv::fixed_string Port, class Session, class Item>
void push_300(Session& session, Item, bool takes_more) {
  for (int i = 0; i < 300; ++i)
    CHECK((i % 2 != 0 ? session.template push<Port>(Item(i), captured(i))
                      : session.template try_push<Port>(Item(i), captured(i))) == (i < ring || takes_more));
}

/// The other port is not asked: it blocks, and has room.
template <class... Options>
void check_full_frames(const of_full& expected) {
  const lv::test::nothing_leaks guard;
  auto session = tracked_pairs().template open<Options...>();
  push_300<"frame">(session, frame(), expected.takes_more);
  const std::uint64_t pushed = expected.counts_more ? 300 : ring;
  CHECK(session.counts().pushed == pushed);
  CHECK(session.counts().in_flight == ring);
  CHECK(session.counts().dropped == pushed - ring);
  std::vector<int> met;
  std::jthread readings([&] {
    for (int i = 0; i < 300; ++i) CHECK(session.template push<"imu">(reading(i), captured(i)));
    session.close();
  });
  CHECK(met_frames(session) == expected.kept);
  readings.join();
  CHECK(session.counts().pushed == pushed);
  CHECK(session.counts().delivered == ring);
  check_account(session.counts());
}

template <class... Options>
void check_full_readings(const of_full& expected) {
  const lv::test::nothing_leaks guard;
  auto session = tracked_pairs().template open<Options...>();
  push_300<"imu">(session, reading(), expected.takes_more);
  CHECK(session.counts().pushed == 0);
  std::jthread frames([&] {
    for (int i = 0; i < 300; ++i) CHECK(session.template push<"frame">(frame(i), captured(i)));
    session.close();
  });
  CHECK(met_frames(session) == expected.kept);
  frames.join();
  CHECK(session.counts().pushed == 300);
  CHECK(session.counts().dropped == 300 - ring);
  check_account(session.counts());
}

TEST_CASE("a full port rejects, or drops its oldest or its newest, whatever the session does and the other port") {
  SUBCASE("frames") {
    check_full_frames<lv::overflow<lv::reject, "frame">>(rejecting);
    check_full_frames<lv::overflow<lv::drop_oldest, "frame">>(oldest);
    check_full_frames<lv::overflow<lv::drop_newest, "frame">>(newest);
  }
  SUBCASE("readings") {
    check_full_readings<lv::overflow<lv::reject, "imu">>(rejecting);
    check_full_readings<lv::overflow<lv::drop_oldest, "imu">>(oldest);
    check_full_readings<lv::overflow<lv::drop_newest, "imu">>(newest);
  }
  SUBCASE("the port says otherwise than the session, before it or behind it") {
    check_full_frames<lv::overflow<lv::drop_oldest, "frame">, lv::overflow<lv::block>>(oldest);
    check_full_frames<lv::overflow<lv::drop_oldest>, lv::overflow<lv::block, "imu">>(oldest);
    check_full_frames<lv::overflow<lv::block, "imu">, lv::overflow<lv::drop_newest, "frame">>(newest);
    check_full_readings<lv::overflow<lv::drop_newest>, lv::overflow<lv::block, "frame">>(newest);
  }
  SUBCASE("one option for several") {
    auto session = tracked_pairs().open<lv::overflow<lv::reject, "imu", "frame">>();
    push_300<"frame">(session, frame(), false);
    CHECK(session.push<"imu">(reading(0), captured(-500)));
    CHECK(session.counts().in_flight == ring);
  }
}

TEST_CASE("a full port that blocks waits for a partner, or throws where only this thread ever pushed") {
  const lv::test::nothing_leaks guard;
  auto session = tracked_pairs().open<lv::overflow<lv::drop_oldest>, lv::overflow<lv::block, "frame">>();
  for (int i = 0; i < ring; ++i) CHECK(session.push<"frame">(frame(i), captured(i)));
  CHECK(!session.try_push<"frame">(frame(ring), captured(ring)));
  CHECK_THROWS_WITH_AS(session.push<"frame">(frame(ring), captured(ring)),
                       "levada: push: this port is full, and only this thread has ever pushed to the others",
                       lv::error);
  CHECK(session.counts().pushed == ring);
  std::jthread readings([&] {
    for (int i = 0; i < 300; ++i) CHECK(session.push<"imu">(reading(i), captured(i)));
  });
  CHECK(session.push<"frame">(frame(ring), captured(ring)));
  readings.join();
  session.close();
  CHECK(met_frames(session) == numbers(0, ring + 1));
  check_account(session.counts());
}

TEST_CASE("a port that waits goes on when its items lost their use to an item that has no partner yet") {
  for (int round = 0; round < 20; ++round) {
    auto session = tracked_pairs().open();
    std::atomic<int> pushed{0};
    session.push<"frame">(frame(0), captured(0));
    std::jthread readings([&] {
      for (int i = 0; i <= 600; ++i, ++pushed) session.push<"imu">(reading(i), captured(i));
    });
    CHECK((*session.pop())->first == 0);
    while (pushed < ring) std::this_thread::yield();
    std::this_thread::sleep_for(1ms);  // it waits
    std::jthread frames([&] { session.push<"frame">(frame(600), captured(600)); });
    CHECK((*session.pop())->first == 600);
  }
}

TEST_CASE("a slow imu beside a fast camera: the camera drops its oldest, the imu blocks and loses nothing") {
  constexpr int frames = 20'000, every = 10;
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box, lv::slots<4>>(
      lv::sync_by_time<lv::tolerance<5_ms>>(lv::port<"frame", frame>, lv::port<"imu", reading>) |
      lv::stage<"values">(values));
  auto session = app.open<lv::overflow<lv::drop_oldest, "frame">, lv::overflow<lv::block, "imu">>();
  std::atomic<int> shown{0};
  std::jthread camera([&] {
    for (int i = 0; i < frames; ++i, ++shown) CHECK(session.push<"frame">(frame(i), captured(i)));
  });
  std::jthread imu([&] {
    for (int i = 0; i < frames; i += every) {
      while (shown < std::min(frames, i + 2 * ring)) std::this_thread::yield();  // always behind
      CHECK(session.push<"imu">(reading(i), captured(i)));
    }
    camera.join();
    session.close();
  });
  int last = -1;
  std::uint64_t met = 0;
  for (; auto r = session.pop(); ++met) {
    const auto [shot, read] = **r;
    CHECK(shot > last);
    CHECK(std::abs(shot - read) <= 5);
    last = shot;
  }
  imu.join();
  const lv::item_counts counts = session.counts();
  CHECK(counts.pushed == frames);
  CHECK(counts.delivered == met);
  CHECK(counts.dropped == frames - met);
  CHECK(met < frames - ring);
  CHECK(last >= frames - every);
  check_account(counts);
}

struct tries {
  std::uint64_t all = 0, taken = 0;
};

/// Pushes as fast as it goes, and then, until it is taken, a last item that lets all others go.
template <lv::fixed_string Port, class Item, class Session>
tries race_to(Session& session, int count) {
  tries of;
  for (int i = 0; i < count; ++i, ++of.all) {
    of.taken += i % 3 == 2 ? session.template try_push<Port>(Item(i), captured(i))
                           : session.template push<Port>(Item(i), captured(i));
    if (i % 64 == 0) std::this_thread::yield();
  }
  for (bool is_taken = false; !is_taken; of.taken += is_taken, ++of.all)
    is_taken = session.template push<Port>(Item(count), captured(2 * count));
  return of;
}

/// Three ports, a thread for each, and one that pops.
template <lv::overflow_policy Frame, lv::overflow_policy Imu>
void race_of_ports() {
  using depth = lv::test::tracked<2>;
  using three =
      lv::named_items<lv::named_item<"frame", frame>, lv::named_item<"imu", reading>, lv::named_item<"depth", depth>>;
  constexpr int count = 5000;
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box, lv::slots<4>>(
      lv::sync_by_time<lv::tolerance<2_ms>>(lv::port<"frame", frame>, lv::port<"imu", reading>,
                                            lv::held(lv::port<"depth", depth>)) |
      lv::stage<"near">([](const three& in) {
        const int at = in.get<"frame">().checked(), since = at - in.get<"depth">().checked();
        return std::abs(at - in.get<"imu">().checked()) <= 2 && since >= 0 && since <= 2 ? at : -1;
      }));
  auto session = app.template open<lv::overflow<Frame, "frame">, lv::overflow<Imu, "imu">>();
  tries of_frames;
  std::jthread closer([&] {
    std::jthread depths([&] { race_to<"depth", depth>(session, count); });
    std::jthread readings([&] { race_to<"imu", reading>(session, count); });
    std::jthread frames([&] { of_frames = race_to<"frame", frame>(session, count); });
    frames.join(), readings.join(), depths.join();
    session.close();
  });
  int last = -1, wrong = 0;
  std::uint64_t met = 0;
  for (; auto r = session.pop(); ++met) {
    wrong += **r <= last;
    last = **r;
  }
  closer.join();
  CHECK(wrong == 0);
  const lv::item_counts counts = session.counts();
  CHECK(counts.pushed == (lv::detail::drops(Frame) ? of_frames.all : of_frames.taken));
  CHECK(counts.delivered == met);
  check_account(counts);
}

TEST_CASE("three ports, each pushed to by a thread that is too fast: every item of the first is accounted for") {
  SUBCASE("block") { race_of_ports<lv::block, lv::block>(); }
  SUBCASE("block, drop_oldest") { race_of_ports<lv::block, lv::drop_oldest>(); }
  SUBCASE("reject, block") { race_of_ports<lv::reject, lv::block>(); }
  SUBCASE("drop_oldest, block") { race_of_ports<lv::drop_oldest, lv::block>(); }
  SUBCASE("drop_oldest") { race_of_ports<lv::drop_oldest, lv::drop_oldest>(); }
  SUBCASE("drop_newest, block") { race_of_ports<lv::drop_newest, lv::block>(); }
}

TEST_CASE("closed or cancelled with items in full rings: each is counted, and who waits for room hears of it") {
  const lv::test::nothing_leaks guard;
  std::atomic<bool> told{false};
  auto session = tracked_pairs().open<lv::overflow<lv::drop_newest, "imu">>();
  for (int i = 0; i < 300; ++i) session.push<"imu">(reading(i), captured(i - 900));
  std::jthread pusher([&] {
    for (int i = 0; i < ring; ++i) CHECK(session.push<"frame">(frame(i), captured(i)));
    try {
      session.push<"frame">(frame(ring), captured(ring));
    } catch (const lv::cancelled&) {
      told = true;
    }
  });
  while (session.counts().in_flight != ring) std::this_thread::yield();
  std::this_thread::sleep_for(1ms);  // it waits
  bool is_cancelled = false;
  SUBCASE("closed") { session.close(); }
  SUBCASE("cancelled") {
    is_cancelled = true;
    session.cancel();
  }
  pusher.join();
  CHECK(told);
  CHECK(!session.pop());
  CHECK(!session.try_push<"imu">(reading(300), captured(0)));
  CHECK(session.counts().pushed == ring);
  CHECK(session.counts().drops.partnerless == (is_cancelled ? 0 : ring));
  CHECK(session.counts().cancelled == (is_cancelled ? ring : 0));
  check_account(session.counts());
}

TEST_CASE("nothing meets behind a cancel: what is popped then makes room for nobody") {
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box, lv::slots<1>>(
      lv::sync_by_time<lv::tolerance<0_ms>>(lv::port<"frame", frame>, lv::port<"imu", reading>) |
      lv::stage<"number">([](const frame_and_reading& both) { return both.get<"frame">().checked(); }));
  auto session = app.open();
  for (int i = 0; i < 5; ++i) {
    session.push<"frame">(frame(i), captured(i));
    session.push<"imu">(reading(i), captured(i));
  }
  session.drain();
  session.cancel();
  CHECK(**session.try_pop() == 0);
  CHECK(session.is_over());
  CHECK(session.counts().delivered == 1);
  CHECK(session.counts().cancelled == 4);
  check_account(session.counts());
}

TEST_CASE("ports are pushed to while the session is cancelled: behind the last result nothing is in flight") {
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box, lv::slots<4>>(
      lv::sync_by_time<lv::tolerance<20_us>, lv::stall<200_us>>(lv::port<"frame", frame>, lv::port<"imu", reading>) |
      lv::stage<"number">([](const frame_and_reading& both) { return both.get<"frame">().checked(); }));
  for (int round = 0; round < 100; ++round) {
    auto session = app.open();
    const auto push_until_cancelled = [&]<lv::fixed_string Port, class Item>(lv::type_list<Item>) {
      try {
        for (int i = 0;; ++i) session.push<Port>(Item(i), captured(i));
      } catch (const lv::cancelled&) {
      }
    };
    std::jthread frames([&] { push_until_cancelled.template operator()<"frame">(lv::type_list<frame>{}); });
    std::jthread readings([&] { push_until_cancelled.template operator()<"imu">(lv::type_list<reading>{}); });
    std::jthread canceller([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(100 * (round % 10)));
      session.cancel();
    });
    if (round % 2 == 0) {
      while (session.pop()) {
      }
    } else {
      while (!session.is_over())
        if (!session.try_pop()) std::this_thread::yield();
    }
    frames.join();
    readings.join();
    CHECK(session.is_over());
    check_account(session.counts());
  }
}

TEST_CASE("items that are filtered leave room for those that wait before the pipeline, as those that are popped do") {
  const auto app = lv::deploy<box, lv::slots<2>>(
      lv::sync_by_time<lv::tolerance<0_ms>>(lv::port<"frame", frame>, lv::port<"imu", reading>) |
      lv::stage<"last">([](const frame_and_reading& both) -> std::optional<int> {
        const int i = both.get<"frame">().checked();
        return i % 50 == 49 ? std::optional(i) : std::nullopt;
      }));
  auto session = app.open();
  for (int i = 0; i < 120; ++i) {
    session.push<"frame">(frame(i), captured(i));
    session.push<"imu">(reading(i), captured(i));
  }
  session.close();
  CHECK(**session.pop() == 49);
  std::optional<lv::result<int>> taken;
  SUBCASE("pop") { taken = session.pop(); }
  SUBCASE("try_pop") {
    while (!(taken = session.try_pop())) std::this_thread::yield();
  }
  CHECK(**taken == 99);
  CHECK(!session.pop());
  CHECK(session.counts().filtered == 118);
  check_account(session.counts());
}

// ---- what throws while items meet ----

/// Its move or its copy throws where the item is told so.
struct fragile {
  fragile(int n, bool moves_badly = false, bool copies_badly = false)
      : number(n), throws_when_moved(moves_badly), throws_when_copied(copies_badly) {}
  fragile(const fragile& other) : fragile(other.number.checked(), other.throws_when_moved, other.throws_when_copied) {
    if (throws_when_copied && is_armed) throw std::bad_alloc();
  }
  fragile(fragile&& other) : fragile(other.number.checked(), other.throws_when_moved, other.throws_when_copied) {
    if (throws_when_moved && is_armed) throw std::runtime_error("move");
  }
  lv::test::tracked<2> number;
  bool throws_when_moved, throws_when_copied;
  static inline std::atomic<bool> is_armed{false};
};

struct midway {
  lv::test::tracked<3> operator()(const lv::test::tracked<3>& before, const lv::test::tracked<3>& behind,
                                  double) const {
    if (before.checked() == 3) throw std::runtime_error("gap");
    return lv::test::tracked<3>((before.checked() + behind.checked()) / 2);
  }
};

using three_parts = lv::named_items<lv::named_item<"frame", fragile>, lv::named_item<"pose", fragile>,
                                    lv::named_item<"imu", lv::test::tracked<3>>>;

/// Six frames between readings; what becomes of the third or fourth is `bad`.
void check_one_fails(bool frame_fails, bool pose_fails, bool imu_fails) {
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box, lv::slots<4>>(
      lv::sync_by_time<lv::tolerance<20_ms>>(lv::port<"frame", fragile>, lv::held(lv::port<"pose", fragile>),
                                             lv::interpolated(lv::port<"imu", lv::test::tracked<3>>, midway{})) |
      lv::stage<"sum">([](const three_parts& in) {
        return 100 * in.get<"frame">().number.checked() + 10 * in.get<"pose">().number.checked() +
               in.get<"imu">().checked();
      }));
  auto session = app.open();
  std::vector<std::uint64_t> heard;
  session.on_error([&](std::uint64_t sequence, const std::exception_ptr&) noexcept { heard.push_back(sequence); });
  const int bad = imu_fails ? 3 : 2;
  const auto at = [](int i) { return captured(10 * i); };
  for (int i = 0; i <= 6; ++i) {  // whatever throws while items meet is not for who pushes
    session.push<"imu">(lv::test::tracked<3>(imu_fails || i != 3 ? i : 4), at(i));
    if (i == 6) break;
    session.push<"pose">(fragile(i, false, pose_fails && i == bad), at(i));
    fragile::is_armed = false;
    session.push<"frame">(fragile(i, frame_fails && i == bad), at(i) + 5ms);
    fragile::is_armed = true;
  }
  fragile::is_armed = true;
  session.close();
  for (int i = 0; i < 6; ++i) {
    CAPTURE(i);
    lv::item_envelope envelope;
    const auto r = session.pop(envelope);
    REQUIRE(r);
    CHECK(envelope.sequence == static_cast<std::uint64_t>(i));
    CHECK(envelope.captured == at(i) + 5ms);
    CHECK(r->has_value() == (i != bad));
    if (i == bad && pose_fails) CHECK_THROWS_AS(r->value(), std::bad_alloc);
    if (i == bad && frame_fails) CHECK_THROWS_WITH_AS(r->value(), "move", std::runtime_error);
    if (i == bad && imu_fails) CHECK_THROWS_WITH_AS(r->value(), "gap", std::runtime_error);
    if (r->has_value()) CHECK(**r / 10 == 11 * i);
  }
  CHECK(!session.pop());
  CHECK(session.is_over());
  CHECK(heard == std::vector<std::uint64_t>{static_cast<std::uint64_t>(bad)});
  CHECK(session.counts().failed == 1);
  CHECK(session.counts().delivered == 5);
  check_account(session.counts());
}

TEST_CASE("an item that throws while it meets its partners fails in its place, and its neighbours go on") {
  SUBCASE("its move") { check_one_fails(true, false, false); }
  SUBCASE("the copy of a partner that is kept") { check_one_fails(false, true, false); }
  SUBCASE("what lies between") { check_one_fails(false, false, true); }
}

}  // namespace run_sync
