// SPDX-License-Identifier: Apache-2.0
// Branches of one item at once on plain threads, for ThreadSanitizer: run/concurrent_branches.hpp.

#include <doctest/doctest.h>

#include <levada/run/detail/workers/thread_executor.hpp>

#include <run/concurrent_branches.hpp>

namespace lv = levada;
using namespace levada::test;

TEST_CASE("no race between branches of one item, whether they end well, fail or are cancelled") {
  branches_meet<lv::thread_executor>();
  branches_of_the_input<lv::thread_executor>();
  branches_fail<lv::thread_executor>();
  branches_are_cancelled<lv::thread_executor>();
}
