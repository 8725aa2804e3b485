// SPDX-License-Identifier: Apache-2.0
// error: feedback_would_wait_for_the_state_of_items_that_its_body_takes_together
// place: "sum"
// place: "batch"
//
// A state comes back with each item: the second item of the batch needs what the batch gives. The feedback goes behind
// the batch.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto add = lv::join<"add">([](const auto& x, const int& s) { return s + (sizeof x == 0 ? 1 : 0); });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::batch<4> | lv::feedback<"sum">(add, 0));
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::feedback<"sum">(add | lv::batch<4>, 0));
#endif
  auto session = app.open();
  return 0;
}
