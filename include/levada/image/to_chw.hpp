// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/to_chw.hpp: interleaved bytes to float planes.

#include <cstdint>

#include <levada/image/layout.hpp>

namespace levada {

/// Bytes H, W, C to float C, H, W; values stay 0 ... 255.
struct to_chw_op : moving_op {
  static constexpr std::string_view kind = "to_chw";
  static constexpr std::string_view expects = "a tensor of uint8 height, width, channels";

  template <image_tensor In>
    requires std::same_as<typename In::value_type, std::uint8_t>
  using output = tensor<float, In::extents[2], In::extents[0], In::extents[1]>;
};

namespace image {

inline constexpr op_stage<"to_chw", to_chw_op> to_chw{};

}  // namespace image
}  // namespace levada
