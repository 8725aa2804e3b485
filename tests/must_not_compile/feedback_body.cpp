// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "sum"
//
// A callable that is the body is called with the item and a reference to the state.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::feedback<"sum">([](const int& x, double& sum) { return sum += x; }, 0.0));
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::feedback<"sum">([](const int& x, double& sum) { return sum += x; }, 0));
#endif
  return app(1) > 0;
}
