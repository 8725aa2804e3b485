// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/pool2d.hpp: the largest or the mean of each window (ONNX MaxPool, AveragePool). ONNX's ceil_mode = 1 is padding
// below and on the right, as much as the last window reaches beyond the picture.

#include <cstdint>

#include <levada/graph/detail/op_rules.hpp>
#include <levada/nn/window.hpp>

namespace levada {

namespace detail {

/// Of `taps` places that are `dilation` apart, at each of `outputs` steps one lies on the axis of `extent` behind
/// `padding`.
template <class = void>
constexpr bool taps_meet(std::size_t outputs, std::size_t stride, std::size_t taps, std::size_t dilation,
                         std::size_t padding, std::size_t extent) {
  for (std::size_t i = 0; i < outputs; ++i) {
    const std::size_t begin = i * stride, first = begin < padding ? (padding - begin + dilation - 1) / dilation : 0;
    if (first >= taps || begin + first * dilation >= padding + extent) return false;
  }
  return true;
}

/// Each window lies on at least one element, so that no output is made of padding alone (ONNX Runtime's rule too).
template <class = void>
constexpr bool pools(const window2d& w, std::size_t rows, std::size_t columns) {
  if (!w.fits(rows, columns)) return false;
  if (w.top >= w.reach_y() || w.bottom >= w.reach_y() || w.left >= w.reach_x() || w.right >= w.reach_x()) return false;
  return (w.dilation_y == 1 || taps_meet(w.output_rows(rows), w.stride_y, w.height, w.dilation_y, w.top, rows)) &&
         (w.dilation_x == 1 ||
          taps_meet(w.output_columns(columns), w.stride_x, w.width, w.dilation_x, w.left, columns));
}

}  // namespace detail

/// An average pool divides by the whole window, padding included (ONNX's count_include_pad = 1).
struct count_padding {};

template <class T>
concept pool2d_option = window_option<T> || std::same_as<T, count_padding>;

namespace detail {

/// The options of a pool; a size that stands first gives way to one behind it.
template <class... Options>
struct options_of_pool : type_tag<type_list<Options...>> {};
template <std::size_t Height, std::size_t Width, class... Options>
struct options_of_pool<size<Height, Width>, Options...> : type_tag<type_list<Options...>> {};

}  // namespace detail

/// What both pools have in common.
template <pool2d_option... Options>
struct pool2d_op : weightless_op {
  using options = typename detail::options_of_pool<Options...>::type;
  static constexpr op_kind fuses_as = op_kind::out_fusable;
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
  static constexpr window2d window = detail::pool_window<Options...>();

  template <image_tensor In>
    requires(detail::pools(window, In::extents[1], In::extents[2]))
  using pooled = tensor<typename In::value_type, In::extents[0], window.output_rows(In::extents[1]),
                        window.output_columns(In::extents[2])>;

  template <class In>
  static constexpr double flops = static_cast<double>(pooled<In>::elements * window.taps());
};

/// The largest element of each window; padding takes no part. A NaN in the window makes the output NaN (IEEE 754-2019
/// maximum).
template <window_option... Options>
struct max_pool2d_op : pool2d_op<Options...> {
  static constexpr std::string_view kind = "max_pool2d";
  static constexpr std::string_view expects =
      "a float, double, bfloat16, uint8 or int8 tensor of channels, height, width that holds the window, padded by "
      "less than it: padding<all>, <y, x> or <top, left, bottom, right>";

  template <image_tensor In>
    requires(floating_tensor<In> || std::same_as<typename In::value_type, std::uint8_t> ||
             std::same_as<typename In::value_type, std::int8_t> || std::same_as<typename In::value_type, bfloat16>)
  using output = typename pool2d_op<Options...>::template pooled<In>;
};

/// The mean of the elements of each window; padding is zeros, and not counted unless `count_padding` says so.
template <pool2d_option... Options>
struct avg_pool2d_op : pool2d_op<Options...> {
  static constexpr std::string_view kind = "avg_pool2d";
  static constexpr std::string_view expects =
      "a float or double tensor of channels, height, width that holds the window, padded by less than it: "
      "padding<all>, <y, x> or <top, left, bottom, right>";

  template <chw_tensor In>
  using output = typename pool2d_op<Options...>::template pooled<In>;
  static constexpr bool counts_padding = (std::same_as<Options, count_padding> || ...);
};

namespace nn {

/// Pools over `Size` x `Size`, or over the `size<H, W>` among the options, which also take `stride`, `padding` (all
/// sides; height, width; or top, left, bottom, right) and `dilation`: `nn::max_pool2d<3, stride<2>>`;
/// `nn::avg_pool2d<3, padding<1>, count_padding>`.
template <std::size_t Size, window_option... Options>
inline constexpr op_stage<"max_pool2d", max_pool2d_op<size<Size>, Options...>> max_pool2d{};
template <std::size_t Size, pool2d_option... Options>
inline constexpr op_stage<"avg_pool2d", avg_pool2d_op<size<Size>, Options...>> avg_pool2d{};

}  // namespace nn
}  // namespace levada
