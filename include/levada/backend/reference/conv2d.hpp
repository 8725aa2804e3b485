// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/conv2d.hpp: convolution as its definition.

#include <algorithm>

#include <levada/backend/reference/kernel.hpp>
#include <levada/nn/conv2d.hpp>

namespace levada {

template <class In, std::size_t Filters, class... Options>
  requires op_takes<conv2d_op<Filters, Options...>, In>
struct reference_kernel<In, conv2d_op<Filters, Options...>> {
  using op_type = conv2d_op<Filters, Options...>;
  using out_type = typename op_type::template output<In>;
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  reference_kernel(const op_type&, parameter_values p) {
    std::copy_n(p.get<value>(0), weight_.size(), weight_.begin());
    if constexpr (op_type::has_bias) std::copy_n(p.get<value>(1), Filters, bias_.begin());
  }

  void operator()(const In& in, out_type& out, std::byte*) const {
    for (std::size_t f = 0; f < Filters; ++f)
      for (std::size_t y = 0; y < out_type::extents[1]; ++y)
        for (std::size_t x = 0; x < out_type::extents[2]; ++x) out(f, y, x) = at(in, f, y, x);
  }

 private:
  static constexpr std::size_t group_channels = In::extents[0] / op_type::groups;

  value at(const In& in, std::size_t f, std::size_t y, std::size_t x) const {
    constexpr window2d w = op_type::window;
    const std::size_t first_channel = f / (Filters / op_type::groups) * group_channels;
    value sum = bias_[f];
    for (std::size_t c = 0; c < group_channels; ++c)
      for (std::size_t ky = 0; ky < w.height; ++ky)
        for (std::size_t kx = 0; kx < w.width; ++kx) {
          // Row and column in the padded image; outside the picture there are zeros.
          const std::size_t row = y * w.stride_y + ky * w.dilation_y, column = x * w.stride_x + kx * w.dilation_x;
          if (row < w.top || row >= w.top + In::extents[1]) continue;
          if (column < w.left || column >= w.left + In::extents[2]) continue;
          sum += weight_[((f * group_channels + c) * w.height + ky) * w.width + kx] *
                 in(first_channel + c, row - w.top, column - w.left);
        }
    return sum;
  }

  tensor<value, Filters * group_channels * op_type::window.taps()> weight_;
  tensor<value, Filters> bias_{};
};

}  // namespace levada
