// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/crop.hpp: a rectangle cut out of a picture.

#include <levada/image/layout.hpp>

namespace levada {

/// The `Height` x `Width` pixels whose upper left one is row `Y`, column `X`; elements of any type.
template <std::size_t Y, std::size_t X, std::size_t Height, std::size_t Width, layout Layout>
  requires(Height > 0 && Width > 0)
struct crop_op : moving_op {
  static constexpr std::string_view kind = "crop";
  static constexpr layout takes_axes = Layout, gives_axes = Layout;
  static constexpr std::string_view expects = "a picture of three axes in the layout named that holds the rectangle";

  template <image_tensor In>
    requires(Y + Height <= picture<In, Layout>::height && X + Width <= picture<In, Layout>::width)
  using output = picture_tensor<typename In::value_type, Layout, picture<In, Layout>::channels, Height, Width>;
};

namespace image {

/// `image::crop<16, 16, 224, 224, layout::hwc>`: y, x, height, width, and the layout, which has to be said.
template <std::size_t Y, std::size_t X, std::size_t Height, std::size_t Width, layout... Layout>
  requires(sizeof...(Layout) <= 1)
inline constexpr auto crop = detail::picture_stage<"crop", "crop<..., layout::hwc>", Layout...>(
    crop_op<Y, X, Height, Width, detail::layout_in<Layout...>>{});

}  // namespace image
}  // namespace levada
