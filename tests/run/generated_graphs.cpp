// SPDX-License-Identifier: Apache-2.0
// Generated graphs through the plan and the engine: run/generated_graphs.hpp.

#include <doctest/doctest.h>

#include <levada/run/detail/workers/tbb_executor.hpp>

#include <run/generated_graphs.hpp>
#include <run/watchdog.hpp>
#include <soak.hpp>

namespace run_generated_graphs {

namespace lv = levada;
using namespace levada::test;

TEST_CASE("generated graphs, streamed by two threads, give what a loop gives") {
  generated_graphs_equal_the_loop<lv::tbb_executor>(0, 200 * static_cast<unsigned>(soak_scale()), 40);
}

}  // namespace run_generated_graphs
