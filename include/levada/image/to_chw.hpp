// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/to_chw.hpp: interleaved bytes to float planes.

#include <cstdint>

#include <levada/image/layout.hpp>

namespace levada {

/// Bytes H, W, C to float C, H, W. Nothing is scaled: values stay 0 ... 255, until `normalize` or a `transform` divides
/// them. Bytes in planes already, C, H, W, need `nn::cast<float>`: more than four channels in four rows or fewer are
/// taken for such.
struct to_chw_op : moving_op {
  static constexpr std::string_view kind = "to_chw";
  static constexpr layout takes_axes = layout::hwc, gives_axes = layout::chw;
  static constexpr std::string_view expects =
      "a tensor of uint8 height, width, channels, whose values stay 0 to 255; no planes (nn::cast<float> is for those)";

  template <image_tensor In>
    requires(std::same_as<typename In::value_type, std::uint8_t> && !(In::extents[0] <= 4 && In::extents[2] > 4))
  using output = tensor<float, In::extents[2], In::extents[0], In::extents[1]>;
};

namespace image {

/// `image::to_chw | image::normalize(mean, deviation, 1 / 255.0f)`: to_chw itself scales nothing.
inline constexpr op_stage<"to_chw", to_chw_op> to_chw{};

}  // namespace image
}  // namespace levada
