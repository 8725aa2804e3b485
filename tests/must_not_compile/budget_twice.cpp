// SPDX-License-Identifier: Apache-2.0
// error: deploy_takes_each_option_once
// place: memory<1048576>
// place: memory<2097152>
//
// Several bounds stand in one budget.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
const auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::budget<lv::memory<1 << 20>>>(p);
#else
  auto app = lv::deploy<box, lv::budget<lv::memory<1 << 20>>, lv::budget<lv::memory<2 << 20>>>(p);
#endif
  return app(1);
}
