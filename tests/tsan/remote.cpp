// SPDX-License-Identifier: Apache-2.0
// Nodes that are lost while items are there, on plain threads, for ThreadSanitizer.

#include <doctest/doctest.h>
#include <levada/run/detail/workers/thread_executor.hpp>

#include <remote/kept_calls.hpp>
#include <remote/lost_nodes.hpp>

TEST_CASE("no race between a driver, its nodes and the connections between them") {
  levada::test::streams_through_lost_nodes<levada::thread_executor>(2000, 6);
}

TEST_CASE("nor where the part on them filters") {
  levada::test::streams_through_lost_nodes<levada::thread_executor, true>(2000, 6);
}

TEST_CASE("nor between threads that call and use each other's connections") {
  levada::test::calls_from_threads<levada::thread_executor>(4, 200, 2);
}
