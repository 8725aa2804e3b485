// SPDX-License-Identifier: Apache-2.0
// Pools on a Vulkan device against `reference`, which adds up in the same order.

#include <levada/backend/spirv/detail/pool2d.hpp>

#include "direct.hpp"

namespace spirv_pools {

using namespace spirv_test;

template <std::size_t... Dims>
using floats = lv::tensor<float, Dims...>;
template <std::size_t... S>
using window = lv::size<S...>;

TEST_CASE("the largest of each window, with NaN among them, padding that takes no part, dilation, a large window") {
  LEVADA_NEEDS_DEVICE();
  auto in = lv::testing::random_input<floats<2, 9, 11>>();
  (*in)[17] = lv::testing::not_a_number, (*in)[40] = -lv::testing::infinity;
  check_on_device(*in, 0, lv::max_pool2d_op<window<3>, lv::stride<2>, lv::padding<1>>(), lv::relu_op());
  check_on_device(*in, 0, lv::max_pool2d_op<window<2, 3>, lv::stride<1>, lv::dilation<3, 2>>());
  check_on_device<floats<1, 20, 21>>(0, lv::max_pool2d_op<window<9, 8>, lv::stride<5>>());
}

TEST_CASE("the mean of each window, with padding that counts and does not count") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<floats<3, 8, 10>>(division_error(), lv::avg_pool2d_op<window<2>>(), lv::relu_op());
  check_on_device<floats<2, 9, 7>>(division_error(),
                                   lv::avg_pool2d_op<window<3, 4>, lv::stride<2, 1>, lv::padding<1, 2, 2, 3>>());
  check_on_device<floats<2, 9, 7>>(division_error(), lv::avg_pool2d_op<window<3>, lv::padding<1>, lv::count_padding>());
  check_on_device<floats<1, 21, 20>>(division_error(), lv::avg_pool2d_op<window<10>, lv::padding<2>>());
}

}  // namespace spirv_pools
