// SPDX-License-Identifier: Apache-2.0
// Pixel formats to R, G, B: `simd` gives the bits of `reference`.

#include <array>

#include "backend/compare.hpp"
#include "image/picture.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

template <class Format, std::size_t Height, std::size_t Width>
void check_format() {
  using view = image_view<Format, Height, Width>;
  for (const std::size_t padding : std::array<std::size_t, 4>{0, 1, 13, 64}) {
    const picture_memory<view> memory(padding);
    check_agreement(memory.view(), 0, to_rgb_op<ycbcr_matrix::bt601, ycbcr_range::limited>());
    if constexpr (view::planes == 2 || std::same_as<Format, pixel::yuyv>) {
      check_agreement(memory.view(), 0, to_rgb_op<ycbcr_matrix::bt601, ycbcr_range::full>());
      check_agreement(memory.view(), 0, to_rgb_op<ycbcr_matrix::bt709, ycbcr_range::limited>());
      check_agreement(memory.view(), 0, to_rgb_op<ycbcr_matrix::bt709, ycbcr_range::full>());
    }
  }
}

/// Widths below, at and above those of vectors.
template <class Format>
void check_widths() {
  check_format<Format, 2, 2>();
  check_format<Format, 4, 6>();
  check_format<Format, 2, 8>();
  check_format<Format, 6, 14>();
  check_format<Format, 2, 16>();
  check_format<Format, 4, 18>();
  check_format<Format, 2, 62>();
  check_format<Format, 48, 64>();
}
template <class Format>
void check_odd_sizes() {
  check_format<Format, 1, 1>();
  check_format<Format, 3, 5>();
  check_format<Format, 1, 7>();
  check_format<Format, 5, 17>();
  check_format<Format, 3, 33>();
}

}  // namespace

TEST_CASE("nv12 of any size and pitch") { check_widths<pixel::nv12>(); }

TEST_CASE("yuyv of any size and pitch") {
  check_widths<pixel::yuyv>();
  check_format<pixel::yuyv, 1, 2>();
  check_format<pixel::yuyv, 3, 34>();
}

TEST_CASE("rgb, bgr, rgba and gray of any size and pitch") {
  check_widths<pixel::rgb>();
  check_odd_sizes<pixel::rgb>();
  check_widths<pixel::bgr>();
  check_odd_sizes<pixel::bgr>();
  check_widths<pixel::rgba>();
  check_odd_sizes<pixel::rgba>();
  check_widths<pixel::gray>();
  check_odd_sizes<pixel::gray>();
}

TEST_CASE("every code of luma and chroma gives the bits of the reference") {
  // Rows of all luma codes; the pairs of Cb and Cr take 2048 values of both over the picture.
  using view = image_view<pixel::nv12, 32, 256>;
  picture_memory<view> memory(0);
  for (std::size_t i = 0; i < memory.plane(0).size(); ++i) memory.plane(0)[i] = static_cast<std::uint8_t>(i);
  for (std::uint32_t step = 0; step < 8; ++step) {
    for (std::size_t i = 0; i < memory.plane(1).size(); ++i)
      memory.plane(1)[i] = static_cast<std::uint8_t>(i % 2 == 0 ? i / 2 * 8 + step : i / 256 * 16 + step * 2);
    check_agreement(memory.view(), 0, to_rgb_op<ycbcr_matrix::bt601, ycbcr_range::limited>());
    check_agreement(memory.view(), 0, to_rgb_op<ycbcr_matrix::bt709, ycbcr_range::full>());
  }
}

TEST_CASE("a buffer is converted as its view is, and one that was given back is an error") {
  using view = image_view<pixel::nv12, 4, 6>;
  using op = to_rgb_op<ycbcr_matrix::bt601, ycbcr_range::limited>;
  const picture_memory<view> memory(3);
  image_buffer<pixel::nv12, 4, 6> buffer(
      memory.view(), [](void*, const view&) noexcept {}, nullptr);
  const auto expected = by_one_kernel<reference>(memory.view(), {}, op());
  CHECK(*by_one_kernel<reference>(buffer, {}, op()) == *expected);
  CHECK(*by_one_kernel<simd>(buffer, {}, op()) == *expected);
  buffer.give_back();
  CHECK_THROWS_AS(by_one_kernel<reference>(buffer, {}, op()), error);
  CHECK_THROWS_AS(by_one_kernel<simd>(buffer, {}, op()), error);
}

namespace {

/// A camera's picture to planes by one kernel. Between two levels a rounding error may tip a value.
template <std::size_t Height, std::size_t Width, std::size_t ToHeight, std::size_t ToWidth>
void check_planes(const resize_rule& rule = {}) {
  const resize_op<ToHeight, ToWidth, resize_mode::bilinear, layout::hwc> resize{{}, rule};
  const normalize_op<3> normalize({0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}, 1 / 255.0f);
  for (const std::size_t padding : std::array<std::size_t, 2>{0, 13}) {
    const picture_memory<image_view<pixel::nv12, Height, Width>> memory(padding);
    check_agreement(memory.view(), 1, to_rgb_op<ycbcr_matrix::bt601, ycbcr_range::limited>(), resize, to_chw_op());
    check_agreement(memory.view(), 1 / (0.224 * 255) + 8 * epsilon, to_rgb_op<ycbcr_matrix::bt709, ycbcr_range::full>(),
                    resize, to_chw_op(), normalize);
  }
}

}  // namespace

TEST_CASE("nv12 that becomes small planes is one kernel") {
  check_planes<2, 32, 1, 16>();
  check_planes<6, 34, 9, 17>();
  check_planes<20, 66, 7, 16>();
  check_planes<54, 96, 16, 32>();  // three pixels a column: nothing lies between two
  check_planes<30, 150, 11, 17>();
}

TEST_CASE("nv12 becomes small planes by any rule of where pixels lie") {
  using enum coordinate_mode;
  for (const auto mode : {pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn})
    check_planes<30, 66, 11, 16>({.coordinates = mode});
  check_planes<30, 66, 11, 16>({.scale_y = 1.3, .scale_x = 0.3});
  check_planes<30, 66, 11, 16>({.scale_x = 0.1});  // neighbouring columns lie farther apart than these extents say
  check_planes<16, 512, 5, 16>();                  // and here so far that none is shuffled
  check_planes<30, 66, 11, 16>(
      {.coordinates = tf_crop_and_resize, .top = -0.1, .left = 0.3, .bottom = 0.8, .right = 1.2, .extrapolation = 7});
}
