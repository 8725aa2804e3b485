// SPDX-License-Identifier: Apache-2.0
// error: no_plan_keeps_what_is_promised
// place: "cpu: decode"
// place: "simulated<0>: detect"
// place: "an item every 8 ms of 6 ms"
// place: "latency 14 ms of 13 ms"
// place: "detect"
// place: "7 ms"
// place: "a camera board"
// place: "measured"
//
// No choice of devices keeps all that is promised: the nearest plan, and what it would need.

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>
#include <levada/run/simulated.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "decode(4 bytes) -> 4 bytes", 5e-3},
                                    {"callable", "detect(4 bytes) -> 4 bytes", 7e-3}};
constexpr lv::transfer_cost ways[] = {{lv::cpu<1>::id, lv::simulated<0>::id, 1e-3, 0},
                                      {lv::simulated<0>::id, lv::cpu<1>::id, 1e-3, 0}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows, .transfers = ways, .date = "2026-11-25"};

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int, lv::every<9_ms>> | lv::stage<"decode">([](const int& i) { return 2 * i; }) |
           lv::stage<"detect">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<1>, lv::simulated<0>>, lv::costs<board>, lv::budget<lv::latency<14_ms>>>(p);
#else
  auto p = lv::input<int, lv::every<6_ms>> | lv::stage<"decode">([](const int& i) { return 2 * i; }) |
           lv::stage<"detect">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<1>, lv::simulated<0>>, lv::costs<board>, lv::budget<lv::latency<13_ms>>>(p);
#endif
  return app(1);
}
