// SPDX-License-Identifier: Apache-2.0
// Grid kernels: the same bits from the interpreter and from vectors of every width, and what they should be.

#include "kernel/grids.hpp"

namespace lv = levada;
using namespace kernel_test;
using lv::tensor;

TEST_CASE("a convolution with a loop over channels, padding, bias and a rectifier") {
  static constexpr int channels = 3, height = 9, width = 13, filters = 4;
  using in_t = tensor<float, channels, height, width>;
  using weight_t = tensor<float, filters, channels, 3, 3>;
  constexpr auto kernel = lv::grid_kernel<"conv", std::tuple<in_t, weight_t, tensor<float, filters>>,
                                          tensor<float, filters, height, width>>(
      lv::grid<width, height, filters>{}, [](auto g, auto in, auto w, auto bias, auto out) {
        auto x = g.x();
        auto y = g.y();
        auto filter = g.z();
        auto sum = g.fold(0, channels, bias[filter], [&](auto c, auto s) {
          for (int ky = 0; ky < 3; ++ky)
            for (int kx = 0; kx < 3; ++kx) s += in.padded(c, y + (ky - 1), x + (kx - 1)) * w(filter, c, ky, kx);
          return s;
        });
        out(filter, y, x) = max(sum, 0.0f);
      });
  memory<std::tuple<in_t, weight_t, tensor<float, filters>>> in;
  fill(in, 1);
  const auto out = checked(kernel, in);
  for (int f = 0; f < filters; ++f)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        float sum = in.get<2>()(f);
        for (int c = 0; c < channels; ++c)
          for (int ky = 0; ky < 3; ++ky)
            for (int kx = 0; kx < 3; ++kx) {
              const int row = y + ky - 1, column = x + kx - 1;
              const bool inside = row >= 0 && row < height && column >= 0 && column < width;
              sum += (inside ? in.get<0>()(c, row, column) : 0.0f) * in.get<1>()(f, c, ky, kx);
            }
        REQUIRE(out.get()(f, y, x) == std::max(sum, 0.0f));
      }
  fill(in, 2, true);
  checked(kernel, in);
}
