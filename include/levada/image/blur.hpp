// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/blur.hpp: each pixel as the weighted mean, or as the median, of those around it.

#include <array>
#include <cmath>

#include <levada/image/resize.hpp>

namespace levada {

/// The weights exp(-(k - centre)^2 / (2 sigma^2)) of `Size` taps, brought to the sum 1.
template <std::size_t Size>
std::array<float, Size> gaussian_weights(double sigma) {
  std::array<double, Size> weights{};
  double sum = 0;
  for (std::size_t k = 0; k < Size; ++k) {
    const double away = static_cast<double>(k) - static_cast<double>(Size / 2);
    sum += weights[k] = std::exp(-away * away / (2 * sigma * sigma));
  }
  std::array<float, Size> result{};
  for (std::size_t k = 0; k < Size; ++k) result[k] = static_cast<float>(weights[k] / sum);
  return result;
}

/// The mean of `Size` x `Size` pixels by Gaussian weights; beyond the border the picture's mirror image, as
/// pad_mode::reflect.
template <std::size_t Size, layout Layout>
  requires(Size % 2 == 1)
struct gaussian_blur_op : weightless_op {
  static constexpr std::string_view kind = "gaussian_blur";
  static constexpr layout takes_axes = Layout, gives_axes = Layout;
  static constexpr op_kind fuses_as = op_kind::out_fusable;
  static constexpr std::string_view expects =
      "a picture of float or uint8 with three axes in the layout named, more than half a window high and wide";

  float sigma = 0.3f * (0.5f * (Size - 1) - 1) + 0.8f;  // OpenCV's, where none is given

  template <filtered_picture In>
    requires(Size / 2 < picture<In, Layout>::height && Size / 2 < picture<In, Layout>::width)
  using output = In;

  template <class In>
  static constexpr double flops = 4.0 * static_cast<double>(Size * In::elements);
};

/// The median of `Size` x `Size` pixels; beyond the border the border itself. A NaN in a window leaves its median open.
template <std::size_t Size, layout Layout>
  requires(Size % 2 == 1)
struct median_blur_op : weightless_op {
  static constexpr std::string_view kind = "median_blur";
  static constexpr layout takes_axes = Layout, gives_axes = Layout;
  static constexpr op_kind fuses_as = op_kind::out_fusable;
  static constexpr std::string_view expects = "a picture of float or uint8 with three axes in the layout named";

  template <filtered_picture In>
  using output = In;

  template <class In>
  static constexpr double flops = static_cast<double>(Size * Size * In::elements);
};

namespace image {

/// `image::gaussian_blur<5, layout::chw>(1.1f)`; the layout has to be said.
template <std::size_t Size, layout... Layout>
  requires(sizeof...(Layout) <= 1)
constexpr auto gaussian_blur(float sigma = gaussian_blur_op<Size, layout::chw>().sigma) {
  return detail::picture_stage<"gaussian_blur", "gaussian_blur<..., layout::hwc>", Layout...>(
      gaussian_blur_op<Size, detail::layout_in<Layout...>>{{}, sigma});
}

/// `image::median_blur<3, layout::hwc>`; the layout has to be said.
template <std::size_t Size, layout... Layout>
  requires(sizeof...(Layout) <= 1)
inline constexpr auto median_blur = detail::picture_stage<"median_blur", "median_blur<..., layout::hwc>", Layout...>(
    median_blur_op<Size, detail::layout_in<Layout...>>{});

}  // namespace image
}  // namespace levada
