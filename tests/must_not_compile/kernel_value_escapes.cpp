// SPDX-License-Identifier: Apache-2.0
// error: a value is used behind the g.fold, g.loop or g.when that computed it: make it the state of g.fold, or a g.var
//
// A value of a round of a loop, used after it.

#include <levada/kernel/detail/grid_kernel.hpp>

namespace lv = levada;

using image = lv::tensor<float, 8, 32>;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  constexpr auto kernel =
      lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(lv::grid<32>{}, [](auto g, auto in, auto out) {
        auto last = g.fold(0, 8, 0.0f, [&](auto y, auto) { return in(y, g.x()); });
        out(g.x()) = last;
      });
#else
  constexpr auto kernel =
      lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(lv::grid<32>{}, [](auto g, auto in, auto out) {
        decltype(g.value(0.0f)) last;
        g.loop(0, 8, [&](auto y) { last = in(y, g.x()); });
        out(g.x()) = last * 2.0f;
      });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
