// SPDX-License-Identifier: Apache-2.0
// error: a grid kernel writes to its outputs and returns nothing
//
// A grid kernel that returns its result as an element-wise one does.

#include <levada/kernel/detail/grid_kernel.hpp>

namespace lv = levada;

using image = lv::tensor<float, 8, 32>;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  constexpr auto kernel = lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(
      lv::grid<32>{}, [](auto g, auto in, auto out) { out(g.x()) = in(0, g.x()); });
#else
  constexpr auto kernel =
      lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(lv::grid<32>{}, [](auto g, auto in, auto out) {
        out(g.x()) = 0.0f;
        return in(0, g.x());
      });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
