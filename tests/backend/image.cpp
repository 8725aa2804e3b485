// SPDX-License-Identifier: Apache-2.0
// The ops of pictures, of `simd` against `reference`.

#include "backend/compare.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t H, std::size_t W>
using bilinear_planes = resize_op<H, W, resize_mode::bilinear, layout::chw>;
template <std::size_t H, std::size_t W>
using bilinear_pixels = resize_op<H, W, resize_mode::bilinear, layout::hwc>;

template <std::size_t Height, std::size_t Width>
void check_resizes() {
  const auto to = []<std::size_t H, std::size_t W>(std::index_sequence<H, W>) {
    check_agreement<tensor<float, 2, Height, Width>>(8 * epsilon, bilinear_planes<H, W>());
    check_agreement<tensor<float, Height, Width, 3>>(8 * epsilon, bilinear_pixels<H, W>());
    // A rounding error may tip a value that lies between two grey levels.
    check_agreement<tensor<std::uint8_t, Height, Width, 3>>(1, bilinear_pixels<H, W>());
    check_agreement<tensor<std::uint8_t, 1, Height, Width>>(1, bilinear_planes<H, W>());
    check_agreement<tensor<std::uint8_t, Height, Width, 3>>(0, resize_op<H, W, resize_mode::nearest, layout::hwc>());
    check_agreement<tensor<float, 2, Height, Width>>(0, resize_op<H, W, resize_mode::nearest, layout::chw>());
  };
  to(std::index_sequence<1, 1>());
  to(std::index_sequence<Height, Width>());
  to(std::index_sequence<7, 16>());
  to(std::index_sequence<20, 33>());
}

}  // namespace

TEST_CASE("pictures of any size and any number of channels become planes") {
  check_agreement<tensor<std::uint8_t, 1, 1, 1>>(0, to_chw_op());
  check_agreement<tensor<std::uint8_t, 1, 1, 3>>(0, to_chw_op());
  check_agreement<tensor<std::uint8_t, 5, 7, 1>>(0, to_chw_op());
  check_agreement<tensor<std::uint8_t, 5, 7, 2>>(0, to_chw_op());
  check_agreement<tensor<std::uint8_t, 5, 7, 3>>(0, to_chw_op());
  check_agreement<tensor<std::uint8_t, 5, 16, 3>>(0, to_chw_op());
  check_agreement<tensor<std::uint8_t, 5, 33, 4>>(0, to_chw_op());
  check_agreement<tensor<std::uint8_t, 5, 33, 5>>(0, to_chw_op());
  check_agreement<tensor<std::uint8_t, 48, 64, 3>>(0, to_chw_op());
}

TEST_CASE("normalize agrees within the rounding of its folded factors") {
  const normalize_op<3> op({0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}, 1 / 255.0f);
  check_agreement<tensor<std::uint8_t, 3, 5, 7>>(8 * epsilon, op);
  check_agreement<tensor<std::uint8_t, 3, 4, 16>>(8 * epsilon, op);
  check_agreement<tensor<float, 3, 5, 7>>(8 * epsilon, op);
  check_agreement<tensor<float, 1, 1, 1>>(8 * epsilon, normalize_op<1>({0.5f}, {2.0f}, 1));
}

TEST_CASE("resizes up and down agree in both layouts") {
  check_resizes<1, 1>();
  check_resizes<5, 9>();
  check_resizes<16, 16>();
  check_resizes<31, 47>();
}

TEST_CASE("bicubic and all coordinate modes agree in both layouts") {
  const auto check = [](const resize_rule& rule) {
    using enum resize_mode;
    check_agreement<tensor<float, 2, 7, 19>>(16 * epsilon, resize_op<11, 37, bicubic, layout::chw>{{}, rule});
    check_agreement<tensor<float, 9, 7, 3>>(16 * epsilon, resize_op<5, 9, bicubic, layout::hwc>{{}, rule});
    check_agreement<tensor<std::uint8_t, 9, 7, 3>>(1, resize_op<5, 20, bicubic, layout::hwc>{{}, rule});
    check_agreement<tensor<float, 2, 7, 19>>(8 * epsilon, resize_op<11, 37, bilinear, layout::chw>{{}, rule});
    check_agreement<tensor<std::uint8_t, 9, 7, 3>>(0, resize_op<5, 20, nearest, layout::hwc>{{}, rule});
  };
  using enum coordinate_mode;
  for (const auto mode : {half_pixel, pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn}) {
    check({.coordinates = mode});
    check({.coordinates = mode, .nearest = nearest_mode::floor, .cubic_coeff_a = -0.5f, .exclude_outside = true});
    check({.coordinates = mode, .nearest = nearest_mode::ceil, .scale_y = 1.3, .scale_x = 2.1});
    check({.coordinates = mode, .nearest = nearest_mode::round_prefer_ceil});
  }
  check({.coordinates = tf_crop_and_resize, .top = -0.1, .left = 0.3, .bottom = 0.8, .right = 1.2, .extrapolation = 7});
}

TEST_CASE("letterboxes agree in both layouts") {
  using enum resize_mode;
  check_agreement<tensor<float, 2, 9, 20>>(8 * epsilon, letterbox_op<16, 23, bilinear, layout::chw>());
  check_agreement<tensor<std::uint8_t, 30, 9, 3>>(1, letterbox_op<16, 23, bilinear, layout::hwc>{{}, 3.0f});
  check_agreement<tensor<std::uint8_t, 8, 9, 3>>(0, letterbox_op<16, 18, nearest, layout::hwc>());
  const auto out =
      by_one_kernel<simd>(tensor<std::uint8_t, 1, 2, 1>{{10, 20}}, {}, letterbox_op<4, 2, nearest, layout::hwc>());
  CHECK(*out == tensor<std::uint8_t, 4, 2, 1>{{114, 114, 10, 20, 114, 114, 114, 114}});
}

TEST_CASE("crops are exact in both layouts and for any element") {
  check_agreement<tensor<std::uint8_t, 9, 11, 3>>(0, crop_op<2, 3, 5, 6, layout::hwc>());
  check_agreement<tensor<float, 3, 9, 11>>(0, crop_op<0, 0, 9, 11, layout::chw>());
  check_agreement<tensor<float, 3, 9, 11>>(0, crop_op<8, 10, 1, 1, layout::chw>());
  check_agreement<tensor<std::int64_t, 3, 9, 11>>(0, crop_op<1, 2, 3, 4, layout::chw>());
}
