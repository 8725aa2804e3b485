// SPDX-License-Identifier: Apache-2.0
// error: pace_needs_measured_costs_or_the_option_estimates_count
// place: "33 ms"
// place: not_measured<
// place: "decode"
// place: "0 of 2 measured, 2 unknown"
//
// A pace where nobody measured what the stages take.

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
  auto p = lv::input<int, lv::every<33_ms>> | lv::stage<"decode">([](const int& i) { return 2 * i; }) |
           lv::stage<"detect">([](const int& i) { return 2 * i; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::estimates_count>(p);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
#endif
  return app(1);
}
