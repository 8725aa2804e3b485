// SPDX-License-Identifier: Apache-2.0
// error: slots_are_too_few_for_the_latency_at_this_pace
// place: "7 ms"
// place: items_stay_in_slots<
// place: "detect"
// place: "12 ms"
// place: slots_needed_are<2>
//
// One item in flight where a second comes before the first is done with.

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "decode(4 bytes) -> 4 bytes", 5e-3},
                                    {"callable", "detect(4 bytes) -> 4 bytes", 7e-3}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows, .date = "2026-11-25"};

int main() {
  auto p = lv::input<int, lv::every<7_ms>> | lv::stage<"decode">([](const int& i) { return 2 * i; }) |
           lv::stage<"detect">([](const int& i) { return 2 * i; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>, lv::slots<2>>(p);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>, lv::slots<1>>(p);
#endif
  return app(1);
}
