// SPDX-License-Identifier: Apache-2.0
// error: deploy_takes_each_option_once
// place: "a"
// place: "b"
//
// A plan was saved once.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
const auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::slots<4>>(p);
#else
  auto app = lv::deploy<box, lv::slots<4>, lv::pinned<"a">, lv::pinned<"b">>(p);
#endif
  return app(1);
}
