// SPDX-License-Identifier: Apache-2.0
// Random runs of a menu of pipelines, with random delays, failures, cancels and reopenings, against a loop.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <levada/run/tbb_executor.hpp>

#include <soak.hpp>

#include "scenarios.hpp"

namespace lv = levada;
using namespace levada;
using namespace levada::test;

namespace {

/// Waits a little, or much, now and then.
void dawdle(std::mt19937& random) {
  const auto draw = random() % 400;
  if (draw == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  else if (draw < 20)
    std::this_thread::yield();
}

/// What came out of a session that was given up: what the loop gives first; behind the first item that was cancelled only
/// items that had failed before.
bool is_what_is_left(const std::vector<std::string>& found, const std::vector<std::string>& expected) {
  const auto gap = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  auto rest = gap.second;
  for (auto f = gap.first; f != found.end(); ++f, ++rest) {
    rest = std::find(rest, expected.end(), *f);
    if (rest == expected.end() || (*f != "first" && *f != "middle" && *f != "last")) return false;
  }
  return true;
}

/// One session: pushed and popped in random ways by random threads, given up at a random moment or not.
template <class App>
std::uint64_t random_session(const App& app, std::mt19937& random) {
  const nothing_leaks guard;
  const int count = 1 + static_cast<int>(random() % 1'500);
  const int until = random() % 3 == 0 ? static_cast<int>(random() % static_cast<unsigned>(count)) : count;
  const bool gives_up = until < count;
  reference_loop loop;
  const std::vector<std::string> expected = expected_of(count, loop);
  std::vector<std::string> found;
  std::stop_source stop;
  auto session = app.open(stop.get_token());
  const auto push_seed = random(), pop_seed = random();
  std::thread pusher([&] {
    std::mt19937 own(push_seed);
    try {
      for (int i = 0; i < count; ++i) {
        dawdle(own);
        if (gives_up && i == until) {
          if (own() % 2 == 0)
            stop.request_stop();
          else
            session.cancel();
        }
        if (own() % 4 == 0) {
          tracked<0> item(i);
          while (!session.try_push(std::move(item))) {
            if (gives_up && i >= until) throw cancelled("refused");
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
    if (own() % 4 == 0) {
      if (auto r = session.try_pop()) found.push_back(text_of(*r));
    } else if (auto r = session.pop()) {
      found.push_back(text_of(*r));
    } else {
      break;
    }
  }
  pusher.join();
  CHECK(session.is_over());
  const item_counts c = session.counts();
  check_sum(c);
  CHECK(c.in_flight == 0);
  if (gives_up) {
    CHECK(is_what_is_left(found, expected));
  } else {
    CHECK(found == expected);
    check_final(c, loop, static_cast<std::uint64_t>(count));
  }
  return c.pushed;
}

template <class App>
std::uint64_t random_stream(const App& app, std::mt19937& random) {
  const nothing_leaks guard;
  const int count = static_cast<int>(random() % 1'500);
  const std::size_t until = random() % 3 == 0 ? random() % 1'000 : 100'000;
  const std::vector<tracked<0>> items = items_up_to(count);
  reference_loop loop;
  const std::vector<std::string> expected = expected_of(count, loop);
  std::vector<std::string> found;
  auto results = app.stream(items);
  for (auto& r : results) {
    dawdle(random);
    found.push_back(text_of(r));
    if (found.size() == until) break;
  }
  REQUIRE(found.size() <= expected.size());
  CHECK(found.size() == std::min(expected.size(), until));
  CHECK(std::equal(found.begin(), found.end(), expected.begin()));
  check_sum(results.counts());
  return results.counts().pushed;
}

template <class Shape, class Target>
std::uint64_t random_runs(std::uint64_t seed, int rounds) {
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  const auto app = deploy<Target, slots<24>>(Shape::make());
  std::uint64_t items = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(seed);
    CAPTURE(round);
    const devices_that behave(random() % 4 == 0 ? static_cast<std::int64_t>(random() % 5'000) : 0, 1 + random() % 12);
    if (random() % 2 == 0) {
      items += random_session(app, random);
    } else if (random() % 2 == 0) {
      items += random_stream(app, random);
    } else {
      std::mt19937 other(random());
      std::atomic<std::uint64_t> more{0};
      // Two sessions of one app at once; what leaks is seen by the outer guard only.
      std::thread beside([&] {
        auto session = app.open();
        for (int i = 0; i < 100; ++i) {
          // Not push: this thread alone pops, and would wait for itself where all slots hold results.
          while (!session.try_push(tracked<0>(i)))
            if (!session.try_pop()) std::this_thread::yield();
          if (other() % 2 == 0) static_cast<void>(session.try_pop());
        }
        more = 100;
      });
      reference_loop loop;
      const auto expected = expected_of(200, loop);
      std::vector<std::string> found;
      for (auto& r : app.stream(items_up_to(200))) found.push_back(text_of(r));
      CHECK(found == expected);
      beside.join();
      items += 200 + more;
    }
  }
  return items;
}

template <int Threads>
using with_devices = lv::target<lv::cpu<Threads>, lv::simulated<0>, lv::simulated<1>>;

}  // namespace

TEST_CASE("random runs equal the loop: nothing lost, reordered, leaked, or hung") {
  const nothing_leaks guard;
  const int rounds = 8 * soak_scale();
  std::uint64_t items = 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    items += random_runs<on_the_processor, with_devices<2>>(seed, rounds);
    items += random_runs<on_the_processor, with_devices<1>>(seed + 10, rounds);
    items += random_runs<in_four_segments, with_devices<8>>(seed + 20, rounds);
    items += random_runs<device_in_the_middle, with_devices<2>>(seed + 30, rounds);
    items += random_runs<two_devices, with_devices<8>>(seed + 40, rounds);
    items += random_runs<adjacent_devices, with_devices<1>>(seed + 50, rounds);
    items += random_runs<device_twice, with_devices<2>>(seed + 60, rounds);
  }
  MESSAGE(items << " items");
}
