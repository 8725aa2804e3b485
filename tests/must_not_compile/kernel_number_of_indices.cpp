// SPDX-License-Identifier: Apache-2.0
// error: a tensor takes one index for each of its axes
//
// One index for an image of rows and columns.

#include <levada/kernel/detail/grid_kernel.hpp>

namespace lv = levada;

using image = lv::tensor<float, 8, 32>;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  constexpr auto kernel = lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(
      lv::grid<32>{}, [](auto g, auto in, auto out) { out(g.x()) = in(0, g.x()); });
#else
  constexpr auto kernel = lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(
      lv::grid<32>{}, [](auto g, auto in, auto out) { out(g.x()) = in(g.x()); });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
