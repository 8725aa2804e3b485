// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/pool2d.hpp: the largest or the mean of each window (ONNX MaxPool, AveragePool with ceil_mode = 0).

#include <levada/graph/op_rules.hpp>
#include <levada/nn/window.hpp>

namespace levada {

namespace detail {

/// Each window lies on at least one element, so that no output is made of padding alone (ONNX Runtime's rule too).
constexpr bool pools(const window2d& w, std::size_t rows, std::size_t columns) {
  return w.fits(rows, columns) && w.top < w.reach_y() && w.bottom < w.reach_y() && w.left < w.reach_x() &&
         w.right < w.reach_x() && w.dilation_y == 1 && w.dilation_x == 1;
}

}  // namespace detail

/// The shape rule of both pools.
template <window_option... Options>
struct pool2d_op : weightless_op {
  static constexpr std::string_view expects =
      "a float or double tensor of channels, height, width that holds the window, padded by less than the window";
  static constexpr window2d window = detail::pool_window<Options...>();

  template <chw_tensor In>
    requires(detail::pools(window, In::extents[1], In::extents[2]))
  using output = tensor<typename In::value_type, In::extents[0], window.output_rows(In::extents[1]),
                        window.output_columns(In::extents[2])>;

  template <class In>
  static constexpr double flops = static_cast<double>(output<In>::elements * window.taps());
};

/// The largest element of each window; padding takes no part. A NaN in the window makes the output NaN (IEEE 754-2019
/// maximum).
template <window_option... Options>
struct max_pool2d_op : pool2d_op<Options...> {
  static constexpr std::string_view kind = "max_pool2d";
};

/// The mean of the elements of each window; padding is neither added nor counted (count_include_pad = 0).
template <window_option... Options>
struct avg_pool2d_op : pool2d_op<Options...> {
  static constexpr std::string_view kind = "avg_pool2d";
};

namespace nn {

/// Pools over `Size` x `Size`, or over the `size<H, W>` among the options, which also take `stride` and `padding`:
/// `nn::max_pool2d<3, stride<2>>`.
template <std::size_t Size, window_option... Options>
inline constexpr op_stage<"max_pool2d", max_pool2d_op<size<Size>, Options...>> max_pool2d{};
template <std::size_t Size, window_option... Options>
inline constexpr op_stage<"avg_pool2d", avg_pool2d_op<size<Size>, Options...>> avg_pool2d{};

}  // namespace nn
}  // namespace levada
