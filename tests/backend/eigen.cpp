// SPDX-License-Identifier: Apache-2.0
// `eigen` against `reference`, op by op and with what it fuses.

#include <levada/backend/eigen.hpp>

#include "backend/library.hpp"

using namespace levada;
using namespace levada::testing;

TEST_CASE("eigen: convolutions of any window agree, with what folds into them") {
  check_library_conv<eigen, planes<1, 28, 28>>(conv2d_op<8, sized<5>, padding<2>>(), relu_op());
  check_library_conv<eigen, planes<3, 19, 23>>(conv2d_op<12, sized<3, 5>, stride<2, 3>, padding<1, 2>>());
  check_library_conv<eigen, planes<4, 20, 20>>(conv2d_op<6, sized<3>, dilation<2>, padding<2>, no_bias>(), bias_op());
  check_library_conv<eigen, planes<4, 20, 20>>(conv2d_op<6, sized<4>, padding<1, 0, 2, 3>>(), batch_norm_op());
  check_library_conv<eigen, planes<7, 9, 9>>(conv2d_op<5, sized<2>, stride<3>, no_bias>(), batch_norm_op(1e-3),
                                             bias_op(), relu_op());
}

TEST_CASE("eigen: products longer and wider than a block agree") {
  check_library_conv<eigen, planes<40, 15, 17>>(conv2d_op<9, sized<3>, padding<1>>(), relu_op());
  check_library_conv<eigen, planes<300, 14, 15>>(conv2d_op<33, sized<1>>(), batch_norm_op(), relu_op());
  check_library_conv<eigen, planes<300, 14, 15>>(conv2d_op<3, sized<1>, stride<2>>());
  // As many outputs as inputs, and not the same places.
  check_library_conv<eigen, planes<2, 3, 3>>(conv2d_op<3, sized<1>, stride<2>, padding<1, 1, 2, 2>>());
}

TEST_CASE("eigen: dense layers and matrix products agree") {
  check_library<eigen, tensor<float, 256>>(258, dense_op<10>());
  check_library<eigen, tensor<float, 1000>>(1004, dense_op<37, no_bias>(), bias_op(), relu_op());
  check_library<eigen, tensor<float, 3>>(8, dense_op<1>(), batch_norm_op());
  const auto product = []<class A, class B>(std::type_identity<std::tuple<A, B>>, double inner) {
    const auto a = random_tensor<A>();
    const auto b = random_tensor<B>();
    check_library<eigen>(std::tuple<A, B>(*a, *b), inner + 2, matmul_op());
  };
  product(std::type_identity<std::tuple<tensor<float, 5, 7>, tensor<float, 7, 50>>>(), 7);
  product(std::type_identity<std::tuple<tensor<float, 3, 20, 300>, tensor<float, 3, 300, 9>>>(), 300);
  product(std::type_identity<std::tuple<tensor<float, 600, 2>, tensor<float, 2, 1>>>(), 2);
}

TEST_CASE("eigen: NaN passes through relu") {
  auto in = random_tensor<tensor<float, 21>>();
  (*in)[20] = not_a_number;
  check_library<eigen>(*in, 0, dense_op<11>(), relu_op());
}

TEST_CASE("eigen: takes matrix products of float, and nothing else") {
  static_assert(!op_kernel<eigen, planes<4, 9, 9>, conv2d_op<4, sized<3>, groups<2>>>);
  static_assert(!op_kernel<eigen, tensor<double, 4, 9, 9>, conv2d_op<4, sized<3>>>);
  static_assert(!op_kernel<eigen, planes<4, 9, 9>, conv2d_op<4, sized<3>>, relu_op, batch_norm_op>);
  static_assert(!op_kernel<eigen, planes<4, 9, 9>, relu_op>);
  static_assert(!op_kernel<eigen, std::tuple<tensor<float, 2, 3>, tensor<float, 5, 3, 2>>, matmul_op>);
}

TEST_CASE("eigen: computes its part of a deployed network") { check_deployed<eigen>(); }
