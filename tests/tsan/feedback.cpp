// SPDX-License-Identifier: Apache-2.0
// A feedback of several stages on plain threads, for ThreadSanitizer: run/looping.hpp.

#include <levada/run/detail/workers/thread_executor.hpp>

#include <run/looping.hpp>

using namespace levada::test;

TEST_CASE("no race in a feedback whose items wait for each other") {
  check_looping<levada::run_by<levada::thread_executor>>(1500);
}
