// SPDX-License-Identifier: Apache-2.0
// error: deploy_takes_each_option_once
// place: "one"
// place: "two"
//
// Workers have one name.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
const auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::worker_name<"one">>(p);
#else
  auto app = lv::deploy<box, lv::worker_name<"one">, lv::worker_name<"two">>(p);
#endif
  return app(1);
}
