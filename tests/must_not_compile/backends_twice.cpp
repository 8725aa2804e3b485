// SPDX-License-Identifier: Apache-2.0
// error: deploy_takes_each_option_once
// place: backends<levada::simd_on
//
// All backends stand in one list, in order of preference.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
const auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::backends<lv::simd>>(p);
#else
  auto app = lv::deploy<box, lv::backends<lv::simd>, lv::backends<lv::simd>>(p);
#endif
  return app(1);
}
