// SPDX-License-Identifier: Apache-2.0
// The one thread that ever entered, and its short way to claim an item.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <thread>

#include <levada/run/detail/engine/sole_thread.hpp>

namespace run_sole_thread {

using levada::detail::atomic;
using levada::detail::event_count;
using levada::detail::permits;
using levada::detail::sole_thread;

/// What another thread is told.
bool enters_elsewhere(sole_thread& sole) {
  bool alone = false;
  std::thread([&] { alone = sole.enter(); }).join();
  return alone;
}

struct claimed_item {
  permits concurrency_limit{1, 1};
  permits::session session{concurrency_limit};
  sole_thread sole;
  atomic<std::uint64_t> claimed{7};
  bool permitted = false;

  bool claim(std::uint64_t head, bool is_ready = true) {
    return sole.claim(concurrency_limit, claimed, head, permitted, [=] { return is_ready; });
  }
  /// Whether others have to be told.
  bool release(bool is_shared = false) {
    return sole.release(concurrency_limit, [=] { return is_shared; });
  }
  bool takes_locked_permit() const { return concurrency_limit.running() != 0; }
};

TEST_CASE("the first thread is alone until a second one enters, and never again") {
  sole_thread sole;
  CHECK_FALSE(sole.is_still_alone());
  CHECK(sole.enter());
  CHECK(sole.enter());
  CHECK(sole.is_still_alone());
  CHECK_FALSE(sole.lets_others_in());
  CHECK_FALSE(enters_elsewhere(sole));
  CHECK(sole.lets_others_in());
  CHECK_FALSE(sole.is_still_alone());
  CHECK_FALSE(sole.enter());
}

TEST_CASE("nobody is alone where others are let in") {
  sole_thread sole;
  sole.let_others_in();
  CHECK_FALSE(sole.enter());
  CHECK(sole.lets_others_in());
}

TEST_CASE("of several threads that come at once one at most is told that it is alone") {
  for (int round = 0; round < 200; ++round) {
    sole_thread sole;
    std::atomic<int> alone{0};
    std::latch all_came(3);  // a thread that has ended may look like the next
    const auto come = [&] {
      alone += sole.enter();
      all_came.arrive_and_wait();
    };
    std::thread one(come), two(come), three(come);
    one.join(), two.join(), three.join();
    CHECK(alone <= 1);
    CHECK(sole.lets_others_in());
  }
}

TEST_CASE("the sole thread claims the item and tells nobody") {
  claimed_item c;
  CHECK(c.claim(7));
  CHECK(c.permitted);
  CHECK(c.claimed.load() == 8);
  CHECK_FALSE(c.release());
  CHECK(c.claim(8));
  CHECK(c.release(true));  // a worker is here by now
  CHECK_FALSE(c.takes_locked_permit());
}

TEST_CASE("an item that is not ready, or not the next, is not claimed") {
  claimed_item c;
  CHECK_FALSE(c.claim(7, false));
  CHECK(c.permitted);
  CHECK(c.claimed.load() == 7);
  c.release();
  CHECK_FALSE(c.claim(6));
  CHECK(c.permitted);
  CHECK(c.claimed.load() == 7);
  c.release();
}

TEST_CASE("one thread among others claims with a permit like theirs, and tells them") {
  claimed_item c;
  c.sole.let_others_in();
  CHECK(c.claim(7));
  CHECK(c.takes_locked_permit());
  CHECK(c.claimed.load() == 8);
  CHECK(c.release());
  CHECK_FALSE(c.takes_locked_permit());
  CHECK_FALSE(c.claim(7));
  CHECK(c.permitted);
  CHECK(c.release());
}

TEST_CASE("without a permit nothing is claimed") {
  claimed_item c;
  REQUIRE(c.concurrency_limit.try_acquire());
  CHECK_FALSE(c.claim(7));
  CHECK_FALSE(c.permitted);
  CHECK(c.claimed.load() == 7);
}

TEST_CASE("beside another session the permit is one that its threads see") {
  claimed_item c;
  const permits::session other(c.concurrency_limit);
  CHECK(c.claim(7));
  CHECK(c.takes_locked_permit());
  CHECK(c.release());
}

TEST_CASE("who comes while the sole thread claims and runs an item is waited for and told") {
  claimed_item c;
  CHECK(c.claim(7));
  CHECK_FALSE(enters_elsewhere(c.sole));
  c.sole.wait_for_claim();  // is over
  CHECK(c.release());
  CHECK(c.concurrency_limit.try_acquire());
}

}  // namespace run_sole_thread
