// SPDX-License-Identifier: Apache-2.0
// error: items_come_faster_than_the_plan_takes_them_and_no_policy_drops_any
// place: "6.5 ms"
// place: "serial stage detect needs 7 ms"
// place: "in each 6.5 ms"
//
// Workers enough, but a stage that takes its items one by one. Where a session drops what finds no room, that is a
// plan, and the report says how much is dropped.

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "decode(4 bytes) -> 4 bytes", 5e-3},
                                    {"callable", "detect(4 bytes) -> 4 bytes", 7e-3}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows, .date = "2026-11-25"};

int main() {
  auto p = lv::input<int, lv::every<6500_us>> | lv::stage<"decode">([](const int& i) { return 2 * i; }) |
           lv::stage<"detect">(lv::serial([](const int& i) { return 2 * i; }));
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>, lv::latest_only>(p);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>>(p);
#endif
  return app(1);
}
