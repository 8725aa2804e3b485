// SPDX-License-Identifier: Apache-2.0
// error: deploy_takes_each_option_once
// place: cpu_fallback, levada::cpu_fallback
//
// An option without a value is said once, too.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
const auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::cpu_fallback>(p);
#else
  auto app = lv::deploy<box, lv::cpu_fallback, lv::cpu_fallback>(p);
#endif
  return app(1);
}
