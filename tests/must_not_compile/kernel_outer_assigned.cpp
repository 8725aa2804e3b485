// SPDX-License-Identifier: Apache-2.0
// error: a value from outside is assigned inside g.fold, g.loop or g.when, where it is traced once: make it the state of g.fold, or a g.var
//
// A sum kept in a variable of C++ while a loop on the device runs.

#include <levada/kernel/detail/grid_kernel.hpp>

namespace lv = levada;

using image = lv::tensor<float, 8, 32>;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  constexpr auto kernel =
      lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(lv::grid<32>{}, [](auto g, auto in, auto out) {
        auto sum = g.fold(0, 8, 0.0f, [&](auto y, auto s) { return s + in(y, g.x()); });
        out(g.x()) = sum;
      });
#else
  constexpr auto kernel =
      lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(lv::grid<32>{}, [](auto g, auto in, auto out) {
        auto sum = g.value(0.0f);
        g.loop(0, 8, [&](auto y) { sum += in(y, g.x()); });
        out(g.x()) = sum;
      });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
