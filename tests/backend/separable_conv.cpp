// SPDX-License-Identifier: Apache-2.0
// A depthwise convolution and the pointwise one behind it as one kernel of `simd`: against `reference`, and which are.

#include <string_view>

#include "backend/conv2d.hpp"

#include <levada/backend/detail/define/norms.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/norm.hpp>
#include <levada/nn/element_wise.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t Channels, class... Options>
using depthwise = conv2d_op<Channels, Options..., groups<Channels>>;

constexpr auto limited = nn::clip(0.0f, 6.0f).description;
constexpr auto halved = transform<"halved">([](auto x) { return x * 0.5f; }).description;

/// Kernels that need rows of a picture in place are there where some lanes of a vector can be loaded.
constexpr bool has_separable = detail::loads_some_lanes<float, isa::native>;

template <class In, class... Ops>
constexpr bool is_one_kernel = op_kernel<simd, In, Ops...>;

/// Weights and inputs are of magnitude 1 at most, and so the first sums are no larger than the taps and a bias.
template <class In, class Depthwise, class... Ops>
void check(const Depthwise& first, const Ops&... ops) {
  constexpr double taps = static_cast<double>(Depthwise::window.taps()), channels = In::extents[0];
  if constexpr (has_separable) {
    static_assert(simd::kernel<In, Depthwise, Ops...>::method == "rows of channels and product");
    check_agreement<In>((taps + 1) * channels * (taps + channels + 3) * epsilon, first, ops...);
  }
}

}  // namespace

TEST_CASE("a depthwise convolution and a pointwise one are one kernel") {
  check<planes<16, 64, 64>>(depthwise<16, size<3>, padding<1>>(), relu_op(), conv2d_op<24, size<1>>(), relu_op());
  check<planes<24, 64, 64>>(depthwise<24, size<3>, padding<1>>(), conv2d_op<24, size<1>>());
  check<planes<3, 112, 224>>(depthwise<3, size<3>, padding<1>, no_bias>(), limited, conv2d_op<5, size<1>, no_bias>(),
                             limited);
  check<planes<64, 33, 32>>(depthwise<64, size<3>, padding<1>>(), conv2d_op<16, size<1>>(), halved);
}

TEST_CASE("the depthwise one has any stride, size, dilation and padding") {
  check<planes<12, 160, 128>>(depthwise<12, size<3>, stride<2>, padding<0, 0, 1, 1>>(), relu_op(),
                              conv2d_op<32, size<1>>());
  check<planes<13, 63, 64>>(depthwise<13, size<3>, dilation<2>, padding<2>>(), conv2d_op<17, size<1>>());
  check<planes<10, 70, 66>>(depthwise<10, size<1, 3>, padding<0>>(), conv2d_op<8, size<1>>());
  check<planes<9, 66, 96>>(depthwise<9, size<3, 1>, padding<9, 0, 5, 0>>(), conv2d_op<8, size<1>>());
}

TEST_CASE("biases may be ops of their own") {
  check<planes<16, 64, 64>>(depthwise<16, size<3>, padding<1>, no_bias>(), bias_op(), relu_op(),
                            conv2d_op<24, size<1>, no_bias>(), bias_op());
}

TEST_CASE("norms behind either of them are folded into its weights") {
  using first = depthwise<16, size<3>, padding<1>>;
  using first_without = depthwise<16, size<3>, padding<1>, no_bias>;
  check<planes<16, 64, 64>>(first_without(), batch_norm_op(1e-3), relu_op(), conv2d_op<24, size<1>, no_bias>(),
                            batch_norm_op(1e-3), relu_op());
  check<planes<16, 64, 64>>(first(), batch_norm_op(1e-3), bias_op(), conv2d_op<24, size<1>>(), batch_norm_op(1e-3),
                            bias_op());
  check<planes<16, 64, 64>>(first(), relu_op(), conv2d_op<24, size<1>>(), batch_norm_op(1e-3));
}

TEST_CASE("what is no separable convolution is two kernels") {
  using in = planes<16, 64, 64>;
  using first = depthwise<16, size<3>, padding<1>>;
  static_assert(is_one_kernel<in, first, conv2d_op<8, size<1>>> == has_separable);
  static_assert(!is_one_kernel<in, conv2d_op<16, size<3>, padding<1>>, conv2d_op<8, size<1>>>, "no depthwise one");
  static_assert(!is_one_kernel<in, conv2d_op<32, size<3>, padding<1>, groups<16>>, conv2d_op<8, size<1>>>);
  static_assert(!is_one_kernel<in, first, conv2d_op<8, size<3>>>, "no pointwise one");
  static_assert(!is_one_kernel<in, first, conv2d_op<8, size<1>, stride<2>>>);
  static_assert(!is_one_kernel<in, first, conv2d_op<8, size<1>, padding<1>>>);
  static_assert(!is_one_kernel<in, first, conv2d_op<8, size<1>, groups<2>>>);
  static_assert(!is_one_kernel<in, first, conv2d_op<8, size<1>>, max_pool2d_op<size<2>>>, "a pool of the results");
  static_assert(!is_one_kernel<in, first, max_pool2d_op<size<2>>, conv2d_op<8, size<1>>>, "a pool between them");
  static_assert(!is_one_kernel<in, first, conv2d_op<16, size<1>>, first>, "two of them");
  static_assert(!is_one_kernel<in, first, conv2d_op<16, size<1>>, relu_op, conv2d_op<8, size<1>>>);
  static_assert(!is_one_kernel<in, first, conv2d_op<16, size<1>>, softmax_op>);
  static_assert(!is_one_kernel<tensor<double, 16, 64, 64>, first, conv2d_op<8, size<1>>>, "double");
  static_assert(!is_one_kernel<planes<16, 63, 63>, first, conv2d_op<8, size<1>>>, "rows end within a vector");
  static_assert(!is_one_kernel<planes<16, 16, 16>, first, conv2d_op<8, size<1>>>, "it stays in a cache");
}
