// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/layout.hpp: which axis of a picture is which.

#include <levada/graph/op_rules.hpp>

namespace levada {

/// The order of a picture's axes: planes (`chw`, what nn/ computes on) or interleaved (`hwc`, what cameras and files give).
enum class layout : unsigned char { chw, hwc };

/// A picture tensor read through its layout.
template <image_tensor T, layout Layout>
struct picture {
  static constexpr std::size_t channels = T::extents[Layout == layout::chw ? 0 : 2];
  static constexpr std::size_t height = T::extents[Layout == layout::chw ? 1 : 0];
  static constexpr std::size_t width = T::extents[Layout == layout::chw ? 2 : 1];

  /// The offset of an element.
  static constexpr std::size_t at(std::size_t channel, std::size_t y, std::size_t x) {
    return Layout == layout::chw ? (channel * height + y) * width + x : (y * width + x) * channels + channel;
  }
};

/// A picture of that many channels, rows and columns in that layout.
template <class T, layout Layout, std::size_t Channels, std::size_t Height, std::size_t Width>
using picture_tensor =
    std::conditional_t<Layout == layout::chw, tensor<T, Channels, Height, Width>, tensor<T, Height, Width, Channels>>;

}  // namespace levada
