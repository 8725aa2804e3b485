// SPDX-License-Identifier: Apache-2.0
// error: budget_of_time_needs_measured_costs_or_the_option_estimates_count
// place: "latency 10 ms"
// place: "detect"
// place: "1 of 2 measured, 1 unknown"
//
// A budget of time where nobody measured what a stage takes.

#include <levada/levada.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "decode(4 bytes) -> 4 bytes", 5e-3}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows, .date = "2026-11-25"};
using box = lv::target<lv::cpu<2>>;

int main() {
  auto p = lv::input<int> | lv::stage<"decode">([](const int& i) { return 2 * i; }) |
           lv::stage<"detect">([](const int& i) { return 2 * i; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::costs<board>, lv::budget<lv::latency<10_ms>>, lv::estimates_count>(p);
#else
  auto app = lv::deploy<box, lv::costs<board>, lv::budget<lv::latency<10_ms>>>(p);
#endif
  return app(1);
}
