// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/conv_transpose2d.hpp: the transposed convolution, each output from the inputs whose windows
// reach it.

#include <levada/backend/spirv/detail/conv2d.hpp>
#include <levada/nn/conv_transpose2d.hpp>

namespace levada {

namespace detail {

template <class In, class Op, class End>
struct conv_transpose2d_source {
  [[no_unique_address]] End end;

  template <class G, class Image, class Weight, class Bias, class Out>
  constexpr void operator()(const G& g, const Image& in, const Weight& weight, const Bias& bias, const Out& out) const {
    constexpr window2d w = Op::window;
    constexpr int channels = static_cast<int>(In::extents[0] / Op::groups);
    constexpr int filters = static_cast<int>(Op::filters / Op::groups);
    constexpr int height = static_cast<int>(w.height), width = static_cast<int>(w.width);
    const auto x = g.x(), y = g.y(), filter = g.z();
    const auto first = filter / filters * channels;
    const auto sum = g.fold(0, channels, bias(filter), [&](auto c, auto s) {
      // From the last tap to the first: in the order of the inputs.
      return g.fold(0, height * width, s, [&](auto i, auto part) {
        const auto tap = height * width - 1 - i, ky = tap / width, kx = tap % width;
        const auto from_y = source(y, ky, w.top, w.stride_y, w.dilation_y);
        const auto from_x = source(x, kx, w.left, w.stride_x, w.dilation_x);
        const auto seen = in.padded(first + c, from_y, from_x);
        return part + seen * weight(first + c, filter % filters, ky, kx);
      });
    });
    out(filter, y, x) = end(sum);
  }

 private:
  /// The input whose tap falls on that output, or a negative number.
  template <class V, class K>
  static constexpr auto source(const V& index, const K& tap, std::size_t before, std::size_t stride,
                               std::size_t dilation) {
    const auto at = index + static_cast<int>(before) - tap * static_cast<int>(dilation);
    const auto place = at / static_cast<int>(stride);
    return select(place * static_cast<int>(stride) == at, place, -1);
  }
};

}  // namespace detail

template <class In, std::size_t Filters, class... Options, class... End>
  requires detail::device_conv_run<In, conv_transpose2d_op<Filters, Options...>, End...>
struct spirv_kernel<In, conv_transpose2d_op<Filters, Options...>, End...> : dispatch_kernel {
  using op_type = conv_transpose2d_op<Filters, Options...>;
  using convolved = typename op_type::template output<In>;
  using out_type = run_output_t<convolved, End...>;
  using weight =
      tensor<float, In::extents[0], Filters / op_type::groups, op_type::window.height, op_type::window.width>;
  using bias = tensor<float, Filters>;

  static constexpr std::size_t weight_bytes = sizeof(weight) + sizeof(bias);

  spirv_kernel(const op_type&, const End&... end, parameter_values p) {
    using made = with_element_t<typename out_type::value_type, convolved>;
    using over = grid<made::extents[2], made::extents[1], made::extents[0]>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    add_grid<"conv_transpose", In, made, over, weight, bias>(
        *this, detail::conv_transpose2d_source<In, op_type, detail::fused_t<End...>>{detail::fused<End...>::of(end...)},
        {p.template get<float>(0), op_type::has_bias ? p.template get<float>(1) : nullptr});
  }
};

}  // namespace levada
