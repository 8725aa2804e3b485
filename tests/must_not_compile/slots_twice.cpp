// SPDX-License-Identifier: Apache-2.0
// error: deploy_takes_each_option_once
// place-gcc: slots<4>, levada::slots<8>
// place-clang: slots<4>, levada::slots<8>
//
// Two numbers of slots, of which one would count.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
const auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::slots<4>>(p);
#else
  auto app = lv::deploy<box, lv::slots<4>, lv::slots<8>>(p);
#endif
  return app(1);
}
