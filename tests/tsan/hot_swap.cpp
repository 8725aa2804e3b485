// SPDX-License-Identifier: Apache-2.0
// Swaps under load on plain threads, for ThreadSanitizer.

#include <doctest/doctest.h>

#include <levada/run/detail/workers/thread_executor.hpp>

#include <run/swapping.hpp>

TEST_CASE("no race between a thread that pushes, one that pops and one that swaps") {
  levada::test::swaps_under_load<levada::thread_executor>(200);
}
