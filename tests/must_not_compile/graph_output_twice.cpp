// SPDX-License-Identifier: Apache-2.0
// error: graph_gives_the_same_by_two_names
// place: "z"
// place: "b"
//
// Two outputs that are one value: each would be moved away.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto one = lv::stage<"one">([](const int& x) { return x + 1; });
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
#ifdef LEVADA_CORRECT
  auto model = lv::graph(lv::port<"x", int>, lv::node<"a", "x">(one), lv::node<"b", "a", "x">(sum),
                         lv::output<"y", "b">, lv::output<"z", "a">);
#else
  auto model = lv::graph(lv::port<"x", int>, lv::node<"a", "x">(one), lv::node<"b", "a", "x">(sum),
                         lv::output<"y", "b">, lv::output<"z", "b">);
#endif
  lv::deploy<lv::target<lv::cpu<2>>>(model)(1);
}
