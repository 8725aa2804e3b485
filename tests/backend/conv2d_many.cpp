// SPDX-License-Identifier: Apache-2.0
// conv2d of `simd` against `reference` over many shapes. Not built for sanitizers, which take minutes over its kernels.

#include "backend/conv2d.hpp"

using namespace levada;
using namespace levada::testing;

TEST_CASE("a convolution of few or many filters on any width agrees with its definition") {
  const auto for_widths = []<std::size_t... W>(std::index_sequence<W...>) {
    (check_conv<planes<2, 4, W>>(conv2d_op<3, window<3>, padding<1>>()), ...);
    (check_conv<planes<2, 4, W>>(conv2d_op<21, window<3>, padding<1>>()), ...);
  };
  for_widths(std::index_sequence<1, 2, 3, 7, 8, 15, 16, 17, 33, 50>());
  check_conv<planes<2, 4, 20>>(conv2d_op<1, window<3>, padding<1>>());
  check_conv<planes<2, 4, 20>>(conv2d_op<16, window<3>, padding<1>>());
}

TEST_CASE("many filters fall into blocks of vectors and a rest") {
  check_conv<planes<3, 5, 9>>(conv2d_op<32, window<3>>());
  check_conv<planes<3, 5, 9>>(conv2d_op<47, window<3>>());
  check_conv<planes<3, 5, 9>>(conv2d_op<64, window<1>>());
  check_conv<planes<5, 6, 31>>(conv2d_op<80, window<3>, padding<1>>());
}

TEST_CASE("strides, dilations and uneven windows and paddings agree with their definition") {
  check_conv<planes<3, 13, 17>>(conv2d_op<4, window<3>, stride<2>>());
  check_conv<planes<3, 13, 17>>(conv2d_op<16, window<3>, stride<2>, padding<1>>());
  check_conv<planes<3, 13, 17>>(conv2d_op<16, window<2, 5>, stride<3, 1>, padding<1, 2>>());
  check_conv<planes<3, 13, 17>>(conv2d_op<2, window<2, 5>, stride<1, 3>, padding<1, 2>>());
  check_conv<planes<2, 9, 12>>(conv2d_op<3, window<3, 4>, padding<0, 3, 2, 1>>());
  check_conv<planes<2, 9, 12>>(conv2d_op<19, window<3, 4>, padding<0, 3, 2, 1>>());
  check_conv<planes<2, 9, 12>>(conv2d_op<19, window<3, 4>, padding<2, 0, 0, 0>>());
  check_conv<planes<2, 9, 12>>(conv2d_op<5, window<3>, dilation<2>, padding<2>>());
  check_conv<planes<2, 9, 12>>(conv2d_op<17, window<3>, dilation<2, 3>, padding<4, 1>>());
  check_conv<planes<2, 9, 40>>(conv2d_op<2, window<1, 11>, padding<0, 5>>());
  check_conv<planes<2, 9, 40>>(conv2d_op<16, window<9, 9>, padding<4>, stride<4>>());
  check_conv<planes<1, 5, 5>>(conv2d_op<3, window<5>, padding<9>>());
  check_conv<planes<1, 5, 5>>(conv2d_op<18, window<5>, padding<9>, stride<2>>());
  check_conv<planes<3, 32, 32>>(conv2d_op<6, window<7>, stride<4>, padding<3>>());
  check_conv<planes<3, 5, 5>>(conv2d_op<7, window<5>>());
  check_conv<planes<3, 7, 7>>(conv2d_op<40, window<1>, stride<2>>());
}

TEST_CASE("larger layers agree too") {
  check_conv<planes<64, 14, 14>>(conv2d_op<64, window<3>, padding<1>>(), relu_op());
  check_conv<planes<96, 7, 7>>(conv2d_op<128, window<1>>());
  // These exceed what the kernel keeps in cache: strips of rows, and channels in blocks.
  check_conv<planes<40, 50, 60>>(conv2d_op<32, window<3>, padding<1>>(), relu_op(), max_pool2d_op<window<2>>());
  check_conv<planes<20, 90, 41>>(conv2d_op<18, window<1>>());
  check_conv<planes<300, 7, 7>>(conv2d_op<70, window<3>, padding<1>>(), relu_op());
  check_conv<planes<70, 31, 40>>(conv2d_op<20, window<5>, stride<2>, padding<2>>());
  check_conv<planes<300, 20, 33>>(conv2d_op<64, window<3>, padding<1>>(), relu_op());
}
