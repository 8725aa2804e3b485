// SPDX-License-Identifier: Apache-2.0
// error: join_has_no_fork_before_it
// place: "sum"
// place: gives<int>
//
// One item where a join wants several.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> |
#ifdef LEVADA_CORRECT
                                                lv::fork(lv::identity, lv::identity) |
#else
                                                lv::identity |
#endif
                                                lv::join<"sum">([](const int& a, const int& b) { return a + b; }));
  return app(1);
}
