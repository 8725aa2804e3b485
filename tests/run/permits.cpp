// SPDX-License-Identifier: Apache-2.0
// Permits: who may have the next, and who gives one back.

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include <levada/run/permits.hpp>

using levada::detail::event_count;
using levada::detail::permits;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

void wait_until_overdue(const permits& crew) {
  while (!crew.are_overdue()) std::this_thread::yield();
}

}  // namespace

TEST_CASE("the first that hurries gets the next permit once it has waited long, and nobody else") {
  permits crew(2, 2);
  event_count event;
  REQUIRE(crew.try_acquire());
  REQUIRE(crew.try_acquire());
  CHECK_FALSE(crew.try_acquire());
  permits::place first(crew, event, true), second(crew, event, true), patient(crew, event, false);
  CHECK_FALSE(first.try_acquire());
  wait_until_overdue(crew);
  crew.release();
  CHECK_FALSE(crew.try_acquire());
  CHECK_FALSE(second.try_acquire());
  CHECK_FALSE(patient.try_acquire());
  CHECK(first.try_acquire());
}

TEST_CASE("one permit is given back for the first that waits, by who has had one longest") {
  permits crew(2, 2);
  event_count event;
  REQUIRE(crew.try_acquire());
  REQUIRE(crew.try_acquire());
  const auto long_ago = clock_type::now() - 1h;
  CHECK_FALSE(crew.wants_back(long_ago));  // nobody waits

  const auto came = clock_type::now();
  permits::place first(crew, event, true);
  wait_until_overdue(crew);
  const bool of_the_newest = crew.wants_back(clock_type::now());
  if (clock_type::now() - came < 1500us) CHECK_FALSE(of_the_newest);
  CHECK(crew.wants_back(long_ago));

  crew.release();
  CHECK_FALSE(crew.wants_back(long_ago));  // the other keeps its own
  REQUIRE(first.try_acquire());
  CHECK(crew.wants_back(long_ago));  // the place is still there, and another permit would be for it

  std::this_thread::sleep_for(2ms);
  CHECK(crew.wants_back(clock_type::now()));  // whoever it is, in the end
}
