// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "sum"
// place: gives<double, int>
// place-gcc: wants<const int&, const int*>
// place-clang: wants<const int &, const int *>
//
// A node of another item.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto one = lv::stage<"one">([](const int& x) { return x + 1; });
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
#ifdef LEVADA_CORRECT
  auto model =
      lv::graph(lv::port<"x", int>, lv::node<"a", "x">(one), lv::node<"b", "a", "x">(sum), lv::output<"y", "b">);
#else
  auto model = lv::graph(lv::port<"x", int>, lv::node<"a", "x">(lv::stage<"a">([](const int& x) { return 0.5 * x; })),
                         lv::node<"b", "a", "x">(lv::join<"sum">([](const int&, const int* b) { return *b; })),
                         lv::output<"y", "b">);
#endif
  return lv::deploy<lv::target<lv::cpu<2>>>(model)(1);
}
