// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/conv1d.hpp: convolution along one axis (ONNX Conv of C, L).

#include <levada/nn/conv2d.hpp>

namespace levada {

namespace detail {

/// The window of options that speak of one axis: the first number of each, two of a padding (begin, end).
template <class... Options>
consteval window2d one_axis_window() {
  const window2d w = convolution_window<Options...>();
  return {1, w.height, 1, w.stride_y, 0, w.top, 0, w.right, 1, w.dilation_y};
}

template <class Option>
inline constexpr bool has_four_sides = false;
template <std::size_t Top, std::size_t Left, std::size_t Bottom, std::size_t Right>
inline constexpr bool has_four_sides<padding<Top, Left, Bottom, Right>> = true;

/// The options say nothing of a second axis, which would be lost.
template <class... Options>
consteval bool speak_of_one_axis() {
  const window2d w = convolution_window<Options...>();
  return w.height == w.width && w.stride_y == w.stride_x && w.dilation_y == w.dilation_x &&
         !(has_four_sides<Options> || ...);
}

}  // namespace detail

/// The convolution of a tensor C, L: as conv2d_op of C, 1, L. Parameters: "weight" [Filters, C / groups, size], "bias"
/// [Filters] unless `no_bias`. `padding<both>` or `padding<begin, end>`; one number for `size`, `stride` and
/// `dilation`.
template <std::size_t Filters, conv2d_option... Options>
  requires(Filters > 0)
struct conv1d_op : convolution_op<Filters, Options...> {
  static constexpr std::string_view kind = "conv1d";
  static constexpr std::string_view expects =
      "a float or double tensor of channels, length that holds the window and whose channels the groups divide; "
      "padding<both> or padding<begin, end>, one number for size, stride and dilation";
  using base = convolution_op<Filters, Options...>;
  static constexpr window2d window = detail::one_axis_window<Options...>();

  template <floating_tensor In>
    requires(In::rank == 2) && (detail::speak_of_one_axis<Options...>() && window.fits(1, In::extents[1]) &&
                                base::groups_divide(In::extents[0]))
  using output = tensor<typename In::value_type, Filters, window.output_columns(In::extents[1])>;

  template <class In>
  static constexpr double flops =
      2.0 * static_cast<double>(output<In>::elements * (In::extents[0] / base::groups) * window.taps());

  template <class In>
  static constexpr auto parameters = weight_and_bias<base::has_bias>(
      element_of<typename In::value_type>, shape(Filters, In::extents[0] / base::groups, window.width), Filters);
};

namespace nn {

/// `nn::conv1d<"mix", 16, size<5>, padding<4, 0>>(w)`.
template <fixed_string Name, std::size_t Filters, conv2d_option... Options>
inline constexpr weighted_stage<Name, conv1d_op<Filters, Options...>> conv1d{};

}  // namespace nn
}  // namespace levada
