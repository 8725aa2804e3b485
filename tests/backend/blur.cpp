// SPDX-License-Identifier: Apache-2.0
// Blurs of `simd` against `reference`, and what they have to keep.

#include "backend/compare.hpp"

#include <levada/backend/simd/detail/blur.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t Size>
void check_sizes() {
  const auto check = []<std::size_t Width>(std::integral_constant<std::size_t, Width>) {
    using planes = tensor<float, 2, 7, Width>;
    using pixels = tensor<std::uint8_t, 7, Width, 3>;
    check_agreement<planes>(8 * epsilon, gaussian_blur_op<Size, layout::chw>());
    // A rounding error may tip a value that lies between two grey levels.
    check_agreement<pixels>(1, gaussian_blur_op<Size, layout::hwc>{{}, 1.7f});
    check_agreement<planes>(0, median_blur_op<Size, layout::chw>());
    if constexpr (Size > 1) check_agreement<pixels>(0, median_blur_op<Size, layout::hwc>());
  };
  check(std::integral_constant<std::size_t, Size / 2 + 1>());
  check(std::integral_constant<std::size_t, 16>());
  check(std::integral_constant<std::size_t, 45>());
}

}  // namespace

TEST_CASE("blurs of any width agree in both layouts") {
  check_sizes<3>();
  check_sizes<5>();
}

TEST_CASE("a large Gaussian, and windows of one pixel") {
  check_agreement<tensor<float, 1, 12, 30>>(16 * epsilon, gaussian_blur_op<11, layout::chw>());
  check_agreement<tensor<float, 1, 12, 30>>(0, gaussian_blur_op<1, layout::chw>());
  static_assert(!op_takes<gaussian_blur_op<11, layout::chw>, tensor<float, 1, 12, 5>>);
  static_assert(!op_takes<median_blur_op<3, layout::chw>, tensor<double, 1, 12, 5>>);
}

TEST_CASE("a Gaussian keeps a level picture and the weight of a point; a median takes the point out") {
  tensor<std::uint8_t, 9, 9, 1> level{}, point{};
  level.fill(200), point(4, 4, 0) = 255;
  CHECK(*by_one_kernel<simd>(level, {}, gaussian_blur_op<5, layout::hwc>()) == level);
  CHECK(*by_one_kernel<simd>(point, {}, median_blur_op<3, layout::hwc>()) == tensor<std::uint8_t, 9, 9, 1>{});
  tensor<float, 1, 9, 9> one{};
  one(0, 4, 4) = 1;
  const auto spread = by_one_kernel<simd>(one, {}, gaussian_blur_op<5, layout::chw>{{}, 1.0f});
  double sum = 0;
  for (const float x : *spread) sum += static_cast<double>(x);
  CHECK(std::abs(sum - 1) < 1e-6);
  CHECK((*spread)(0, 4, 5) / (*spread)(0, 4, 4) == doctest::Approx(std::exp(-0.5)));
  CHECK((*spread)(0, 4, 6) == (*spread)(0, 2, 4));
}
