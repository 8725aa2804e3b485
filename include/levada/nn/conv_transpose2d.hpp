// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/conv_transpose2d.hpp: the transposed convolution (ONNX ConvTranspose), which makes pictures larger.

#include <levada/nn/conv2d.hpp>

namespace levada {

/// Rows and columns that a transposed convolution adds at the bottom and on the right; they get the bias and what
/// reaches them.
template <std::size_t Rows, std::size_t Columns = Rows>
struct output_padding {
  static constexpr std::size_t rows = Rows, columns = Columns;
};

namespace detail {

/// What options that say nothing of it add.
template <class Option>
struct added_by : output_padding<0> {
  static constexpr bool any = false;
};
template <std::size_t A, std::size_t B, std::size_t C, std::size_t D>
inline constexpr bool say_the_same<output_padding<A, B>, output_padding<C, D>> = true;
template <std::size_t Rows, std::size_t Columns>
struct added_by<output_padding<Rows, Columns>> : output_padding<Rows, Columns> {
  static constexpr bool any = true;
};

}  // namespace detail

template <class T>
concept conv_transpose2d_option = conv2d_option<T> || detail::added_by<T>::any;

/// Each element of C, H, W adds its multiple of the window to the output, at `stride` steps; `padding` is cut off the
/// result. Parameters: "weight" [C, Filters / groups, height, width], "bias" [Filters] unless `no_bias`.
template <std::size_t Filters, conv_transpose2d_option... Options>
  requires(Filters > 0)
struct conv_transpose2d_op : convolution_op<Filters, Options...> {
  static constexpr std::string_view kind = "conv_transpose2d";
  static constexpr std::string_view expects =
      "a float or double tensor of channels, height, width whose channels the groups divide, padded by less than the "
      "result";
  using base = convolution_op<Filters, Options...>;

  /// The result's height and width before the padding is cut off.
  static constexpr std::size_t whole_rows(std::size_t rows) {
    return (rows - 1) * base::window.stride_y + base::window.reach_y() + (detail::added_by<Options>::rows + ... + 0);
  }
  static constexpr std::size_t whole_columns(std::size_t columns) {
    return (columns - 1) * base::window.stride_x + base::window.reach_x() +
           (detail::added_by<Options>::columns + ... + 0);
  }

  template <chw_tensor In>
    requires(base::groups_divide(In::extents[0]) &&
             whole_rows(In::extents[1]) > base::window.top + base::window.bottom &&
             whole_columns(In::extents[2]) > base::window.left + base::window.right)
  using output =
      tensor<typename In::value_type, Filters, whole_rows(In::extents[1]) - base::window.top - base::window.bottom,
             whole_columns(In::extents[2]) - base::window.left - base::window.right>;

  template <class In>
  static constexpr double flops =
      2.0 * static_cast<double>(In::elements * (Filters / base::groups) * base::window.taps());

  template <class In>
  static constexpr auto parameters = weight_and_bias<base::has_bias>(
      element_of<typename In::value_type>,
      shape(In::extents[0], Filters / base::groups, base::window.height, base::window.width), Filters);
};

namespace nn {

/// `nn::conv_transpose2d<"up", 8, size<2>, stride<2>>(w)` doubles height and width.
template <fixed_string Name, std::size_t Filters, conv_transpose2d_option... Options>
inline constexpr weighted_stage<Name, conv_transpose2d_op<Filters, Options...>> conv_transpose2d{};

}  // namespace nn
}  // namespace levada
