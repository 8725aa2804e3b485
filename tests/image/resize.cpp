// SPDX-License-Identifier: Apache-2.0
// The coordinates of resize against the formula in exact fractions, and the shape rules of the ops of pictures.

#include <cmath>

#include <doctest/doctest.h>

#include <levada/image.hpp>

using namespace levada;

namespace {

using planes = tensor<float, 3, 10, 20>;
using pixels = tensor<std::uint8_t, 10, 20, 3>;
template <class Op, class In>
using out = typename Op::template output<In>;

static_assert(std::same_as<out<to_chw_op, pixels>, tensor<float, 3, 10, 20>>);
static_assert(!op_takes<to_chw_op, planes>);
static_assert(std::same_as<out<normalize_op<3>, planes>, planes>);
static_assert(std::same_as<out<normalize_op<3>, tensor<std::uint8_t, 3, 4, 5>>, tensor<float, 3, 4, 5>>);
static_assert(!op_takes<normalize_op<1>, planes>);
static_assert(std::same_as<decltype(image::resize<5, 6>)::op_type::output<planes>, tensor<float, 3, 5, 6>>);
static_assert(
    std::same_as<out<resize_op<5, 6, resize_mode::nearest, layout::hwc>, pixels>, tensor<std::uint8_t, 5, 6, 3>>);
static_assert(!op_takes<resize_op<5, 6, resize_mode::nearest, layout::hwc>, tensor<float, 5, 6>>);
static_assert(std::same_as<out<crop_op<1, 2, 3, 4, layout::chw>, planes>, tensor<float, 3, 3, 4>>);
static_assert(std::same_as<out<crop_op<1, 2, 3, 4, layout::hwc>, pixels>, tensor<std::uint8_t, 3, 4, 3>>);
static_assert(!op_takes<crop_op<8, 0, 3, 4, layout::chw>, planes>);
static_assert(!op_takes<crop_op<0, 17, 3, 4, layout::chw>, planes>);

constexpr auto normalized = image::normalize<"prepare">(std::array{0.5f}, std::array{0.25f}, 1 / 255.0f);
static_assert(normalized.name.view() == "prepare" && normalized.description.mean[0] == 0.5f);

}  // namespace

TEST_CASE("bilinear taps lie where half_pixel says, clamped to the picture") {
  for (std::size_t from = 1; from <= 40; ++from)
    for (std::size_t to = 1; to <= 40; ++to)
      for (std::size_t i = 0; i < to; ++i) {
        const double position =
            (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
        const double clamped = std::min(std::max(position, 0.0), static_cast<double>(from - 1));
        const resize_tap tap = bilinear_tap(i, from, to);
        REQUIRE(tap.first < from);
        REQUIRE(tap.second < from);
        const double meant = static_cast<double>(tap.first) +
                             static_cast<double>(tap.second - tap.first) * static_cast<double>(tap.fraction);
        CHECK(std::abs(meant - clamped) < 1e-6 * static_cast<double>(from));
      }
}

TEST_CASE("the nearest tap is the rounded position, halves down") {
  for (std::size_t from = 1; from <= 40; ++from)
    for (std::size_t to = 1; to <= 40; ++to)
      for (std::size_t i = 0; i < to; ++i) {
        // position = p / (2 to); ceil(position - 1/2) in whole numbers
        const long p = static_cast<long>((2 * i + 1) * from) - static_cast<long>(to), q = 2 * static_cast<long>(to);
        const long doubled = 2 * p - q;
        long rounded = doubled <= 0 ? -((-doubled) / (2 * q)) : (doubled + 2 * q - 1) / (2 * q);
        rounded = std::min(std::max(rounded, 0L), static_cast<long>(from) - 1);
        CHECK(nearest_tap(i, from, to) == static_cast<std::size_t>(rounded));
      }
}
