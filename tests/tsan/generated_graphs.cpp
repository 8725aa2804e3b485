// SPDX-License-Identifier: Apache-2.0
// Generated graphs on plain threads, for ThreadSanitizer: run/generated_graphs.hpp.

#include <doctest/doctest.h>

#include <levada/run/detail/workers/thread_executor.hpp>

#include <run/generated_graphs.hpp>
#include <run/watchdog.hpp>
#include <soak.hpp>

namespace lv = levada;
using namespace levada::test;

TEST_CASE("no race in generated graphs") {
  generated_graphs_equal_the_loop<lv::thread_executor>(0, 200 * static_cast<unsigned>(soak_scale()), 40);
}
