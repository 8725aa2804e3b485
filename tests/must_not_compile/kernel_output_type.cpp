// SPDX-License-Identifier: Apache-2.0
// error: an output takes values of its own type: convert with to_float, to_int or to_uint
//
// An integer stored where floats are.

#include <levada/kernel/detail/grid_kernel.hpp>

namespace lv = levada;

using image = lv::tensor<float, 8, 32>;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  constexpr auto kernel = lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(
      lv::grid<32>{}, [](auto g, auto in, auto out) { out(g.x()) = to_float(g.x()) + in(0, g.x()); });
#else
  constexpr auto kernel = lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(
      lv::grid<32>{}, [](auto g, auto in, auto out) { out(g.x()) = g.x() + to_int(in(0, g.x())); });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
