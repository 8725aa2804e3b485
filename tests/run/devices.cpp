// SPDX-License-Identifier: Apache-2.0
// Order, exceptions, filters, state, cancellation, ends in mid-flight and device failures, on every split of four
// stages over the processor and two devices.

#include <doctest/doctest.h>

#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

#include "scenarios.hpp"
#include "watchdog.hpp"

namespace run_devices {

namespace lv = levada;
using namespace levada::test;

TEST_CASE("on the processor alone, every item ends as in a loop, wherever it fails") {
  scenario<lv::tbb_executor, on_the_processor>(soak_scale());
}
TEST_CASE("through four segments of the processor, every item ends as in a loop") {
  scenario<lv::tbb_executor, in_four_segments>(soak_scale());
}
TEST_CASE("cpu | device | cpu: every item ends as in a loop") {
  scenario<lv::tbb_executor, device_in_the_middle>(soak_scale());
}
TEST_CASE("device | cpu: every item ends as in a loop") { scenario<lv::tbb_executor, device_first>(soak_scale()); }
TEST_CASE("cpu | device: every item ends as in a loop") { scenario<lv::tbb_executor, device_last>(soak_scale()); }
TEST_CASE("cpu | device | cpu | other device: every item ends as in a loop") {
  scenario<lv::tbb_executor, two_devices>(soak_scale());
}
TEST_CASE("cpu | device | other device | cpu: every item ends as in a loop") {
  scenario<lv::tbb_executor, adjacent_devices>(soak_scale());
}
TEST_CASE("a device that is used twice: every item ends as in a loop") {
  scenario<lv::tbb_executor, device_twice>(soak_scale());
}
TEST_CASE("the std::thread executor does the same") {
  scenario<lv::thread_executor, on_the_processor>(soak_scale());
  scenario<lv::thread_executor, device_in_the_middle>(soak_scale());
}

}  // namespace run_devices
