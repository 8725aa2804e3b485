// SPDX-License-Identifier: Apache-2.0
// A state comes back with the next item: the running maximum. Each session begins anew.

#include <algorithm>
#include <array>
#include <cstdio>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto most = [](const int& x, int& state) {
    state = std::max(state, x);
    return state;
  };
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::feedback<"maximum">(most, 0));
  int last = 0;
  for (auto&& result : app.stream(std::array{3, 1, 4, 1, 5, 9, 2, 6})) {
    last = result.value();
    std::printf("%d ", last);
  }
  std::printf("\n");
  return last == 9 ? 0 : 1;
}
