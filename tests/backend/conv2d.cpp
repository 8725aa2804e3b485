// SPDX-License-Identifier: Apache-2.0
// conv2d of `simd`, alone and with what fuses into it, against `reference`; conv2d_many.cpp has more shapes.

#include "backend/conv2d.hpp"

using namespace levada;
using namespace levada::testing;

TEST_CASE("the seed network's convolutions fuse with bias, relu, pool and flatten") {
  check_conv<planes<1, 28, 28>>(conv2d_op<8, sized<5>, padding<2>>(), relu_op(), max_pool2d_op<sized<2>>());
  check_conv<planes<8, 14, 14>>(conv2d_op<16, sized<5>, padding<2>>(), relu_op(), max_pool2d_op<sized<3>>());
  check_conv<planes<8, 14, 14>>(conv2d_op<16, sized<5>, padding<2>, no_bias>(), bias_op(), relu_op(),
                                max_pool2d_op<sized<3>>(), flatten_op());
}

TEST_CASE("a pool inside the kernel reads what the convolution alone would give") {
  check_conv<planes<3, 11, 23>>(conv2d_op<5, sized<3>>(), max_pool2d_op<sized<2>>());
  check_conv<planes<3, 11, 23>>(conv2d_op<33, sized<3>>(), max_pool2d_op<sized<2>>());
  check_conv<planes<3, 11, 23>>(conv2d_op<5, sized<3>, stride<2>>(), relu_op(), max_pool2d_op<sized<2, 3>>());
  check_conv<planes<3, 11, 23>>(conv2d_op<16, sized<3>, padding<1>>(), max_pool2d_op<sized<2>, stride<3>>(), relu_op());
  check_conv<planes<3, 40, 40>>(conv2d_op<4, sized<3>, padding<1>>(), relu_op(), max_pool2d_op<sized<4>>());
  check_conv<planes<3, 20, 66>>(conv2d_op<7, sized<3>, padding<1>>(), relu_op(), max_pool2d_op<sized<2>>());
  check_conv<planes<3, 6, 6>>(conv2d_op<16, sized<3>, padding<1>>(), bias_op(), relu_op(), max_pool2d_op<sized<6>>(),
                              reshape_op<4, 4>());
}

TEST_CASE("double is computed as double") {
  check_conv<tensor<double, 2, 9, 21>>(conv2d_op<5, sized<3>, padding<1>>(), relu_op());
  check_conv<tensor<double, 2, 9, 21>>(conv2d_op<24, sized<3>, padding<1>>(), relu_op(), max_pool2d_op<sized<3>>());
}

TEST_CASE("a NaN reaches exactly the outputs that its definition says") {
  const auto poisoned = []<class In>(std::type_identity<In>, const auto&... ops) {
    auto in = random_tensor<In>();
    (*in)[In::elements / 2 + 3] = std::numeric_limits<float>::quiet_NaN();
    check_agreement(*in, 1e-4, ops...);
    (*in)[In::elements / 3] = std::numeric_limits<float>::infinity();
    check_agreement(*in, 1e-4, ops...);
    (*in)[In::elements / 3 + 1] = -std::numeric_limits<float>::infinity();
    check_agreement(*in, 1e-4, ops...);
  };
  poisoned(std::type_identity<planes<1, 28, 28>>(), conv2d_op<8, sized<5>, padding<2>>(), relu_op(),
           max_pool2d_op<sized<2>>());
  poisoned(std::type_identity<planes<8, 14, 14>>(), conv2d_op<16, sized<5>, padding<2>>(), relu_op(),
           max_pool2d_op<sized<3>>());
  poisoned(std::type_identity<planes<2, 9, 40>>(), conv2d_op<3, sized<3>, padding<1>>(), relu_op());
}

TEST_CASE("what does not fuse is not taken as one kernel") {
  using in = planes<2, 12, 12>;
  using conv = conv2d_op<4, sized<3>>;
  static_assert(op_kernel<simd, in, conv, relu_op>);
  static_assert(!op_kernel<simd, in, conv, softmax_op>);
  static_assert(!op_kernel<simd, in, conv, relu_op, bias_op>);
  static_assert(!op_kernel<simd, in, conv, relu_op, relu_op>);
  static_assert(!op_kernel<simd, in, conv, max_pool2d_op<sized<3>, stride<1>>>);
  static_assert(!op_kernel<simd, in, conv, max_pool2d_op<sized<3>, padding<1>>>);
  static_assert(!op_kernel<simd, in, conv, max_pool2d_op<sized<11>>>);
  static_assert(op_kernel<simd, in, conv2d_op<4, sized<3>, groups<2>>, relu_op>);
  static_assert(op_kernel<reference, in, conv2d_op<4, sized<3>, groups<2>>>);
}
