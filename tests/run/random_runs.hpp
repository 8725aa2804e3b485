// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/random_runs.hpp: sessions and streams of the pipelines of scenarios.hpp, with random delays, failures, cancels
// and reopenings, against a loop. On any executor.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "scenarios.hpp"

namespace levada::test {

/// How many items a session or a stream gets: often few, sometimes many.
inline int length(std::mt19937& random, int most) {
  return 1 + static_cast<int>(random() % std::min(16u << random() % 9, static_cast<unsigned>(most)));
}

/// Waits a little, or much, now and then.
inline void dawdle(std::mt19937& random) {
  const auto draw = random() % 1'000;
  if (draw == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  else if (draw < 50)
    std::this_thread::yield();
}

/// What came out of a session that was given up: what the loop gives first; behind the first item that was cancelled
/// only items that had failed before.
inline bool is_what_is_left(const std::vector<outcome>& found, const std::vector<outcome>& expected) {
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

/// Two sessions of one app at once.
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

/// A stream, a session, or two at once. Says how many items went through.
template <class App>
std::uint64_t random_run(const App& app, std::mt19937& random, int most) {
  switch (random() % 4) {
    case 0:
      return random_stream(app, random, most);
    case 1:
      return two_at_once(app, random, most);
    default:
      return random_session(app, random, most);
  }
}

/// Random runs of one deployment until `wanted` items went through it.
template <class Shape, class Target, class Executor>
std::uint64_t random_runs(std::uint64_t seed, std::uint64_t wanted) {
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  const auto app = deploy<Target, run_by<Executor>, slots<24>>(Shape::make());
  std::uint64_t items = 0;
  for (int round = 0; items < wanted; ++round) {
    CAPTURE(seed);
    CAPTURE(round);
    // A device that delays its items sleeps for each: 60 us at least.
    const bool devices_delay = random() % 4 == 0;
    const devices_that behave(devices_delay ? static_cast<std::int64_t>(random() % 5'000) : 0, 1 + random() % 12);
    const nothing_leaks guard;
    items += random_run(app, random, devices_delay ? 100 : 4'096);
  }
  return items;
}

template <int Threads>
using with_devices = target<cpu<Threads>, simulated<0>, simulated<1>>;

}  // namespace levada::test
