// SPDX-License-Identifier: Apache-2.0
// Ops that move elements on a Vulkan device: the bits of `reference`.

#include <levada/backend/spirv/detail/move.hpp>

#include "direct.hpp"

namespace spirv_moves {

using namespace spirv_test;
using lv::testing::counted;
using lv::testing::random_input;

/// Elements of every width, so that each says where it came from.
template <class T>
using block = lv::tensor<T, 3, 5, 7>;

TEST_CASE("transpose, slice, pad and depth_to_space of elements of every width") {
  LEVADA_NEEDS_DEVICE();
  check_on_device(*counted<block<float>>(), 0, lv::transpose_op<2, 0, 1>());
  check_on_device(*counted<block<std::uint8_t>>(), 0, lv::transpose_op<0, 2, 1>());
  check_on_device(*counted<block<std::int64_t>>(), 0, lv::transpose_op<1, 2, 0>());
  check_on_device(*counted<block<std::int16_t>>(), 0, lv::slice_op<lv::along<0, 1, 3>, lv::along<-1, -1, -6, -2>>());
  check_on_device(*random_input<block<double>>(), 0, lv::slice_op<lv::along<1, 1, 4>>());
  check_on_device(*counted<block<bool>>(), 0, lv::slice_op<lv::along<2, 0, 7, 3>>());
  check_on_device(*counted<lv::tensor<float, 8, 3, 2>>(), 0, lv::depth_to_space_op<2>());
  check_on_device(*counted<lv::tensor<float, 8, 3, 2>>(), 0, lv::depth_to_space_op<2, lv::depth_order::crd>());
  check_on_device(*counted<lv::tensor<std::uint16_t, 2, 4, 6>>(), 0, lv::space_to_depth_op<2>());
}

TEST_CASE("every mode of pad, with any element outside") {
  LEVADA_NEEDS_DEVICE();
  using enum lv::pad_mode;
  const auto in = counted<lv::tensor<float, 4, 5>>();
  check_on_device(*in, 0, lv::pad_op<constant, 1, -2, 0, 3>{{}, -0.5});
  check_on_device(*in, 0, lv::pad_op<reflect, 3, 4, 2, 1>());
  check_on_device(*in, 0, lv::pad_op<edge, 0, 2, 5, 1>());
  check_on_device(*in, 0, lv::pad_op<wrap, 6, 0, 0, 7>());
  check_on_device(*counted<lv::tensor<std::int64_t, 3>>(), 0, lv::pad_op<constant, 2, 2>{{}, -3});
  check_on_device(*counted<lv::tensor<std::int8_t, 3>>(), 0, lv::pad_op<constant, 1, 5>{{}, -7});
}

TEST_CASE("expand, tile, gather, squeeze, crop") {
  LEVADA_NEEDS_DEVICE();
  check_on_device(*counted<lv::tensor<float, 3, 1, 2>>(), 0, lv::expand_op<2, 3, 4, 1>());
  check_on_device(*counted<lv::tensor<std::uint16_t, 3, 2>>(), 0, lv::tile_op<2, 5>());
  check_on_device(*counted<block<float>>(), 0, lv::gather_op<1, 4, 0, -1, 0>());
  check_on_device(*counted<lv::tensor<float, 3, 1, 2>>(), 0, lv::squeeze_op<1>());
  check_on_device(*counted<lv::tensor<std::uint8_t, 3, 1, 2>>(), 0, lv::unsqueeze_op<0, -1>());
  check_on_device(*counted<block<std::uint8_t>>(), 0, lv::crop_op<1, 2, 3, 4, lv::layout::chw>());
  check_on_device(*counted<block<float>>(), 0, lv::crop_op<1, 2, 2, 3, lv::layout::hwc>());
}

TEST_CASE("other shapes of elements that kernels do not compute with") {
  LEVADA_NEEDS_DEVICE();
  check_on_device(*counted<lv::tensor<std::int64_t, 3, 5>>(), 0, lv::reshape_op<5, 3>());
  check_on_device(*counted<lv::tensor<bool, 3, 5>>(), 0, lv::flatten_op());
}

TEST_CASE("a long axis that is no multiple of its index") {
  LEVADA_NEEDS_DEVICE();
  check_on_device(*counted<lv::tensor<float, 5000>>(), 0, lv::pad_op<lv::pad_mode::reflect, 7, 11>());
}

TEST_CASE("several tensors into one, and one into several, wherever they lie in their tuple") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<std::tuple<lv::tensor<float, 2, 3>, lv::tensor<float, 2, 1>, lv::tensor<float, 2, 9>>>(
      0, lv::concat_op<1>());
  check_on_device<std::tuple<lv::tensor<std::uint8_t, 1, 5>, lv::tensor<std::uint8_t, 4, 5>>>(0, lv::concat_op<0>());
  check_on_device<std::tuple<lv::tensor<std::int64_t, 2, 2, 2>, lv::tensor<std::int64_t, 2, 3, 2>>>(
      0, lv::concat_op<-2>());
  check_on_device<lv::tensor<float, 4, 6>>(0, lv::split_op<1, 1, 3, 2>());
  check_on_device<lv::tensor<std::int8_t, 8, 3>>(0, lv::split_op<0, 2, 6>());
}

TEST_CASE("slices that a tensor names, from either end or from nowhere") {
  LEVADA_NEEDS_DEVICE();
  const auto gathered = []<class Data, class Index>(std::type_identity<Data>, Index smallest) {
    auto in = std::make_unique<std::tuple<Data, lv::tensor<Index, 2, 3>>>();
    lv::testing::fill_randomly(std::get<0>(*in));
    std::get<1>(*in) = {0, 4, -1, -5, 5, smallest};
    check_on_device(*in, 0, lv::gather_by_op<1>());
  };
  gathered(std::type_identity<block<float>>(), std::int64_t{-1} << 32);
  gathered(std::type_identity<block<std::uint8_t>>(), std::int32_t{-6});
  gathered(std::type_identity<lv::tensor<double, 2, 5>>(), std::int8_t{-128});
}

}  // namespace spirv_moves
