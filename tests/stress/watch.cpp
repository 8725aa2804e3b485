// SPDX-License-Identifier: Apache-2.0
// When a round is taken for one that hangs (time_to_run.hpp).

#include <chrono>

#include <doctest/doctest.h>

#include <time_to_run.hpp>

using namespace levada::test;
using namespace std::chrono_literals;

TEST_CASE("a round whose threads wait for a processor has only the time that they run") {
  time_to_run time;
  time.pass(1s, {{"1", {10ms, 2s}}, {"2", {20ms, 500ms}}});
  CHECK(time.had() == 30ms);
  time.pass(1s, {{"1", {20ms, 3s}}, {"3", {20ms, 500ms}}});  // one has ended, and another begun
  CHECK(time.had() == 60ms);
}

TEST_CASE("a round whose threads all wait for each other has all the time that passes") {
  time_to_run time;
  time.pass(1s, {{"1", {10ms, 2s}}});
  time.restart();
  time.pass(1s, {{"1", {10ms, 2s}}});
  time.pass(1s, {{"1", {11ms, 2s + 10ms}}});
  CHECK(time.had() == 2s);
}

TEST_CASE("a round whose threads run all the time has that, however many they are") {
  time_to_run time;
  time.pass(1s, {{"1", {1s, 1s}}, {"2", {1s, 1s}}});
  CHECK(time.had() == 1s);
}
