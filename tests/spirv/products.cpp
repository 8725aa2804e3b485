// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions of every kind on a Vulkan device against `reference`: sums are made in its order, so
// that the bits are the same.

#include <levada/backend/spirv/detail/conv1d.hpp>
#include <levada/backend/spirv/detail/conv_norm.hpp>
#include <levada/backend/spirv/detail/conv_transpose2d.hpp>
#include <levada/backend/spirv/detail/matmul.hpp>

#include "direct.hpp"

namespace spirv_products {

using namespace spirv_test;
using lv::testing::epsilon;

template <std::size_t... Dims>
using floats = lv::tensor<float, Dims...>;
template <class A, class B>
using pair = std::tuple<A, B>;
template <std::size_t... S>
using window = lv::size<S...>;

template <class In, class Conv>
inline constexpr bool is_tiled = lv::detail::conv_shapes<In, Conv>::tiles::pays;

/// With a batch_norm behind it, whose variance is positive.
template <class In, class Conv, class... End>
void check_folded(const Conv& conv, const End&... end) {
  lv::testing::random_parameters parameters;
  parameters.add<In, Conv, lv::batch_norm_op>();
  auto* const variance = static_cast<float*>(const_cast<void*>(parameters.all().back()));
  for (std::size_t f = 0; f < Conv::filters; ++f) variance[f] = 1 + variance[f] * variance[f];
  check_on_device(*lv::testing::random_input<In>(), 200 * epsilon, parameters.all(), conv, lv::batch_norm_op(), end...);
}

TEST_CASE("matrix products: in tiles that the matrices fill and do not fill, and too small for any") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<pair<floats<64, 24>, floats<24, 64>>>(0, lv::matmul_op());
  check_on_device<pair<floats<67, 45>, floats<45, 131>>>(0, lv::matmul_op());
  check_on_device<pair<floats<17, 21>, floats<21, 19>>>(0, lv::matmul_op(), lv::relu_op());
  check_on_device<pair<floats<3, 5>, floats<5, 4>>>(0, lv::matmul_op());
  check_on_device<pair<floats<7>, floats<7, 9>>>(0, lv::matmul_op());
  check_on_device<pair<floats<5, 7>, floats<7>>>(0, lv::matmul_op());
}

TEST_CASE("batches of matrices, which broadcast") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<pair<floats<2, 3, 4, 5>, floats<3, 5, 6>>>(0, lv::matmul_op());
  check_on_device<pair<floats<2, 1, 33, 18>, floats<3, 18, 34>>>(0, lv::matmul_op());
}

TEST_CASE("convolutions in tiles: padding, strides, dilation, groups, and what fuses behind them") {
  LEVADA_NEEDS_DEVICE();
  using plain = lv::conv2d_op<16, window<3>, lv::padding<1>>;
  using wide = lv::conv2d_op<70, window<1>, lv::no_bias>;
  using grouped =
      lv::conv2d_op<34, window<2, 3>, lv::stride<2, 1>, lv::dilation<2, 3>, lv::padding<0, 1, 2, 3>, lv::groups<2>>;
  static_assert(is_tiled<floats<4, 9, 11>, plain> && is_tiled<floats<19, 8, 8>, wide> &&
                is_tiled<floats<6, 15, 13>, grouped>);
  check_on_device<floats<4, 9, 11>>(0, plain(), lv::relu_op());
  check_on_device<floats<19, 8, 8>>(0, wide());
  check_on_device<floats<6, 15, 13>>(0, grouped());
}

TEST_CASE("convolutions by pixels: several filters at once, depthwise, large windows") {
  LEVADA_NEEDS_DEVICE();
  using four = lv::conv2d_op<8, window<3>, lv::padding<1>>;
  using depthwise = lv::conv2d_op<6, window<3>, lv::groups<3>, lv::stride<2>>;
  using large = lv::conv2d_op<2, window<8>, lv::no_bias>;
  static_assert(!is_tiled<floats<3, 9, 11>, four> &&
                lv::detail::conv_shapes<floats<3, 9, 11>, four>::filters_each == 4);
  static_assert(lv::detail::conv_shapes<floats<3, 11, 9>, depthwise>::filters_each == 2);
  check_on_device<floats<3, 9, 11>>(0, four(), lv::relu_op());
  check_on_device<floats<3, 11, 9>>(0, depthwise());
  check_on_device<floats<3, 9, 9>>(0, large());
}

TEST_CASE("a batch_norm or a bias behind a convolution costs nothing") {
  LEVADA_NEEDS_DEVICE();
  check_folded<floats<4, 8, 9>>(lv::conv2d_op<5, window<3>, lv::no_bias>());
  check_folded<floats<4, 8, 9>>(lv::conv2d_op<20, window<3>, lv::padding<1>>(), lv::relu_op());
  check_on_device<floats<4, 8, 9>>(40 * epsilon, lv::conv2d_op<5, window<3>>(), lv::bias_op(), lv::relu_op());
}

TEST_CASE("convolutions along one axis") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<floats<3, 21>>(0, lv::conv1d_op<4, window<5>, lv::padding<4, 0>>());
  check_on_device<floats<4, 50>>(0, lv::conv1d_op<6, window<3>, lv::stride<2>, lv::dilation<3>, lv::groups<2>>());
  check_on_device<floats<8, 70>>(0, lv::conv1d_op<32, window<3>>(), lv::relu_op());
}

TEST_CASE("transposed convolutions") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<floats<3, 7, 9>>(0, lv::conv_transpose2d_op<4, window<2>, lv::stride<2>>());
  check_on_device<floats<4, 5, 6>>(
      0,
      lv::conv_transpose2d_op<6, window<3>, lv::stride<2, 3>, lv::padding<1>, lv::groups<2>, lv::output_padding<1>>(),
      lv::relu_op());
  check_on_device<floats<2, 5, 6>>(0, lv::conv_transpose2d_op<3, window<3, 2>, lv::dilation<2>, lv::no_bias>());
}

}  // namespace spirv_products
