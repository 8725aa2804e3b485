// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/resize.hpp: a picture of another size (ONNX Resize of height and width, without antialiasing).

#include <array>
#include <cstddef>
#include <cstdint>

#include <levada/image/layout.hpp>

namespace levada {

/// How an output pixel is made of those around its source position: of one, of two by two, of four by four.
enum class resize_mode : unsigned char { nearest, bilinear, bicubic };

/// ONNX's coordinate_transformation_mode: where an output pixel lies in the source.
enum class coordinate_mode : unsigned char {
  half_pixel,            ///< (i + 1/2) / scale - 1/2
  pytorch_half_pixel,    ///< the same; 0 for an output of one pixel
  align_corners,         ///< i (from - 1) / (to - 1)
  asymmetric,            ///< i / scale
  tf_half_pixel_for_nn,  ///< (i + 1/2) / scale
  tf_crop_and_resize     ///< as align_corners, of a part of the picture; outside of it `extrapolation`
};

/// ONNX's nearest_mode.
enum class nearest_mode : unsigned char { round_prefer_floor, round_prefer_ceil, floor, ceil };

/// The attributes of ONNX's Resize.
struct resize_rule {
  coordinate_mode coordinates = coordinate_mode::half_pixel;
  nearest_mode nearest = nearest_mode::round_prefer_floor;
  float cubic_coeff_a = -0.75f;
  /// Bicubic: pixels outside weigh nothing, where otherwise they are as those of the border.
  bool exclude_outside = false;
  /// Height and width, output over input; 0: what the extents say.
  double scale_y = 0, scale_x = 0;
  /// For tf_crop_and_resize: the part, in fractions of the picture.
  double top = 0, left = 0, bottom = 1, right = 1;
  float extrapolation = 0;
};

/// How many source pixels an output pixel is made of, along one axis.
constexpr std::size_t taps_of(resize_mode mode) {
  return mode == resize_mode::nearest ? 1 : mode == resize_mode::bilinear ? 2 : 4;
}

/// The source pixels of an output pixel along one axis, all in the picture, and what they weigh.
struct resize_tap {
  std::array<std::int32_t, 4> place{};
  std::array<float, 4> weight{};
  /// The output pixel is `extrapolation`.
  bool outside = false;
};

/// One axis of a resize.
struct resize_axis {
  resize_mode mode;
  resize_rule rule;
  std::size_t from, to;
  double scale, begin, end;

  static constexpr resize_axis rows(resize_mode mode, const resize_rule& rule, std::size_t from, std::size_t to) {
    return {mode, rule, from, to, rule.scale_y, rule.top, rule.bottom};
  }
  static constexpr resize_axis columns(resize_mode mode, const resize_rule& rule, std::size_t from, std::size_t to) {
    return {mode, rule, from, to, rule.scale_x, rule.left, rule.right};
  }

  constexpr resize_tap tap(std::size_t index) const {
    const double position = source(index);
    const std::ptrdiff_t first = floor_of(position);
    const double fraction = position - static_cast<double>(first);
    resize_tap result;
    result.outside = rule.coordinates == coordinate_mode::tf_crop_and_resize &&
                     (position < 0 || position > static_cast<double>(from - 1));
    if (mode == resize_mode::nearest) {
      result.place[0] = clamped(nearest(position));
      result.weight[0] = 1;
    } else if (mode == resize_mode::bilinear) {
      result.place[0] = clamped(first), result.place[1] = clamped(first + 1);
      result.weight[0] = static_cast<float>(1 - fraction), result.weight[1] = static_cast<float>(fraction);
    } else {
      cubic(result, first, fraction);
    }
    return result;
  }

 private:
  static constexpr std::ptrdiff_t floor_of(double x) {
    const auto towards_zero = static_cast<std::ptrdiff_t>(x);
    return static_cast<double>(towards_zero) > x ? towards_zero - 1 : towards_zero;
  }
  constexpr std::int32_t clamped(std::ptrdiff_t place) const {
    const auto last = static_cast<std::ptrdiff_t>(from) - 1;
    return static_cast<std::int32_t>(place < 0 ? 0 : place > last ? last : place);
  }

  constexpr double source(std::size_t index) const {
    using enum coordinate_mode;
    const double i = static_cast<double>(index), in = static_cast<double>(from), out = static_cast<double>(to);
    // Without a scale of its own a quotient of whole numbers, so that what lies halfway lies exactly halfway.
    const double centre = scale == 0 ? (2 * i + 1) * in / (2 * out) : (i + 0.5) / scale;
    const double length = scale == 0 ? out : scale * in;
    switch (rule.coordinates) {
      case half_pixel:
        return centre - 0.5;
      case pytorch_half_pixel:
        return to == 1 ? 0 : centre - 0.5;
      case align_corners:
        return length == 1 ? 0 : i * (in - 1) / (length - 1);
      case asymmetric:
        return scale == 0 ? i * in / out : i / scale;
      case tf_half_pixel_for_nn:
        return centre;
      case tf_crop_and_resize:
        break;
    }
    return length == 1 ? (begin + end) / 2 * (in - 1) : begin * (in - 1) + i * (end - begin) * (in - 1) / (length - 1);
  }

