// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/conv.hpp: convolutions as their definitions.

#include <algorithm>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/conv1d.hpp>
#include <levada/nn/conv2d.hpp>
#include <levada/nn/conv_transpose2d.hpp>

namespace levada {

namespace detail {

/// The parameters of a convolution.
template <class Backend, class In, class Op>
struct convolution_parameters {
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  convolution_parameters(const Op&, parameter_values p) {
    std::copy_n(p.get<value>(0), weight.size(), weight.begin());
    if constexpr (Op::has_bias) std::copy_n(p.get<value>(1), Op::filters, bias.begin());
  }

  tensor<value, Op::template parameters<In>[0].extents.elements()> weight;
  tensor<value, Op::filters> bias{};
};

/// A convolution over `Height` rows and `Width` columns; one along one axis has one row.
template <class Backend, class In, class Op, std::size_t Height, std::size_t Width>
struct define_convolution : convolution_parameters<Backend, In, Op> {
  using convolution_parameters<Backend, In, Op>::convolution_parameters;
  using out_type = typename Op::template output<In>;
  using value = typename In::value_type;

  void operator()(const In& in, out_type& out, std::byte*) const {
    value* to = out.data();
    for (std::size_t f = 0; f < Op::filters; ++f)
      for (std::size_t y = 0; y < w.output_rows(Height); ++y)
        for (std::size_t x = 0; x < w.output_columns(Width); ++x) *to++ = at(in, f, y, x);
  }

 private:
  static constexpr window2d w = Op::window;
  static constexpr std::size_t group_channels = In::extents[0] / Op::groups;

  value at(const In& in, std::size_t f, std::size_t y, std::size_t x) const {
    const std::size_t first_channel = f / (Op::filters / Op::groups) * group_channels;
    value sum = this->bias[f];
    for (std::size_t c = 0; c < group_channels; ++c)
      // Outside the picture there are zeros.
      for_each_place(w, Height, Width, y, x, [&](std::size_t row, std::size_t column, std::size_t place) {
        sum += this->weight[(f * group_channels + c) * w.height * w.width + place] *
               in[((first_channel + c) * Height + row) * Width + column];
      });
    return sum;
  }
};

}  // namespace detail

template <class Backend, class In, std::size_t Filters, class... Options>
  requires op_takes<conv1d_op<Filters, Options...>, In>
struct definition<Backend, In, conv1d_op<Filters, Options...>>
    : detail::define_convolution<Backend, In, conv1d_op<Filters, Options...>, 1, In::extents[1]> {
  using detail::define_convolution<Backend, In, conv1d_op<Filters, Options...>, 1, In::extents[1]>::define_convolution;
};

template <class Backend, class In, std::size_t Filters, class... Options>
  requires op_takes<conv_transpose2d_op<Filters, Options...>, In>
struct definition<Backend, In, conv_transpose2d_op<Filters, Options...>>
    : detail::convolution_parameters<Backend, In, conv_transpose2d_op<Filters, Options...>> {
  using op_type = conv_transpose2d_op<Filters, Options...>;
  using detail::convolution_parameters<Backend, In, op_type>::convolution_parameters;
  using out_type = typename op_type::template output<In>;
  using value = typename In::value_type;

  void operator()(const In& in, out_type& out, std::byte*) const {
    constexpr std::size_t group_channels = In::extents[0] / op_type::groups;
    for (std::size_t i = 0; i < out_type::elements; ++i) out[i] = this->bias[i / (out_type::elements / Filters)];
    for (std::size_t c = 0; c < In::extents[0]; ++c)
      for (std::size_t f = 0; f < group_filters; ++f)
        for (std::size_t y = 0; y < In::extents[1]; ++y)
          for (std::size_t x = 0; x < In::extents[2]; ++x)
            add_window(in(c, y, x), this->weight.data() + (c * group_filters + f) * w.taps(), y, x,
                       c / group_channels * group_filters + f, out);
  }

 private:
  static constexpr window2d w = op_type::window;
  static constexpr std::size_t group_filters = Filters / op_type::groups;

  static void add_window(value x, const value* weight, std::size_t row, std::size_t column, std::size_t f,
                         out_type& out) {
    for (std::size_t ky = 0; ky < w.height; ++ky)
      for (std::size_t kx = 0; kx < w.width; ++kx) {
        // In the result with its padding, which is cut off.
        const std::size_t to_y = row * w.stride_y + ky * w.dilation_y, to_x = column * w.stride_x + kx * w.dilation_x;
        if (to_y < w.top || to_y >= w.top + out_type::extents[1]) continue;
        if (to_x < w.left || to_x >= w.left + out_type::extents[2]) continue;
        out(f, to_y - w.top, to_x - w.left) += x * weight[ky * w.width + kx];
      }
  }
};

}  // namespace levada
