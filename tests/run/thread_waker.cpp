// SPDX-License-Identifier: Apache-2.0
// Who is woken and who is brought, by who is there.

#include <doctest/doctest.h>

#include <levada/run/detail/engine/thread_waker.hpp>

namespace run_thread_waker {

using levada::detail::engine_host;
using levada::detail::event_count;
using levada::detail::permits;
using levada::detail::thread_waker;

struct counting_host final : engine_host {
  void invite() noexcept override { ++invited; }
  int invited = 0;
};

struct waked {
  event_count event;
  counting_host host;
  thread_waker of{event, host};

  /// A thread that parked before is told.
  template <class What>
  bool tells(What what) {
    const auto epoch = event.prepare();
    what();
    const auto now = event.prepare();
    event.cancel();
    event.cancel();
    return now != epoch;
  }
};

TEST_CASE("a worker is invited where nobody is here") {
  waked w;
  CHECK(w.of.wake());
  CHECK(w.host.invited == 1);
  CHECK(w.of.invite_first());
  CHECK(w.host.invited == 2);
}

TEST_CASE("nobody is invited where a worker is awake or a helper is parked") {
  waked w;
  w.of.worker_awake();
  CHECK_FALSE(w.of.wake());
  CHECK_FALSE(w.of.invite_first());
  w.of.worker_asleep();
  w.of.helper_parks();
  CHECK_FALSE(w.of.wake());
  CHECK_FALSE(w.of.invite_first());
  CHECK(w.host.invited == 0);
  w.of.helper_goes([] { return true; });
  CHECK(w.of.wake());
}

TEST_CASE("a helper that goes leaves its work to a worker only where nobody may come for it") {
  const auto invited_behind = [](bool always, bool awake, bool has_work) {
    waked w;
    if (always) w.of.invite_always();
    if (awake) w.of.worker_awake();
    w.of.helper_parks();
    w.of.helper_goes([=] { return has_work; });
    return w.host.invited;
  };
  CHECK(invited_behind(true, false, true) == 1);
  CHECK(invited_behind(true, false, false) == 0);
  CHECK(invited_behind(true, true, true) == 0);
  CHECK(invited_behind(false, false, true) == 0);
}

TEST_CASE("who is parked is told, and who polls sees the hint") {
  waked w;
  CHECK(w.tells([&] { w.of.tell_parked(); }));
  CHECK(w.tells([&] { w.of.wake(); }));
  CHECK(w.tells([&] { w.of.tell_waiters(false); }));
  const auto before = w.of.hints();
  CHECK_FALSE(w.tells([&] { w.of.tell_waiters(true); }));
  CHECK_FALSE(w.tells([&] { w.of.hint(); }));
  CHECK(w.of.hints() == before + 2);
}

TEST_CASE("a session is shared while a worker is awake") {
  waked w;
  CHECK_FALSE(w.of.is_shared());
  w.of.worker_awake();
  w.of.worker_awake();
  w.of.worker_asleep();
  CHECK(w.of.is_shared());
  CHECK(w.of.has_workers(1));
  CHECK_FALSE(w.of.has_workers(2));
  w.of.worker_asleep();
  CHECK_FALSE(w.of.is_shared());
}

TEST_CASE("as many items as helpers are parked are left to these") {
  waked w;
  CHECK(w.of.is_for_parked(0));
  CHECK_FALSE(w.of.is_for_parked(1));
  w.of.helper_parks();
  w.of.helper_parks();
  CHECK(w.of.is_for_parked(2));
  CHECK_FALSE(w.of.is_for_parked(3));
}

TEST_CASE("for what may be done at once as many are invited as idle threads are missing") {
  permits four(5, 4);
  waked w;
  w.of.offer(3, four);
  CHECK(w.host.invited == 3);
  w.of.offer(30, four);  // as many as there are permits
  CHECK(w.host.invited == 3 + 5);

  w.of.worker_awake();  // idle
  w.of.helper_parks();
  w.host.invited = 0;
  w.of.offer(3, four);
  CHECK(w.host.invited == 1);
  w.of.worker_begins();
  w.host.invited = 0;
  w.of.offer(3, four);
  CHECK(w.host.invited == 2);
  w.of.worker_ends();

  REQUIRE(four.try_acquire());
  REQUIRE(four.try_acquire());
  REQUIRE(four.try_acquire());
  w.host.invited = 0;
  w.of.offer(3, four);  // two permits are left, for the two who are idle
  CHECK(w.host.invited == 0);
}

TEST_CASE("no more workers are offered anything than the executor brings") {
  permits limit(8, 2);
  waked w;
  w.of.worker_awake();
  w.of.worker_begins();
  w.of.worker_awake();
  w.of.worker_begins();
  w.of.offer(4, limit);
  CHECK(w.host.invited == 0);
}

}  // namespace run_thread_waker
