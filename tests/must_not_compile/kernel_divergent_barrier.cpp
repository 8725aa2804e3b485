// SPDX-License-Identifier: Apache-2.0
// error: g.barrier() stands where not all invocations of the workgroup come by: inside g.when, or in a loop whose bounds differ between them
//
// A barrier that some invocations never reach.

#include <levada/kernel/detail/grid_kernel.hpp>

namespace lv = levada;

using image = lv::tensor<float, 8, 32>;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  constexpr auto kernel =
      lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(lv::grid<32>{}, [](auto g, auto in, auto out) {
        auto row = g.template shared<float, 32>();
        row[g.local_x()] = in(0, g.x());
        g.barrier();
        out(g.x()) = row(31 - g.local_x());
      });
#else
  constexpr auto kernel =
      lv::grid_kernel<"sum", image, lv::tensor<float, 32>>(lv::grid<32>{}, [](auto g, auto in, auto out) {
        auto row = g.template shared<float, 32>();
        g.when(g.x() < 16, [&] {
          row[g.local_x()] = in(0, g.x());
          g.barrier();
        });
        out(g.x()) = row(31 - g.local_x());
      });
#endif
  return kernel.module()[0] == 0x07230203 ? 0 : 1;
}
