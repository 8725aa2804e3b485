// SPDX-License-Identifier: Apache-2.0
// relu, bias, softmax, dense, flatten and reshape of `simd` against `reference`.

#include "backend/compare.hpp"

#include <levada/nn/element_wise.hpp>

using namespace levada;
using namespace levada::testing;

TEST_CASE("relu of any length is exact, and NaN stays NaN") {
  for_lengths([](auto n) {
    auto in = random_tensor<tensor<float, n>>();
    check_agreement(*in, 0, relu_op());
    (*in)[n / 2] = not_a_number;
    check_agreement(*in, 0, relu_op());
    check_agreement<tensor<double, n>>(0, relu_op());
  });
}

TEST_CASE("bias of any shape is exact") {
  for_lengths([](auto n) {
    check_agreement<tensor<float, n>>(0, bias_op());
    check_agreement<tensor<float, 3, n>>(0, bias_op());
    check_agreement<tensor<double, 2, 2, n>>(0, bias_op());
  });
}

TEST_CASE("softmax agrees within four epsilon, row by row, also for large and special values") {
  for_lengths([](auto n) {
    check_agreement<tensor<float, n>>(4 * epsilon, softmax_op());
    check_agreement<tensor<float, 3, n>>(4 * epsilon, softmax_op());
    check_agreement<tensor<double, n>>(1e-14, softmax_op());
    auto in = random_tensor<tensor<float, 2, n>>();
    for (float& x : *in) x *= 200;
    check_agreement(*in, 1e-5, softmax_op());
    (*in)[0] = -infinity;
    check_agreement(*in, 1e-5, softmax_op());
    (*in)[n - 1] = infinity;
    check_agreement(*in, 1e-5, softmax_op());
    (*in)[n / 2] = not_a_number;
    check_agreement(*in, 1e-5, softmax_op());
  });
}

TEST_CASE("dense of any size agrees within n epsilon, with bias, relu and a flatten before it") {
  for_lengths([](auto n) {
    constexpr double tolerance = (n + 2) * epsilon;
    check_agreement<tensor<float, n>>(tolerance, dense_op<1>());
    check_agreement<tensor<float, n>>(tolerance, dense_op<3>(), relu_op());
    check_agreement<tensor<float, n>>(tolerance, dense_op<10>(), bias_op());
    check_agreement<tensor<float, n>>(tolerance, dense_op<17, no_bias>(), bias_op(), relu_op());
    check_agreement<tensor<float, 2, n>>(2 * tolerance, flatten_op(), dense_op<8, no_bias>(), relu_op());
    check_agreement<tensor<double, n>>(1e-13, dense_op<9>());
  });
  check_agreement<tensor<float, 256>>(256 * epsilon, dense_op<10>());
  check_agreement<tensor<float, 1000>>(1000 * epsilon, dense_op<37>(), relu_op());
}

TEST_CASE("dense along the last axis of several rows agrees, with what follows it in its kernel") {
  check_agreement<tensor<float, 5, 33>>(33 * epsilon, dense_op<1>());
  check_agreement<tensor<float, 2, 3, 16>>(16 * epsilon, dense_op<10>(), relu_op());
  check_agreement<tensor<float, 13, 20>>(20 * epsilon, dense_op<100, no_bias>());
  check_agreement<tensor<float, 50, 64>>(64 * epsilon, dense_op<48>(), nn::silu.description);
  check_agreement<tensor<float, 1, 37>>(37 * epsilon, dense_op<9>(), relu_op());
  check_agreement<tensor<double, 4, 9>>(1e-14, dense_op<17>());
  static_assert(!op_kernel<simd, tensor<float, 5, 33>, dense_op<3>, bias_op>, "a bias is along the first axis");
  auto in = random_tensor<tensor<float, 3, 40>>();
  (*in)[50] = not_a_number;
  check_agreement(*in, 40 * epsilon, dense_op<20>(), relu_op());
}

TEST_CASE("a NaN among a dense layer's inputs makes all outputs NaN, through relu too") {
  auto in = random_tensor<tensor<float, 21>>();
  (*in)[20] = not_a_number;
  check_agreement(*in, 0, dense_op<11>(), relu_op());
}

TEST_CASE("flatten and reshape keep every element of any type") {
  check_agreement<tensor<float, 3, 5, 7>>(0, flatten_op());
  check_agreement<tensor<std::uint8_t, 3, 5, 7>>(0, flatten_op());
  check_agreement<tensor<float, 3, 5, 7>>(0, reshape_op<7, 15>());
  check_agreement<tensor<std::int64_t, 12>>(0, reshape_op<2, 3, 2>());
}
