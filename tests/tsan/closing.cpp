// SPDX-License-Identifier: Apache-2.0
// Sessions that are closed while their ports are pushed to.

#include <doctest/doctest.h>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

#include "../run/closing.hpp"

namespace lv = levada;
using namespace lv::test;

TEST_CASE("no race between pushes to ports and who closes them") {
  using box = lv::target<lv::cpu<2>>;
  const auto number = lv::deploy<box, lv::slots<4>, lv::run_by<lv::thread_executor>>(by_number());
  const auto time = lv::deploy<box, lv::slots<4>, lv::run_by<lv::thread_executor>>(by_time());
  check_closing_at_any_moment(number, 60, all_ports);
  check_closing_at_any_moment(number, 60, one_port);
  check_closing_at_any_moment(time, 60, all_ports);
  check_closing_at_any_moment(time, 60, first_port);
}
