// SPDX-License-Identifier: Apache-2.0
// Permits: who may have the next, and who gives one back.

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include <levada/run/detail/workers/permits.hpp>

namespace run_permits {

using levada::detail::event_count;
using levada::detail::permits;
using namespace std::chrono_literals;

using clock_type = std::chrono::steady_clock;

void wait_until_overdue(const permits& concurrency_limit) {
  while (!concurrency_limit.are_overdue()) std::this_thread::yield();
}

TEST_CASE("the first that hurries gets the next permit once it has waited long, and nobody else") {
  permits concurrency_limit(2, 2);
  event_count event;
  REQUIRE(concurrency_limit.try_acquire());
  REQUIRE(concurrency_limit.try_acquire());
  CHECK_FALSE(concurrency_limit.try_acquire());
  permits::place first(concurrency_limit, event, true), second(concurrency_limit, event, true),
      patient(concurrency_limit, event, false);
  CHECK_FALSE(first.try_acquire());
  wait_until_overdue(concurrency_limit);
  concurrency_limit.release();
  CHECK_FALSE(concurrency_limit.try_acquire());
  CHECK_FALSE(second.try_acquire());
  CHECK_FALSE(patient.try_acquire());
  CHECK(first.try_acquire());
}

TEST_CASE("one permit is given back for the first that waits, by who has had one longest") {
  permits concurrency_limit(2, 2);
  event_count event;
  REQUIRE(concurrency_limit.try_acquire());
  REQUIRE(concurrency_limit.try_acquire());
  const auto long_ago = clock_type::now() - 1h;
  CHECK_FALSE(concurrency_limit.wants_back(long_ago));  // nobody waits

  const auto came = clock_type::now();
  permits::place first(concurrency_limit, event, true);
  wait_until_overdue(concurrency_limit);
  const bool of_the_newest = concurrency_limit.wants_back(clock_type::now());
  if (clock_type::now() - came < 1500us) CHECK_FALSE(of_the_newest);
  CHECK(concurrency_limit.wants_back(long_ago));

  concurrency_limit.release();
  CHECK_FALSE(concurrency_limit.wants_back(long_ago));  // the other keeps its own
  REQUIRE(first.try_acquire());
  CHECK(concurrency_limit.wants_back(long_ago));  // the place is still there, and another permit would be for it

  std::this_thread::sleep_for(2ms);
  CHECK(concurrency_limit.wants_back(clock_type::now()));  // whoever it is, in the end
}

TEST_CASE("a session whose worker has gone is called once a permit is left, once, and not behind its end") {
  permits concurrency_limit(1, 1);
  int called = 0;
  const auto call = [](void* count) noexcept { ++*static_cast<int*>(count); };
  permits::absence gone(concurrency_limit, call, &called);
  gone.begin();
  CHECK(called == 1);  // one was left
  REQUIRE(concurrency_limit.try_acquire());
  gone.begin();
  gone.begin();
  CHECK(called == 1);
  concurrency_limit.release();
  CHECK(called == 2);
  REQUIRE(concurrency_limit.try_acquire());
  concurrency_limit.release();
  CHECK(called == 2);

  REQUIRE(concurrency_limit.try_acquire());
  int called_after = 0;
  permits::absence after(concurrency_limit, call, &called_after);
  gone.begin();
  after.begin();
  concurrency_limit.release();
  CHECK(called == 3);  // one permit calls one session, the one that went first
  CHECK(called_after == 0);
  REQUIRE(concurrency_limit.try_acquire());
  gone.begin();
  gone.end();
  after.end();
  gone.begin();
  concurrency_limit.release();
  CHECK(called == 3);
  CHECK(called_after == 0);
}

TEST_CASE("a worker that comes back to the line has waited since it came first") {
  permits concurrency_limit(1, 1);
  event_count event;
  REQUIRE(concurrency_limit.try_acquire());
  permits::place first(concurrency_limit, event, true, clock_type::now() - 1h);
  CHECK(concurrency_limit.are_overdue());
  concurrency_limit.release();
  CHECK_FALSE(concurrency_limit.try_acquire());
  CHECK(first.try_acquire());
}

}  // namespace run_permits
