// SPDX-License-Identifier: Apache-2.0
// error: plan_takes_more_time_than_its_budget
// place: "interval 5 ms"
// place: "6 ms"
// place: "load of cpu"
// place: "12 ms on 2 workers"
// place: "detect"
// place: "7 ms"
// place: "a camera board"
// place: "2026-11-25"
// place: "measured"
//
// A plan that takes longer between results than its budget, with what is loaded and the stage and the device that take most.

#include <levada/levada.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "decode(4 bytes) -> 4 bytes", 5e-3},
                                    {"callable", "detect(4 bytes) -> 4 bytes", 7e-3}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows, .date = "2026-11-25"};

int main() {
  auto p = lv::input<int> | lv::stage<"decode">([](const int& i) { return 2 * i; }) |
           lv::stage<"detect">([](const int& i) { return 2 * i; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>, lv::budget<lv::interval<6_ms>>>(p);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>, lv::budget<lv::interval<5_ms>>>(p);
#endif
  return app(1);
}
