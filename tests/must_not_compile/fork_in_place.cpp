// SPDX-License-Identifier: Apache-2.0
// error: stage_changes_or_consumes_an_item_that_another_branch_takes_too
// place: "twice"
//
// The other branch would see the changed item.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> |
#ifdef LEVADA_CORRECT
      lv::fork(lv::stage<"twice">([](const int& x) { return 2 * x; }), lv::identity) |
#else
      lv::fork(lv::stage<"twice">([](int& x) { x *= 2; }), lv::identity) |
#endif
      lv::join<"sum">([](const int& a, const int& b) { return a + b; }));
  return app(1);
}
