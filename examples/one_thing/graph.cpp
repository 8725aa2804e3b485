// SPDX-License-Identifier: Apache-2.0
// Stages wired by names: one value goes to two stages, and a third takes what both gave.

#include <cstdio>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto square = lv::stage<"square">([](const int& x) { return x * x; });
  const auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::graph(lv::port<"x", int>, lv::node<"a", "x">(square),
                                                                lv::node<"b", "x">(twice), lv::node<"c", "a", "b">(sum),
                                                                lv::output<"y", "c">));
  std::printf("x * x + 2 x of 5: %d\n", app(5));
  return app(5) == 35 ? 0 : 1;
}
