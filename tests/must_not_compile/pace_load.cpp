// SPDX-License-Identifier: Apache-2.0
// error: items_come_faster_than_the_plan_takes_them_and_no_policy_drops_any
// place: "5 ms"
// place: "cpu needs 12 ms of 2 workers"
// place: "in each 5 ms"
// place: "detect 7 ms of it"
// place: "a camera board"
// place: "measured"
//
// Items that come faster than two workers can take them.

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "decode(4 bytes) -> 4 bytes", 5e-3},
                                    {"callable", "detect(4 bytes) -> 4 bytes", 7e-3}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows, .date = "2026-11-25"};

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int, lv::every<7_ms>> | lv::stage<"decode">([](const int& i) { return 2 * i; }) |
           lv::stage<"detect">([](const int& i) { return 2 * i; });
#else
  auto p = lv::input<int, lv::every<5_ms>> | lv::stage<"decode">([](const int& i) { return 2 * i; }) |
           lv::stage<"detect">([](const int& i) { return 2 * i; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>>(p);
  return app(1);
}
