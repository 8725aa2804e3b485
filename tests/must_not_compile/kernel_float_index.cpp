// SPDX-License-Identifier: Apache-2.0
// error: an index is an int32: convert it with to_int
//
// A float as an index.

#include <levada/kernel/detail/grid_kernel.hpp>

namespace lv = levada;

using image = lv::tensor<float, 8, 32>;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  constexpr auto kernel = lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(
      lv::grid<32>{}, [](auto g, auto in, auto out) { out(g.x()) = in(0, to_int(in(1, g.x()))); });
#else
  constexpr auto kernel = lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(
      lv::grid<32>{}, [](auto g, auto in, auto out) { out(g.x()) = in(0, in(1, g.x())); });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
