// SPDX-License-Identifier: Apache-2.0
// What a stranger's first program with an installed levada might be. Two units include the same headers: what those
// define has to be inline.

#include <cstdio>

#include <levada/levada.hpp>

int second_unit(int item);

int main() {
  namespace lv = levada;
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> |
                                                      lv::stage<"double">([](const int& item) { return 2 * item; }) |
                                                      lv::stage<"second unit">(second_unit));
  const int result = app(20);
  std::printf("%d\n", result);
  return result == 42 ? 0 : 1;
}
