// SPDX-License-Identifier: Apache-2.0
// error: deadline_is_below_the_latency_that_the_plan_expects
// place: deadline_is<
// place: "10 ms"
// place: "12 ms"
// place: "detect"
// place: "a camera board"
//
// A deadline that results are expected to come behind.

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "decode(4 bytes) -> 4 bytes", 5e-3},
                                    {"callable", "detect(4 bytes) -> 4 bytes", 7e-3}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows, .date = "2026-11-25"};

int main() {
  auto p = lv::input<int, lv::every<33_ms>> | lv::stage<"decode">([](const int& i) { return 2 * i; }) |
           lv::stage<"detect">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>>(p);
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::deadline<20_ms>>();
#else
  auto session = app.open<lv::deadline<10_ms>>();
#endif
  session.push(1);
  return session.pop()->value();
}
