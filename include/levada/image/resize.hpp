// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/resize.hpp: a picture of another size (ONNX Resize with half_pixel coordinates, without antialiasing).

#include <cstdint>

#include <levada/image/layout.hpp>

namespace levada {

/// How an output pixel is made of those around its source position.
enum class resize_mode : unsigned char { nearest, bilinear };

/// Where an output pixel's centre lies between two source pixels of one axis: `first` and `first + 1` (both clamped to the
/// picture) weigh 1 - fraction and fraction.
struct resize_tap {
  std::size_t first, second;
  float fraction;
};

/// half_pixel coordinates: source = (index + 1/2) * from / to - 1/2, beyond the border the border itself.
constexpr resize_tap bilinear_tap(std::size_t index, std::size_t from, std::size_t to) {
  // In whole numbers, source = ((2 index + 1) from - to) / (2 to): exact for any picture.
  const std::size_t numerator = (2 * index + 1) * from, denominator = 2 * to;
  if (numerator <= to) return {0, 0, 0.0f};
  const std::size_t first = (numerator - to) / denominator;
  const float fraction =
      static_cast<float>(static_cast<double>((numerator - to) % denominator) / static_cast<double>(denominator));
  if (first + 1 >= from) return {from - 1, from - 1, 0.0f};
  return {first, first + 1, fraction};
}

/// The nearest source pixel, the lower one of two equally near (round_prefer_floor).
constexpr std::size_t nearest_tap(std::size_t index, std::size_t from, std::size_t to) {
  // ceil(source - 1/2) = ceil(((2 index + 1) from - 2 to) / (2 to))
  const std::size_t numerator = (2 * index + 1) * from, denominator = 2 * to;
  const std::size_t nearest = numerator <= denominator ? 0 : (numerator - denominator + denominator - 1) / denominator;
  return nearest < from ? nearest : from - 1;
}

/// A picture resized to `Height` x `Width`. Integers are computed in float and rounded to the nearest, halves up.
template <std::size_t Height, std::size_t Width, resize_mode Mode, layout Layout>
  requires(Height > 0 && Width > 0)
struct resize_op : weightless_op {
  static constexpr std::string_view kind = "resize";
  static constexpr std::string_view expects = "a picture of float or uint8 with three axes in the layout named";

  template <image_tensor In>
    requires(std::same_as<typename In::value_type, float> || std::same_as<typename In::value_type, std::uint8_t>)
  using output = picture_tensor<typename In::value_type, Layout, picture<In, Layout>::channels, Height, Width>;

  template <class In>
  static constexpr double flops = Mode == resize_mode::nearest ? 0.0 : 6.0 * static_cast<double>(output<In>::elements);
};

namespace image {

/// `image::resize<224, 224>` of a float tensor C, H, W; `image::resize<224, 224, resize_mode::nearest, layout::hwc>`.
template <std::size_t Height, std::size_t Width, resize_mode Mode = resize_mode::bilinear, layout Layout = layout::chw>
inline constexpr op_stage<"resize", resize_op<Height, Width, Mode, Layout>> resize{};

}  // namespace image
}  // namespace levada
