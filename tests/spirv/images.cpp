// SPDX-License-Identifier: Apache-2.0
// Pictures on a Vulkan device against `reference`, in both layouts, of bytes and of floats.

#include <levada/backend/spirv/detail/image.hpp>

#include "direct.hpp"

namespace spirv_images {

using namespace spirv_test;

using planes = lv::tensor<float, 2, 11, 17>;
using pixels = lv::tensor<std::uint8_t, 13, 10, 3>;

using enum lv::resize_mode;
using enum lv::coordinate_mode;
constexpr auto chw = lv::layout::chw, hwc = lv::layout::hwc;

TEST_CASE("resizes of every mode, larger and smaller, where weights add up in the same order") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<planes>(0, lv::resize_op<5, 40, nearest, chw>());
  check_on_device<planes>(0, lv::resize_op<23, 9, bilinear, chw>());
  check_on_device<planes>(0, lv::resize_op<20, 20, bicubic, chw>());
  check_on_device<pixels>(0, lv::resize_op<7, 21, nearest, hwc>{{}, {.nearest = lv::nearest_mode::ceil}});
  check_on_device<pixels>(0, lv::resize_op<26, 5, bilinear, hwc>{{}, {.coordinates = align_corners}});
  check_on_device<pixels>(0,
                          lv::resize_op<9, 16, bicubic, hwc>{{}, {.coordinates = asymmetric, .exclude_outside = true}});
}

TEST_CASE("a part of the picture, and beyond it") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<planes>(0, lv::resize_op<8, 8, bilinear, chw>{{},
                                                                {.coordinates = tf_crop_and_resize,
                                                                 .top = 0.4,
                                                                 .left = -0.2,
                                                                 .bottom = 1.3,
                                                                 .right = 0.6,
                                                                 .extrapolation = 7.5f}});
}

TEST_CASE("a border around the picture, above and beside it") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<planes>(0, lv::letterbox_op<16, 16, bilinear, chw>());
  check_on_device<pixels>(0, lv::letterbox_op<9, 31, nearest, hwc>{{}, 12});
}

TEST_CASE("weighted means, through a scratchpad, and medians by exchanges and by bits") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<planes>(0, lv::gaussian_blur_op<5, chw>{{}, 1.3f});
  check_on_device<pixels>(0, lv::gaussian_blur_op<9, hwc>());
  check_on_device<planes>(0, lv::median_blur_op<3, chw>());
  check_on_device<pixels>(0, lv::median_blur_op<5, hwc>());
  check_on_device<planes>(0, lv::median_blur_op<7, chw>());
  check_on_device<pixels>(0, lv::median_blur_op<7, hwc>());
}

TEST_CASE("interleaved bytes to planes of floats") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<pixels>(0, lv::to_chw_op());
}

}  // namespace spirv_images
