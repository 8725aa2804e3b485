// SPDX-License-Identifier: Apache-2.0
// Random runs of a menu of pipelines, with random delays, failures, cancels and reopenings, against a loop.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include <levada/run/tbb_executor.hpp>

#include <resident.hpp>
#include <sanitizer.hpp>
#include <soak.hpp>

#include "scenarios.hpp"

namespace lv = levada;
using namespace levada;
using namespace levada::test;

namespace {

/// How many items a session or a stream gets: often few, sometimes many.
int length(std::mt19937& random, int most) {
  return 1 + static_cast<int>(random() % std::min(16u << random() % 9, static_cast<unsigned>(most)));
}

/// Waits a little, or much, now and then.
void dawdle(std::mt19937& random) {
  const auto draw = random() % 1'000;
  if (draw == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  else if (draw < 50)
    std::this_thread::yield();
}

/// What came out of a session that was given up: what the loop gives first; behind the first item that was cancelled only
/// items that had failed before.
bool is_what_is_left(const std::vector<outcome>& found, const std::vector<outcome>& expected) {
  const auto gap = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  auto rest = gap.second;
  for (auto f = gap.first; f != found.end(); ++f, ++rest) {
    rest = std::find(rest, expected.end(), *f);
    if (rest == expected.end() || *f >= 0) return false;
  }
  return true;
}

/// One session: pushed and popped in random ways by two threads, given up by one of them at a random moment or not.
template <class App>
std::uint64_t random_session(const App& app, std::mt19937& random, int most) {
  const nothing_leaks guard;
  const int count = length(random, most);
  const int until = random() % 3 == 0 ? static_cast<int>(random() % static_cast<unsigned>(count)) : count;
  const bool pusher_gives_up = until < count && random() % 2 == 0, popper_gives_up = until < count && !pusher_gives_up;
  reference_loop loop;
  const std::vector<outcome> expected = expected_of(count, loop);
  std::vector<outcome> found;
  std::stop_source stop;
  auto session = app.open(stop.get_token());
  std::atomic<bool> gave_up{false};
  const auto give_up = [&](bool by_token) {
    gave_up = true;
    if (by_token)
      stop.request_stop();
    else
      session.cancel();
  };
  const auto push_seed = random(), pop_seed = random();
  std::thread pusher([&] {
    std::mt19937 own(push_seed);
    try {
      for (int i = 0; i < count; ++i) {
        dawdle(own);
        if (pusher_gives_up && i == until) give_up(own() % 2 == 0);
        if (own() % 4 == 0) {
          tracked<0> item(i);
          while (!session.try_push(std::move(item))) {
            if (gave_up) throw cancelled("refused");
            std::this_thread::yield();
          }
        } else {
          session.push(tracked<0>(i));
        }
      }
    } catch (const cancelled&) {
    }
    session.close();
  });
  std::mt19937 own(pop_seed);
  for (;;) {
    dawdle(own);
    if (popper_gives_up && !gave_up && found.size() >= static_cast<std::size_t>(until)) give_up(own() % 2 == 0);
    if (own() % 4 == 0) {
      if (auto r = session.try_pop()) found.push_back(outcome_of(*r));
    } else if (auto r = session.pop()) {
      found.push_back(outcome_of(*r));
    } else {
      break;
    }
  }
  pusher.join();
  // What try_push brought in while the session was cancelled is ended by a worker, or here.
  session.drain();
  CHECK(session.is_over());
  const item_counts c = session.counts();
  check_sum(c);
  CHECK(c.in_flight == 0);
  CHECK(found.size() == c.delivered + c.failed);
  if (gave_up) {
    CHECK(is_what_is_left(found, expected));
  } else {
    CHECK(found == expected);
    check_final(c, loop, static_cast<std::uint64_t>(count));
  }
  return c.pushed;
}

template <class App>
std::uint64_t random_stream(const App& app, std::mt19937& random, int most) {
  const nothing_leaks guard;
  const int count = length(random, most) - 1;
  const std::size_t until = random() % 3 == 0 ? 1 + random() % static_cast<unsigned>(count + 1) : 100'000;
  const std::vector<tracked<0>> items = items_up_to(count);
  reference_loop loop;
  const std::vector<outcome> expected = expected_of(count, loop);
  std::vector<outcome> found;
  auto results = app.stream(items);
  for (auto& r : results) {
    dawdle(random);
    found.push_back(outcome_of(r));
    if (found.size() == until) break;
  }
  REQUIRE(found.size() <= expected.size());
  CHECK(found.size() == std::min(expected.size(), until));
  CHECK(std::equal(found.begin(), found.end(), expected.begin()));
  check_sum(results.counts());
  return results.counts().pushed;
}

/// Two sessions of one app at once; what leaks is seen by the outer guard only.
template <class App>
std::uint64_t two_at_once(const App& app, std::mt19937& random, int most) {
  const int count = length(random, most), beside_count = length(random, most);
  std::mt19937 other(random());
  std::thread beside([&] {
    auto session = app.open();
    for (int i = 0; i < beside_count; ++i) {
      // Not push: this thread alone pops, and would wait for itself where all slots hold results.
      while (!session.try_push(tracked<0>(i)))
        if (!session.try_pop()) std::this_thread::yield();
      if (other() % 2 == 0) static_cast<void>(session.try_pop());
    }
  });
  reference_loop loop;
  const auto expected = expected_of(count, loop);
  std::vector<outcome> found;
  for (auto& r : app.stream(items_up_to(count))) found.push_back(outcome_of(r));
  CHECK(found == expected);
  beside.join();
  return static_cast<std::uint64_t>(count + beside_count);
}

/// Random runs of one deployment until `wanted` items went through it.
template <class Shape, class Target>
std::uint64_t random_runs(std::uint64_t seed, std::uint64_t wanted) {
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  const auto app = deploy<Target, slots<24>>(Shape::make());
  std::uint64_t items = 0;
  for (int round = 0; items < wanted; ++round) {
    CAPTURE(seed);
    CAPTURE(round);
    // A device that delays its items sleeps for each: 60 us at least.
    const bool devices_delay = random() % 4 == 0;
    const int most = devices_delay ? 100 : 4'096;
    const devices_that behave(devices_delay ? static_cast<std::int64_t>(random() % 5'000) : 0, 1 + random() % 12);
    switch (random() % 4) {
      case 0:
        items += random_stream(app, random, most);
        break;
      case 1:
        items += two_at_once(app, random, most);
        break;
      default:
        items += random_session(app, random, most);
    }
  }
  return items;
}

template <int Threads>
using with_devices = lv::target<lv::cpu<Threads>, lv::simulated<0>, lv::simulated<1>>;

}  // namespace

TEST_CASE("random runs equal the loop: nothing lost, reordered, leaked, or hung, and memory stays flat") {
  const nothing_leaks guard;
  const std::uint64_t scale = static_cast<std::uint64_t>(soak_scale()), parts = 10 * scale;
  const std::uint64_t items_of_a_part = under_sanitizer ? 2'000 : 100'000;
  // What goes through a device waits for its thread to be woken, and takes several times as long.
  const std::uint64_t by_processor = items_of_a_part / 4, by_devices = items_of_a_part / 16;
  std::uint64_t items = 0;
  std::size_t memory_early = 0;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t seed = 10 * part;
    items += random_runs<on_the_processor, with_devices<2>>(seed, by_processor);
    items += random_runs<on_the_processor, with_devices<1>>(seed + 1, by_processor);
    items += random_runs<in_four_segments, with_devices<8>>(seed + 2, by_processor);
    items += random_runs<device_in_the_middle, with_devices<2>>(seed + 3, by_devices);
    items += random_runs<two_devices, with_devices<8>>(seed + 4, by_devices);
    items += random_runs<adjacent_devices, with_devices<1>>(seed + 5, by_devices);
    items += random_runs<device_twice, with_devices<2>>(seed + 6, by_devices);
    if (part + 1 == scale) memory_early = resident();
  }
  const std::size_t memory_late = resident();
  MESSAGE(items << " items; " << memory_early / 1024 << " KiB of memory after a tenth of them, " << memory_late / 1024
                << " KiB at the end");
  if (!under_sanitizer && memory_early != 0) CHECK(memory_late < memory_early + (4u << 20));
}
