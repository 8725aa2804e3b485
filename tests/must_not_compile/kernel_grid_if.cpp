// SPDX-License-Identifier: Apache-2.0
// error: the value is known on the device only: write select(condition, a, b), no `if` or `?:`
//
// An `if` on a traced value in a grid kernel.

#include <levada/kernel/detail/grid_kernel.hpp>

namespace lv = levada;

using image = lv::tensor<float, 8, 32>;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  constexpr auto kernel = lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(
      lv::grid<32>{}, [](auto g, auto in, auto out) { g.when(in(0, g.x()) > 0.0f, [&] { out(g.x()) = 1.0f; }); });
#else
  constexpr auto kernel =
      lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(lv::grid<32>{}, [](auto g, auto in, auto out) {
        if (in(0, g.x()) > 0.0f) out(g.x()) = 1.0f;
      });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
