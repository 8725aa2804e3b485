// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/letterbox.hpp: a picture brought to another size in its own proportions, in the middle of a border.

#include <levada/image/resize.hpp>

namespace levada {

/// Where the picture lies in the output, for boxes to find their way back: x of the picture is (x - left) * from /
/// width.
struct letterbox_place {
  std::size_t top, left, height, width;

  /// The largest `height` x `width` in the proportions of `from_height` x `from_width`, in the middle; what is odd goes
  /// below and right.
  static constexpr letterbox_place of(std::size_t from_height, std::size_t from_width, std::size_t height,
                                      std::size_t width) {
    const auto rounded = [](std::size_t a, std::size_t b) { return a < b / 2 ? 1 : (a + b / 2) / b; };
    const bool fills_height = height * from_width <= width * from_height;
    const std::size_t rows = fills_height ? height : rounded(from_height * width, from_width);
    const std::size_t columns = fills_height ? rounded(from_width * height, from_height) : width;
    return {(height - rows) / 2, (width - columns) / 2, rows, columns};
  }
};

/// A picture resized into `Height` x `Width` with a border of `fill`; in the same proportions to the nearest pixel.
template <std::size_t Height, std::size_t Width, resize_mode Mode, layout Layout>
  requires(Height > 0 && Width > 0)
struct letterbox_op : resized_picture_op<Height, Width, Layout> {
  static constexpr std::string_view kind = "letterbox";

  float fill = 114;

  template <filtered_picture In>
  static constexpr letterbox_place place =
      letterbox_place::of(picture<In, Layout>::height, picture<In, Layout>::width, Height, Width);

  template <class In>
  static constexpr double flops = resize_op<place<In>.height, place<In>.width, Mode, Layout>::template flops<In>;
};

namespace image {

/// `image::letterbox<640, 640, layout::chw>()` of C, H, W: gray around it; `image::letterbox<640, 640,
/// resize_mode::nearest, layout::hwc>(0)` of bytes H, W, C: black. The layout has to be said, the mode is bilinear
/// where it is not.
template <std::size_t Height, std::size_t Width, auto... Options>
  requires detail::resize_options<Options...>
constexpr auto letterbox(float fill = 114) {
  return detail::picture_stage<"letterbox", "letterbox<..., layout::hwc>", Options...>(
      letterbox_op<Height, Width, detail::resize_mode_in<Options...>, detail::layout_in<Options...>>{{}, fill});
}

}  // namespace image
}  // namespace levada
