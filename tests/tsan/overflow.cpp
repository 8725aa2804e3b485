// SPDX-License-Identifier: Apache-2.0
// Items that give way to newer ones while workers take them, and workers that poll.

#include <doctest/doctest.h>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

#include "../run/overflow_race.hpp"

namespace lv = levada;

TEST_CASE("no race between a pusher that takes items back and the workers") {
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>, lv::slots<5>, lv::run_by<lv::thread_executor>>(lv::test::two_stages());
  lv::test::race<lv::overflow<lv::drop_oldest>>(app, 3000);
  lv::test::race<lv::latest_only>(app, 3000);
  lv::test::race<lv::latest_only, lv::dedicated>(app, 3000);
  lv::test::race<lv::overflow<lv::drop_oldest>, lv::realtime>(app, 3000);
}

TEST_CASE("no race between a popper that drops results which are overdue and the workers") {
  using namespace lv::literals;
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>, lv::slots<5>, lv::run_by<lv::thread_executor>>(lv::test::two_stages());
  lv::test::race<lv::deadline<1_ms, lv::at_output>>(app, 3000);
  lv::test::race<lv::deadline<1_ms, lv::at_output>, lv::dedicated>(app, 3000);
}
