// SPDX-License-Identifier: Apache-2.0
// Results that leave as they complete, from several workers to one popper.

#include <doctest/doctest.h>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

#include <soak.hpp>

#include "../run/unordered.hpp"

namespace lv = levada;

TEST_CASE("no race between workers that complete items and the popper of an unordered session") {
  const auto app =
      lv::deploy<lv::target<lv::cpu<3>>, lv::slots<7>, lv::run_by<lv::thread_executor>>(lv::test::unlike_items());
  const int count = 10'000 * lv::test::soak_scale();
  lv::test::each_comes_once(app, count);
  lv::test::each_comes_once(app, count / 4, true);
  lv::test::each_comes_once<lv::realtime>(app, count / 4, true);
}
