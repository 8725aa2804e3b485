// SPDX-License-Identifier: Apache-2.0
// Pools of `simd` against `reference`.

#include "backend/compare.hpp"

using namespace levada;
using namespace levada::testing;

TEST_CASE("max pools are exact for all windows, strides and paddings") {
  for_lengths([](auto n) {
    check_agreement<tensor<float, 2, 3, n>>(0, max_pool2d_op<size<1>>());
    check_agreement<tensor<float, 2, 3, n>>(0, max_pool2d_op<size<3>, stride<1>, padding<1>>());
    check_agreement<tensor<float, 2, 3, n>>(0, max_pool2d_op<size<3>, stride<2>, padding<1>>());
    check_agreement<tensor<float, 2, 3, n + 4>>(0, max_pool2d_op<size<2, 5>, stride<1, 3>, padding<1, 0, 0, 4>>());
    check_agreement<tensor<float, 2, 3, n + 1>>(0, max_pool2d_op<size<2>>());
  });
  check_agreement<tensor<double, 3, 9, 21>>(0, max_pool2d_op<size<3>>());
  check_agreement<tensor<float, 3, 9, 50>>(0, max_pool2d_op<size<9, 50>>());
  // More rows than are joined down at a time.
  check_agreement<tensor<float, 3, 91, 203>>(0, max_pool2d_op<size<3>, stride<2>, padding<1>>());
  check_agreement<tensor<float, 2, 61, 131>>(0, max_pool2d_op<size<5, 4>, stride<1>, padding<2>>());
}

TEST_CASE("max pools of bytes, whose last vector overlaps the one before") {
  for_lengths([](auto n) {
    check_agreement<tensor<std::uint8_t, 2, 5, n + 1>>(0, max_pool2d_op<size<3>, stride<2>, padding<1>>());
    check_agreement<tensor<std::int8_t, 2, 4, 2 * n>>(0, max_pool2d_op<size<2>>());
  });
  check_agreement<tensor<std::uint8_t, 3, 7, 27>>(0, max_pool2d_op<size<3>, stride<2>>());
  check_agreement<tensor<std::uint8_t, 3, 7, 55>>(0, max_pool2d_op<size<3>, stride<2>>());
  check_agreement<tensor<std::int8_t, 3, 9, 112>>(0, max_pool2d_op<size<3>, stride<1>, padding<1>>());
  check_agreement<tensor<std::uint8_t, 2, 6, 100>>(0, max_pool2d_op<size<2, 5>, stride<1, 3>, padding<1, 0, 0, 4>>());
}

TEST_CASE("average pools count only the picture, within n epsilon") {
  for_lengths([](auto n) {
    check_agreement<tensor<float, 2, 3, n>>(10 * epsilon, avg_pool2d_op<size<1>>());
    check_agreement<tensor<float, 2, 3, n>>(10 * epsilon, avg_pool2d_op<size<3>, stride<1>, padding<1>>());
    check_agreement<tensor<float, 2, 3, n>>(10 * epsilon, avg_pool2d_op<size<3>, stride<2>, padding<1>>());
    check_agreement<tensor<float, 2, 3, n + 4>>(10 * epsilon,
                                                avg_pool2d_op<size<2, 5>, stride<1, 3>, padding<1, 0, 0, 4>>());
    check_agreement<tensor<float, 2, 3, n + 1>>(10 * epsilon, avg_pool2d_op<size<2>>());
  });
  check_agreement<tensor<double, 3, 9, 21>>(1e-14, avg_pool2d_op<size<3>>());
  check_agreement<tensor<float, 3, 7, 7>>(49 * epsilon, avg_pool2d_op<size<7>>());
}

TEST_CASE("a NaN anywhere in a pool's window makes its output NaN") {
  auto in = random_tensor<tensor<float, 2, 9, 37>>();
  for (int i = 0; i < 20; ++i) {
    (*in)[generator()() % in->size()] = not_a_number;
    (*in)[generator()() % in->size()] = -infinity;
    check_agreement(*in, 0, max_pool2d_op<size<3>, stride<2>, padding<1>>());
    check_agreement(*in, 0, max_pool2d_op<size<2>>());
    check_agreement(*in, 10 * epsilon, avg_pool2d_op<size<2>>());
  }
}

TEST_CASE("pools whose taps lie apart, and averages that count the padding") {
  for_lengths([](auto n) {
    check_agreement<tensor<float, 2, 7, n + 4>>(0, max_pool2d_op<size<3>, stride<1>, padding<1, 2>, dilation<2>>());
    check_agreement<tensor<float, 2, 7, n + 4>>(0, avg_pool2d_op<size<2, 3>, stride<2>, dilation<3, 2>>());
    check_agreement<tensor<float, 2, 7, n>>(10 * epsilon,
                                            avg_pool2d_op<size<3>, stride<1>, padding<1>, count_padding>());
  });
  auto in = tensor<float, 1, 1, 7>{{0, 1, 2, 3, 4, 5, 6}};
  const auto indirect = by_one_kernel<simd>(in, {}, max_pool2d_op<size<1, 2>, stride<1>, dilation<1, 4>>());
  CHECK(*indirect == tensor<float, 1, 1, 3>{{4, 5, 6}});
  const auto counted =
      by_one_kernel<simd>(in, {}, avg_pool2d_op<size<1, 4>, stride<1>, padding<0, 2, 0, 0>, count_padding>());
  CHECK((*counted)[0] == 0.25f);
  using apart_by_four = max_pool2d_op<size<1, 2>, stride<1>, padding<0, 3>, dilation<1, 4>>;
  static_assert(op_takes<apart_by_four, tensor<float, 1, 1, 4>>);
  static_assert(!op_takes<apart_by_four, tensor<float, 1, 1, 1>>, "taps on both sides of the picture");
}
