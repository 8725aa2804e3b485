// SPDX-License-Identifier: Apache-2.0
// Transforms behind a convolution, a pool or a dense layer: one kernel on `simd`, with the results of single kernels.

#include "backend/conv2d.hpp"

#include <levada/nn/element_wise.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

constexpr auto silu = nn::silu.description;
constexpr auto leaky = nn::leaky_relu(0.25f).description;
constexpr auto scaled = transform<"scaled">([](auto x) { return x * 3.0f - 1.0f; }).description;
/// Makes no difference between two results larger, as the bound of check_conv has it.
constexpr auto halved = transform<"halved">([](auto x) { return x * 0.5f - 1.0f; }).description;

/// As single kernels of `simd` compute it, bit by bit: the convolution is the same, and so is the function.
template <class In, class... Ops>
void check_same(const Ops&... ops) {
  const auto in = random_tensor<In>();
  random_parameters parameters;
  parameters.add<In, Ops...>();
  const auto expected = by_single_kernels<simd>(*in, parameters.all(), ops...);
  const auto computed = by_one_kernel<simd>(*in, parameters.all(), ops...);
  check_difference(largest_difference(*expected, *computed), 0, __PRETTY_FUNCTION__);
}

}  // namespace

TEST_CASE("transforms behind a convolution, whichever way it is computed") {
  check_same<planes<3, 9, 37>>(conv2d_op<2, size<3>, padding<1>>(), silu);              // by columns
  check_same<planes<3, 9, 11>>(conv2d_op<19, size<3>>(), leaky, scaled);                // by channels
  check_same<planes<4, 9, 21>>(conv2d_op<6, size<3>, padding<1>, groups<2>>(), leaky);  // each group by itself
  check_same<planes<3, 12, 18>>(conv2d_op<6, size<3>, padding<1>>(), scaled, flatten_op());
  check_conv<planes<3, 12, 18>>(conv2d_op<6, size<3>, padding<1>>(), relu_op(), max_pool2d_op<size<2>>(), halved,
                                flatten_op());
  // Many channels are taken in blocks: the function comes after the last.
  check_same<planes<256, 4, 5>>(conv2d_op<64, size<3>>(), scaled);
}

TEST_CASE("transforms behind pools and dense layers") {
  check_same<planes<2, 9, 37>>(max_pool2d_op<size<3>, stride<2>, padding<1>>(), silu);
  check_same<planes<2, 9, 37>>(avg_pool2d_op<size<2>>(), leaky, scaled);
  check_same<tensor<float, 33>>(dense_op<19>(), scaled);
  check_same<tensor<float, 33>>(dense_op<3>(), relu_op(), scaled, leaky);
  check_same<planes<2, 3, 5>>(flatten_op(), dense_op<10>(), silu);
}

TEST_CASE("what an epilogue cannot be is a kernel of its own") {
  constexpr auto counts = transform<"counts">([](auto x) { return to_int(x); }).description;
  using conv = conv2d_op<2, size<3>>;
  using in = planes<3, 9, 9>;
  static_assert(op_kernel<simd, in, conv, std::remove_cv_t<decltype(leaky)>>);
  static_assert(!op_kernel<simd, in, conv, std::remove_cv_t<decltype(counts)>>, "another type");
  static_assert(!op_kernel<simd, tensor<double, 3, 9, 9>, conv, std::remove_cv_t<decltype(leaky)>>, "double");
  static_assert(!op_kernel<simd, in, conv, std::remove_cv_t<decltype(leaky)>, relu_op>, "relu comes before");
  static_assert(!op_kernel<simd, in, conv, std::remove_cv_t<decltype(leaky)>, max_pool2d_op<size<2>>>);
  static_assert(!op_kernel<simd, tensor<float, 33>, dense_op<3>, relu_op, bias_op>);
}
