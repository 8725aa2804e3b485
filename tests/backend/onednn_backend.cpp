// SPDX-License-Identifier: Apache-2.0
// `onednn` against `reference`, op by op and in runs.

#include <atomic>
#include <thread>
#include <vector>

#include <levada/backend/onednn.hpp>

#include "backend/library.hpp"

using namespace levada;
using namespace levada::testing;

TEST_CASE("onednn: convolutions of any window and groups agree, with what folds into them") {
  check_library_conv<onednn, planes<1, 28, 28>>(conv2d_op<8, sized<5>, padding<2>>(), relu_op());
  check_library_conv<onednn, planes<3, 19, 23>>(conv2d_op<12, sized<3, 5>, stride<2, 3>, padding<1, 2>>());
  check_library_conv<onednn, planes<20, 9, 9>>(conv2d_op<40, sized<1>, no_bias>(), batch_norm_op(1e-3), relu_op());
  check_library_conv<onednn, planes<4, 20, 20>>(conv2d_op<6, sized<3>, dilation<2>, padding<2>>(), bias_op());
  check_library_conv<onednn, planes<4, 20, 20>>(conv2d_op<6, sized<4>, padding<1, 0, 2, 3>>());
  check_library_conv<onednn, planes<32, 11, 11>>(conv2d_op<32, sized<3>, groups<32>, padding<1>, no_bias>(),
                                                 batch_norm_op(), bias_op(), relu_op());
  check_library_conv<onednn, planes<4, 9, 21>>(conv2d_op<6, sized<3>, padding<1>, groups<2>>());
}

TEST_CASE("onednn: convolutions of 3 x 3 and many channels, where Winograd's way is shorter, agree") {
  check_library_conv<onednn, planes<64, 14, 15>>(conv2d_op<48, sized<3>, padding<1>, no_bias>(), batch_norm_op(),
                                                 relu_op());
  check_library_conv<onednn, planes<16, 28, 9>>(conv2d_op<64, sized<3>>());
}

TEST_CASE("onednn: pools agree, also those whose last windows do not fit") {
  check_library<onednn, planes<5, 14, 14>>(0, max_pool2d_op<sized<3>>());
  check_library<onednn, planes<16, 13, 11>>(0, max_pool2d_op<sized<3>, stride<2>, padding<1>>());
  check_library<onednn, planes<16, 13, 11>>(9, avg_pool2d_op<sized<3>, stride<2>, padding<1>>());
  check_library<onednn, planes<3, 8, 9>>(9, avg_pool2d_op<sized<3>, padding<1>, count_padding>());
}

TEST_CASE("onednn: dense layers agree") {
  check_library<onednn, tensor<float, 256>>(258, dense_op<10>());
  check_library<onednn, tensor<float, 1000>>(1004, dense_op<37, no_bias>(), bias_op(), relu_op());
  check_library<onednn, tensor<float, 3>>(8, dense_op<1>(), batch_norm_op());
}

TEST_CASE("onednn: runs keep its layouts inside and give rows, from a convolution to a dense layer") {
  check_library<onednn, planes<3, 17, 17>>(9000, conv2d_op<20, sized<3>, padding<1>, no_bias>(), batch_norm_op(),
                                           relu_op(), conv2d_op<18, sized<3>, stride<2>>(), max_pool2d_op<sized<2>>(),
                                           flatten_op());
  check_library<onednn, planes<3, 12, 12>>(30000, conv2d_op<20, sized<3>>(), relu_op(), max_pool2d_op<sized<2>>(),
                                           flatten_op(), dense_op<30>(), relu_op(), dense_op<4>());
}

TEST_CASE("onednn: several threads call one kernel at once") {
  using in_type = planes<8, 16, 16>;
  using kernel = onednn::kernel<in_type, conv2d_op<24, sized<3>>, relu_op, max_pool2d_op<sized<2>>>;
  using out_type = run_output_t<in_type, conv2d_op<24, sized<3>>, relu_op, max_pool2d_op<sized<2>>>;
  random_parameters parameters;
  parameters.add<in_type, conv2d_op<24, sized<3>>>();
  const kernel k(conv2d_op<24, sized<3>>(), relu_op(), max_pool2d_op<sized<2>>(), parameter_values(parameters.all()));
  std::atomic<int> wrong = 0;
  const auto work = [&](const in_type& in, const out_type& expected) {
    const auto out = unwritten<out_type>();
    for (int i = 0; i < 200; ++i) {
      k(in, *out, nullptr);
      wrong += !(*out == expected);
    }
  };
  const auto a = random_tensor<in_type>(), b = random_tensor<in_type>();
  const auto of_a = unwritten<out_type>(), of_b = unwritten<out_type>();
  k(*a, *of_a, nullptr);
  k(*b, *of_b, nullptr);
  {
    const std::jthread first([&] { work(*a, *of_a); }), second([&] { work(*b, *of_b); });
    work(*a, *of_a);
  }
  CHECK(wrong == 0);
  CHECK_FALSE(*of_a == *of_b);
}

TEST_CASE("onednn: takes convolutions, pools and dense layers of float, and nothing else") {
  static_assert(!op_kernel<onednn, tensor<double, 4, 9, 9>, conv2d_op<4, sized<3>>>);
  static_assert(!op_kernel<onednn, planes<4, 9, 9>, relu_op>);
  static_assert(!op_kernel<onednn, planes<4, 9, 9>, flatten_op, dense_op<3>>);
  static_assert(!op_kernel<onednn, planes<4, 9, 9>, max_pool2d_op<sized<2>, dilation<2>>>);
  static_assert(!op_kernel<onednn, planes<4, 9, 9>, conv2d_op<4, sized<3>>, softmax_op>);
}

TEST_CASE("onednn: computes its part of a deployed network") { check_deployed<onednn>(); }
