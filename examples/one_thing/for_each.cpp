// SPDX-License-Identifier: Apache-2.0
// An item has parts, each of which goes through a pipeline of its own; their results come back together.

#include <cstdio>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  using numbers = lv::bounded<int, 8>;
  const auto digits = lv::stage<"digits">([](const int& x) {
    numbers found;
    for (int rest = x; rest > 0 && found.size() < 8; rest /= 10) found.push_back(rest % 10);
    return found;
  });
  const auto square = lv::stage<"square">([](const int& d) { return d * d; });
  const auto sum = lv::stage<"sum">([](const numbers& all) {
    int total = 0;
    for (const int n : all) total += n;
    return total;
  });
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | digits | lv::for_each<"each digit", 8>(square) |
                                                      lv::collect | sum);
  std::printf("the squares of the digits of 1234: %d\n", app(1234));
  return app(1234) == 30 ? 0 : 1;
}
