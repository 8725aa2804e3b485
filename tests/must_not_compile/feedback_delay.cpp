// SPDX-License-Identifier: Apache-2.0
// error: feedback_comes_back_after_one_item_or_more
// place: "sum"
// place: delay<0>
//
// What an item makes cannot come back with the same item.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto add = [](const int& x, int& sum) { return sum += x; };
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::feedback<"sum", lv::delay<2>>(add, 0));
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::feedback<"sum", lv::delay<0>>(add, 0));
#endif
  return app(1);
}
