// SPDX-License-Identifier: Apache-2.0
// Two equal devices that compute the same segment at once, on plain threads, for ThreadSanitizer.

#include <doctest/doctest.h>
#include <levada/run/detail/workers/thread_executor.hpp>

#include <run/equal_devices.hpp>

TEST_CASE("no race between equal devices, workers and the popper") {
  levada::test::streams_through_equal_devices<levada::thread_executor>(200);
}
