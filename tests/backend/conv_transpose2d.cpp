// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions of `simd` against `reference`: strides with as many phases, phases without a tap, padding,
// dilation, groups, rows that are no whole vectors, and what fuses behind them.

#include <string_view>

#include <levada/backend/detail/define/conv.hpp>
#include <levada/backend/simd/detail/conv_transpose2d.hpp>

#include "backend/conv2d.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

template <class In, class Conv, class... Tail>
void check_transposed(const Conv& conv, const Tail&... tail) {
  static_assert(simd::kernel<In, Conv, Tail...>::method == std::string_view("transposed by phases"));
  check_conv<In>(conv, tail...);
}

TEST_CASE("a transposed convolution by its phases") {
  // Windows that do not overlap; tiles of several filters and vectors, and what is left of both.
  check_transposed<planes<5, 4, 33>>(conv_transpose2d_op<7, sized<2>, stride<2>>());
  check_transposed<planes<3, 3, 7>>(conv_transpose2d_op<1, sized<2>, stride<2>>());
  check_transposed<planes<2, 5, 100>>(conv_transpose2d_op<1, sized<2>, stride<2>, no_bias>());
  // Windows that overlap, and padding that is cut off.
  check_transposed<planes<6, 5, 19>>(conv_transpose2d_op<4, sized<4>, stride<2>, padding<1>>());
  check_transposed<planes<4, 6, 35>>(conv_transpose2d_op<5, sized<3>, stride<2>, padding<1>, output_padding<1>>());
  check_transposed<planes<3, 9, 40>>(conv_transpose2d_op<6, sized<5>, padding<2>>());
  check_transposed<planes<3, 4, 11>>(conv_transpose2d_op<2, sized<4, 6>, stride<2, 4>, padding<0, 3, 1, 5>>());
  // Phases and rows without a tap; three and four phases; one row, one column.
  check_transposed<planes<2, 4, 9>>(conv_transpose2d_op<3, sized<1>, stride<3>, output_padding<2>>());
  check_transposed<planes<2, 3, 21>>(conv_transpose2d_op<3, sized<2, 3>, stride<4, 2>, output_padding<3, 1>>());
  check_transposed<planes<4, 1, 1>>(conv_transpose2d_op<9, sized<4>, stride<4>>());
  check_transposed<planes<4, 7, 1>>(conv_transpose2d_op<3, sized<3>, stride<3, 5>>());
}

TEST_CASE("a transposed convolution with dilation and groups") {
  check_transposed<planes<2, 5, 6>>(conv_transpose2d_op<3, sized<3, 2>, dilation<2>, no_bias>());
  check_transposed<planes<2, 4, 18>>(conv_transpose2d_op<2, sized<3>, stride<2>, dilation<3>, padding<2>>());
  check_transposed<planes<6, 4, 17>>(conv_transpose2d_op<10, sized<3>, stride<2>, padding<1>, groups<2>>());
  check_transposed<planes<8, 5, 13>>(conv_transpose2d_op<8, sized<4>, stride<2>, padding<1>, groups<8>, no_bias>());
}

TEST_CASE("what follows a transposed convolution is part of its kernel") {
  check_transposed<planes<3, 5, 12>>(conv_transpose2d_op<4, sized<2>, stride<2>, no_bias>(), bias_op(), relu_op());
  check_transposed<planes<3, 5, 12>>(conv_transpose2d_op<4, sized<3>, stride<2>>(), relu_op(), flatten_op());
  check_transposed<planes<3, 4, 9>>(conv_transpose2d_op<5, sized<2>, stride<2>>(),
                                    transform_op([](auto x) { return x * x + 0.5f; }));
}

TEST_CASE("what phases do not take is computed by the definition") {
  using long_stride = simd::kernel<planes<2, 2, 3>, conv_transpose2d_op<1, sized<9>, stride<9>>>;
  using of_double = simd::kernel<tensor<double, 2, 2, 3>, conv_transpose2d_op<1, sized<2>, stride<2>>>;
  static_assert(detail::method_of<long_stride>.empty() && detail::method_of<of_double>.empty());
  check_conv<planes<2, 2, 3>>(conv_transpose2d_op<1, sized<9>, stride<9>>());
  check_conv<tensor<double, 2, 2, 3>>(conv_transpose2d_op<1, sized<2>, stride<2>>());
}

}  // namespace
