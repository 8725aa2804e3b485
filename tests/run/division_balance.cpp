// SPDX-License-Identifier: Apache-2.0
// Whether units of one item are divided goes by the time that this saves.

#include <chrono>

#include <levada/run/detail/program/division_balance.hpp>

namespace run_division_balance {

using namespace std::chrono_literals;
using balance = levada::detail::division_balance;
using time_point = balance::time_point;

constexpr time_point at(balance::duration since) { return time_point(since); }

// Of two tiles each thread has one. A helper that is as fast is not waited for, one of half the speed as long as both
// take: nothing is lost yet.
static_assert([] {
  balance of;
  of.add(1, 2, 100us, 0us, at(1ms));
  of.add(1, 2, 100us, 100us, at(2ms));
  return !of.is_paused(at(2ms));
}());

// What a slower one loses is waited for 16 times.
static_assert([] {
  balance of;
  of.add(1, 2, 100us, 150us, at(1ms));
  return of.is_paused(at(1ms)) && of.is_paused(at(1ms + 799us)) && !of.is_paused(at(1ms + 800us));
}());

// A loss is taken from what was saved before, which is then gone.
static_assert([] {
  balance of;
  for (int n = 0; n < 5; ++n) of.add(1, 2, 100us, 0us, at(1ms));
  of.add(1, 2, 100us, 600us, at(2ms));
  const bool was_paused = of.is_paused(at(2ms));
  of.add(1, 2, 100us, 101us, at(3ms));
  return !was_paused && of.is_paused(at(3ms));
}());

// No more than a time slice is saved, however long all went well.
static_assert([] {
  balance of;
  for (int n = 0; n < 1000; ++n) of.add(1, 2, 100us, 0us, at(1ms));
  of.add(1, 2, 100us, balance::most_saved + 100us, at(2ms));
  const bool was_paused = of.is_paused(at(2ms));
  of.add(1, 2, 100us, 101us, at(3ms));
  return !was_paused && of.is_paused(at(3ms));
}());

// A thread that computed all tiles, since no helper came, has neither saved nor lost.
static_assert([] {
  balance of;
  of.add(8, 8, 100us, 0us, at(1ms));
  const bool was_paused = of.is_paused(at(1ms));
  of.add(4, 8, 100us, 101us, at(1ms));
  return !was_paused && of.is_paused(at(1ms));
}());

// Four threads: a thread with two of eight tiles saves three times what it computes.
static_assert([] {
  balance of;
  of.add(2, 8, 100us, 300us, at(1ms));
  const bool was_paused = of.is_paused(at(1ms));
  of.add(2, 8, 100us, 301us, at(2ms));
  return !was_paused && of.is_paused(at(2ms));
}());

// A helper that always takes ten times as long: a seventeenth of the time is lost at most.
static_assert([] {
  balance of;
  balance::duration now{0}, alone{0};
  for (int n = 0; n < 10'000; ++n) {
    alone += 200us;
    if (of.is_paused(at(now))) {
      now += 200us;
    } else {
      now += 1000us;
      of.add(1, 2, 100us, 900us, at(now));
    }
  }
  return now * 16 <= alone * 17;
}());

}  // namespace run_division_balance
