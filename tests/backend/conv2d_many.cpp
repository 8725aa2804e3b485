// SPDX-License-Identifier: Apache-2.0
// conv2d of `simd` against `reference` over many shapes. Not built for sanitizers, which take minutes over its kernels.

#include "backend/conv2d.hpp"

using namespace levada;
using namespace levada::testing;

TEST_CASE("a convolution of few or many filters on any width agrees with its definition") {
  const auto for_widths = []<std::size_t... W>(std::index_sequence<W...>) {
    (check_conv<planes<2, 4, W>>(conv2d_op<3, sized<3>, padding<1>>()), ...);
    (check_conv<planes<2, 4, W>>(conv2d_op<21, sized<3>, padding<1>>()), ...);
  };
  for_widths(std::index_sequence<1, 2, 3, 7, 8, 15, 16, 17, 33, 50>());
  check_conv<planes<2, 4, 20>>(conv2d_op<1, sized<3>, padding<1>>());
  check_conv<planes<2, 4, 20>>(conv2d_op<16, sized<3>, padding<1>>());
}

TEST_CASE("many filters fall into blocks of vectors and a rest") {
  check_conv<planes<3, 5, 9>>(conv2d_op<32, sized<3>>());
  check_conv<planes<3, 5, 9>>(conv2d_op<47, sized<3>>());
  check_conv<planes<3, 5, 9>>(conv2d_op<64, sized<1>>());
  check_conv<planes<5, 6, 31>>(conv2d_op<80, sized<3>, padding<1>>());
}

TEST_CASE("strides, dilations and uneven windows and paddings agree with their definition") {
  check_conv<planes<3, 13, 17>>(conv2d_op<4, sized<3>, stride<2>>());
  check_conv<planes<3, 13, 17>>(conv2d_op<16, sized<3>, stride<2>, padding<1>>());
  check_conv<planes<3, 13, 17>>(conv2d_op<16, sized<2, 5>, stride<3, 1>, padding<1, 2>>());
  check_conv<planes<3, 13, 17>>(conv2d_op<2, sized<2, 5>, stride<1, 3>, padding<1, 2>>());
  check_conv<planes<2, 9, 12>>(conv2d_op<3, sized<3, 4>, padding<0, 3, 2, 1>>());
  check_conv<planes<2, 9, 12>>(conv2d_op<19, sized<3, 4>, padding<0, 3, 2, 1>>());
  check_conv<planes<2, 9, 12>>(conv2d_op<19, sized<3, 4>, padding<2, 0, 0, 0>>());
  check_conv<planes<2, 9, 12>>(conv2d_op<5, sized<3>, dilation<2>, padding<2>>());
  check_conv<planes<2, 9, 12>>(conv2d_op<17, sized<3>, dilation<2, 3>, padding<4, 1>>());
  check_conv<planes<2, 9, 40>>(conv2d_op<2, sized<1, 11>, padding<0, 5>>());
  check_conv<planes<2, 9, 40>>(conv2d_op<16, sized<9, 9>, padding<4>, stride<4>>());
  check_conv<planes<1, 5, 5>>(conv2d_op<3, sized<5>, padding<9>>());
  check_conv<planes<1, 5, 5>>(conv2d_op<18, sized<5>, padding<9>, stride<2>>());
  check_conv<planes<3, 32, 32>>(conv2d_op<6, sized<7>, stride<4>, padding<3>>());
  check_conv<planes<3, 5, 5>>(conv2d_op<7, sized<5>>());
  check_conv<planes<3, 7, 7>>(conv2d_op<40, sized<1>, stride<2>>());
}

TEST_CASE("larger layers agree too") {
  check_conv<planes<64, 14, 14>>(conv2d_op<64, sized<3>, padding<1>>(), relu_op());
  check_conv<planes<96, 7, 7>>(conv2d_op<128, sized<1>>());
  // These exceed what the kernel keeps in cache: strips of rows, and channels in blocks.
  check_conv<planes<40, 50, 60>>(conv2d_op<32, sized<3>, padding<1>>(), relu_op(), max_pool2d_op<sized<2>>());
  check_conv<planes<20, 90, 41>>(conv2d_op<18, sized<1>>());
  check_conv<planes<300, 7, 7>>(conv2d_op<70, sized<3>, padding<1>>(), relu_op());
  check_conv<planes<70, 31, 40>>(conv2d_op<20, sized<5>, stride<2>, padding<2>>());
  check_conv<planes<300, 20, 33>>(conv2d_op<64, sized<3>, padding<1>>(), relu_op());
}
