// SPDX-License-Identifier: Apache-2.0
// error: a kernel has at most 2048 instructions, 16 loops inside each other, 16 shared arrays and 64 variables: split it, or loop with g.fold
//
// A loop of C++ with more rounds than fit.

#include <levada/kernel/detail/grid_kernel.hpp>

namespace lv = levada;

using image = lv::tensor<float, 8, 32>;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  constexpr auto kernel =
      lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(lv::grid<32>{}, [](auto g, auto in, auto out) {
        out(g.x()) = g.fold(0, 8, 0.0f, [&](auto y, auto s) { return s + in(y, g.x()); });
      });
#else
  constexpr auto kernel =
      lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(lv::grid<32>{}, [](auto g, auto in, auto out) {
        auto s = g.value(0.0f);
        for (int y = 0; y < 900; ++y) s += in(y % 8, g.x()) * static_cast<float>(y);
        out(g.x()) = s;
      });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
