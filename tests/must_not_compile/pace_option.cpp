// SPDX-License-Identifier: Apache-2.0
// error: input_takes_a_pace_longer_than_nothing_and_nothing_else
// place: slots<4>
//
// An option of deploy would go unheard here.

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int, lv::every<33_ms>> |
#else
  auto p = lv::input<int, lv::slots<4>> |
#endif
           lv::stage<"twice">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::estimates_count>(p);
  return app(1);
}
