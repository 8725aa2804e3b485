// SPDX-License-Identifier: Apache-2.0
// Each item takes one of two branches: easy ones a short way, hard ones a long way.

#include <cstdio>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto small = lv::stage<"small">([](const int& x) { return x + 1; });
  const auto large = lv::stage<"large">([](const int& x) { return x * x; });
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::route<"is small">([](const int& x) { return x < 10; }, small, large));
  const int few = app(3), many = app(20);
  std::printf("3 becomes %d, 20 becomes %d\n", few, many);
  return few == 4 && many == 400 ? 0 : 1;
}
