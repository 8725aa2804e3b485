// SPDX-License-Identifier: Apache-2.0
// Units of one item computed by several plain threads, for ThreadSanitizer: run/divided_items.hpp.

#include <doctest/doctest.h>

#include <levada/run/detail/workers/thread_executor.hpp>

#include <run/divided_items.hpp>

namespace lv = levada;
using namespace levada::test;

TEST_CASE("no race between the parts of one item, in calls, sessions and streams") {
  parts_meet_in_a_call<lv::thread_executor>();
  parts_meet_in_a_session<lv::thread_executor>();
  items_of_a_stream<lv::thread_executor>();
  calls_and_sessions_at_once<lv::thread_executor>();
  apps_end_at_once<lv::thread_executor>();
}