  constexpr std::ptrdiff_t nearest(double position) const {
    switch (rule.nearest) {
      case nearest_mode::floor:
        return floor_of(position);
      case nearest_mode::ceil:
        return -floor_of(-position);
      case nearest_mode::round_prefer_ceil:
        return floor_of(position + 0.5);
      case nearest_mode::round_prefer_floor:
        break;
    }
    return -floor_of(0.5 - position);
  }

  /// Keys' cubic convolution.
  constexpr void cubic(resize_tap& result, std::ptrdiff_t first, double fraction) const {
    const double a = static_cast<double>(rule.cubic_coeff_a);
    double weights[4]{}, sum = 0;
    for (int k = 0; k < 4; ++k) {
      const double away = k < 2 ? fraction + 1 - k : k - 1 - fraction;
      const bool near = k == 1 || k == 2;
      weights[k] =
          near ? ((a + 2) * away - (a + 3)) * away * away + 1 : ((a * away - 5 * a) * away + 8 * a) * away - 4 * a;
      const std::ptrdiff_t place = first - 1 + k;
      if (rule.exclude_outside && (place < 0 || place >= static_cast<std::ptrdiff_t>(from))) weights[k] = 0;
      result.place[static_cast<std::size_t>(k)] = clamped(place);
      sum += weights[k];
    }
    for (std::size_t k = 0; k < 4; ++k)
      result.weight[k] = static_cast<float>(rule.exclude_outside ? weights[k] / sum : weights[k]);
  }
};

/// A picture of elements that resizes and blurs are computed of: in float, integers rounded to the nearest, halves up.
template <class T>
concept filtered_picture = image_tensor<T> && (std::same_as<typename T::value_type, float> ||
                                               std::same_as<typename T::value_type, std::uint8_t>);

/// A filter's result as an element; what lies beyond the range of bytes is brought to its end.
template <class T>
constexpr T filtered(float x) {
  if constexpr (std::same_as<T, float>)
    return x;
  else
    return static_cast<T>((x < 0 ? 0 : x > 255 ? 255 : x) + 0.5f);
}

/// What ops that make a picture of `Height` x `Width` by a filter have in common.
template <std::size_t Height, std::size_t Width, layout Layout>
struct resized_picture_op : weightless_op {
  static constexpr layout takes_axes = Layout, gives_axes = Layout;
  static constexpr op_kind fuses_as = op_kind::injective;
  static constexpr std::string_view expects = "a picture of float or uint8 with three axes in the layout named";

  template <filtered_picture In>
  using output = picture_tensor<typename In::value_type, Layout, picture<In, Layout>::channels, Height, Width>;
};

/// A picture resized to `Height` x `Width`.
template <std::size_t Height, std::size_t Width, resize_mode Mode, layout Layout>
  requires(Height > 0 && Width > 0)
struct resize_op : resized_picture_op<Height, Width, Layout> {
  static constexpr std::string_view kind = "resize";

  resize_rule rule{};

  template <class In>
  static constexpr double flops =
      Mode == resize_mode::nearest ? 0.0
                                   : (Mode == resize_mode::bilinear ? 6.0 : 14.0) *
                                         static_cast<double>(resize_op::template output<In>::elements);
};

namespace detail {

/// A mode and a layout, in any order.
template <auto... Options>
concept resize_options = options_of<resize_mode, Options...> <= 1 && options_of<layout, Options...> <= 1 &&
                         options_of<resize_mode, Options...> + options_of<layout, Options...> == sizeof...(Options);
template <auto... Options>
inline constexpr resize_mode resize_mode_in = option_or<resize_mode, resize_mode::bilinear, Options...>();

}  // namespace detail

namespace image {

/// `image::resize<224, 224, layout::hwc>` of H, W, C; `image::resize<224, 224, resize_mode::nearest, layout::chw>` of
/// C, H, W. The layout has to be said, the mode is bilinear where it is not.
template <std::size_t Height, std::size_t Width, auto... Options>
  requires detail::resize_options<Options...>
inline constexpr auto resize = detail::picture_stage<"resize", "resize<..., layout::hwc>", Options...>(
    resize_op<Height, Width, detail::resize_mode_in<Options...>, detail::layout_in<Options...>>{});

/// By another rule:
/// `image::resize_by<224, 224, resize_mode::bicubic, layout::hwc>({.coordinates = coordinate_mode::align_corners})`.
template <std::size_t Height, std::size_t Width, auto... Options>
  requires detail::resize_options<Options...>
constexpr auto resize_by(const resize_rule& rule) {
  return detail::picture_stage<"resize", "resize_by<..., layout::hwc>", Options...>(
      resize_op<Height, Width, detail::resize_mode_in<Options...>, detail::layout_in<Options...>>{{}, rule});
}

}  // namespace image
}  // namespace levada
