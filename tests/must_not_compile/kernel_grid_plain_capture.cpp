// SPDX-License-Identifier: Apache-2.0
// error: a kernel captures a plain value, which would be baked in: capture uniform{value} instead
//
// A number captured by a grid kernel as it is.

#include <levada/kernel/detail/grid_kernel.hpp>

namespace lv = levada;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  auto kernel = lv::grid_kernel<"scale", lv::tensor<float, 32>, lv::tensor<float, 32>>(
      lv::grid<32>{}, [gain = lv::uniform{half * 3}](auto g, auto in, auto out) { out(g.x()) = in(g.x()) * gain; });
#else
  auto kernel = lv::grid_kernel<"scale", lv::tensor<float, 32>, lv::tensor<float, 32>>(
      lv::grid<32>{}, [gain = half * 3](auto g, auto in, auto out) { out(g.x()) = in(g.x()) * gain; });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
