// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/window2d.hpp: the attributes of an op that slides a window over height and width, as a plain value.

#include <cstddef>

namespace levada {

/// A window over an image, ONNX's kernel_shape, strides, pads and dilations.
struct window2d {
  std::size_t height = 1, width = 1;
  std::size_t stride_y = 1, stride_x = 1;
  std::size_t top = 0, left = 0, bottom = 0, right = 0;
  std::size_t dilation_y = 1, dilation_x = 1;

  /// The rows and columns from the first tap to the last, both included.
  constexpr std::size_t reach_y() const { return (height - 1) * dilation_y + 1; }
  constexpr std::size_t reach_x() const { return (width - 1) * dilation_x + 1; }

  /// The padded image holds the window at least once.
  constexpr bool fits(std::size_t rows, std::size_t columns) const {
    return rows + top + bottom >= reach_y() && columns + left + right >= reach_x();
  }
  /// The output's height and width for an image of that size (ceil_mode = 0).
  constexpr std::size_t output_rows(std::size_t rows) const { return (rows + top + bottom - reach_y()) / stride_y + 1; }
  constexpr std::size_t output_columns(std::size_t columns) const {
    return (columns + left + right - reach_x()) / stride_x + 1;
  }
  constexpr std::size_t taps() const { return height * width; }
  /// No place between the taps is left out.
  constexpr bool dense_taps() const { return dilation_y == 1 && dilation_x == 1; }
};

}  // namespace levada
