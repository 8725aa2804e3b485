// SPDX-License-Identifier: Apache-2.0
// error: the lambda of g.fold gives back the state it was given, of the same type
//
// A state that is an integer at first and a float afterwards.

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
        out(g.x()) = to_float(g.fold(0, 8, 0, [&](auto y, auto s) { return to_float(s) + in(y, g.x()); }));
      });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
