// SPDX-License-Identifier: Apache-2.0
// The coordinates of resize against the formula in exact fractions, and the shape rules of the ops of pictures.

#include <cmath>

#include <doctest/doctest.h>

#include <levada/graph/detail/describe.hpp>
#include <levada/image.hpp>
#include <levada/image/blur.hpp>
#include <levada/nn.hpp>
#include <levada/nn/element_wise.hpp>

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
static_assert(
    std::same_as<decltype(image::resize<5, 6, layout::chw>)::op_type::output<planes>, tensor<float, 3, 5, 6>>);
static_assert(
    std::same_as<out<resize_op<5, 6, resize_mode::nearest, layout::hwc>, pixels>, tensor<std::uint8_t, 5, 6, 3>>);
static_assert(!op_takes<resize_op<5, 6, resize_mode::nearest, layout::hwc>, tensor<float, 5, 6>>);
static_assert(std::same_as<out<crop_op<1, 2, 3, 4, layout::chw>, planes>, tensor<float, 3, 3, 4>>);
static_assert(std::same_as<out<crop_op<1, 2, 3, 4, layout::hwc>, pixels>, tensor<std::uint8_t, 3, 4, 3>>);
static_assert(!op_takes<crop_op<8, 0, 3, 4, layout::chw>, planes>);
static_assert(!op_takes<crop_op<0, 17, 3, 4, layout::chw>, planes>);

constexpr auto normalized = image::normalize<"prepare">(std::array{0.5f}, std::array{0.25f}, 1 / 255.0f);
static_assert(normalized.name.view() == "prepare" && normalized.description.mean[0] == 0.5f);

template <class Mistake>
inline constexpr bool asks_for_layout = false;
template <fixed_string Stage, class In, class Write>
inline constexpr bool asks_for_layout<image_op_has_to_be_told_the_order_of_axes_hwc_or_chw<Stage, In, Write>> = true;
template <class Mistake>
inline constexpr bool contradicts = false;
template <fixed_string Before, auto Given, fixed_string Stage, auto Taken>
inline constexpr bool
    contradicts<stage_takes_another_order_of_axes_than_the_one_before_gives<Before, Given, Stage, Taken>> =
        Given != Taken;

template <class In, class Part>
constexpr auto mistake_behind(Part part) {
  return decltype(detail::flat<decltype(input<In> | part)>::first_mistake()){};
}
template <class In, class Part>
constexpr bool refused_without_layout(Part part) {
  return asks_for_layout<decltype(mistake_behind<In>(part))>;
}
template <class In, class Part>
constexpr bool refused_as_contradiction(Part part) {
  return contradicts<decltype(mistake_behind<In>(part))>;
}
template <class In, class Part>
constexpr bool accepted(Part part) {
  return !decltype(mistake_behind<In>(part))::is_mistake;
}

// The layout of a bare tensor is unknown, whatever its extents suggest.
static_assert(refused_without_layout<pixels>(image::resize<5, 6>));
static_assert(refused_without_layout<planes>(image::resize<5, 6, resize_mode::nearest>));
static_assert(refused_without_layout<planes>(image::resize_by<5, 6>({})));
static_assert(refused_without_layout<pixels>(image::letterbox<5, 6>()));
static_assert(refused_without_layout<tensor<std::uint8_t, 480, 640, 3>>(image::crop<16, 16, 224, 224>));
static_assert(refused_without_layout<planes>(image::gaussian_blur<3>()));
static_assert(refused_without_layout<planes>(image::median_blur<3>));
static_assert(!refused_without_layout<tensor<float, 5>>(image::resize<5, 6>));  // no picture at all
static_assert(accepted<pixels>(image::resize<5, 6, layout::hwc>));
static_assert(accepted<planes>(image::resize<5, 6, layout::chw, resize_mode::nearest>));
static_assert(accepted<planes>(image::resize_by<5, 6, layout::chw>({})));
static_assert(accepted<pixels>(image::letterbox<5, 6, layout::hwc>()));
static_assert(accepted<pixels>(image::crop<1, 2, 5, 6, layout::hwc> | image::median_blur<3, layout::hwc>));
static_assert(accepted<planes>(image::gaussian_blur<3, layout::chw>(1.0f)));

// What one op gives is known to the next, through stages that compute element by element.
static_assert(refused_as_contradiction<pixels>(image::resize<5, 6, layout::chw> | image::to_chw));
static_assert(refused_as_contradiction<pixels>(image::to_chw | image::letterbox<5, 6, layout::hwc>()));
static_assert(refused_as_contradiction<pixels>(image::to_chw | nn::relu | image::crop<0, 0, 2, 2, layout::hwc>));
static_assert(refused_as_contradiction<tensor<float, 9, 8, 3>>(image::resize<5, 6, layout::hwc> | nn::silu |
                                                               nn::max_pool2d<2>));
static_assert(refused_as_contradiction<tensor<float, 9, 8, 3>>(image::resize<6, 6, layout::hwc> |
                                                               nn::space_to_depth<2>));
static_assert(accepted<pixels>(image::resize<5, 6, layout::hwc> | image::to_chw | nn::relu | nn::max_pool2d<2> |
                               image::resize<5, 6, layout::chw>));
static_assert(accepted<tensor<float, 9, 8, 3>>(
    image::resize<5, 6, layout::hwc> |
    stage<"turned">([](const tensor<float, 5, 6, 3>&) { return tensor<float, 3, 5, 6>{}; }) | nn::max_pool2d<2>));

// to_chw takes no planes.
static_assert(!op_takes<to_chw_op, tensor<std::uint8_t, 3, 480, 640>>);
static_assert(op_takes<to_chw_op, tensor<std::uint8_t, 3, 480, 4>>);

}  // namespace

TEST_CASE("bilinear taps lie where half_pixel says, clamped to the picture") {
  for (std::size_t from = 1; from <= 40; ++from)
    for (std::size_t to = 1; to <= 40; ++to)
      for (std::size_t i = 0; i < to; ++i) {
        const double position =
            (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
        const double clamped = std::min(std::max(position, 0.0), static_cast<double>(from - 1));
        const resize_tap tap = resize_axis::rows(resize_mode::bilinear, {}, from, to).tap(i);
        for (std::size_t k = 0; k < 2; ++k) REQUIRE((tap.place[k] >= 0 && tap.place[k] < static_cast<int>(from)));
        CHECK(static_cast<double>(tap.weight[0]) + static_cast<double>(tap.weight[1]) ==
              doctest::Approx(1).epsilon(1e-7));
        const double meant = static_cast<double>(tap.place[0]) +
                             static_cast<double>(tap.place[1] - tap.place[0]) * static_cast<double>(tap.weight[1]);
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
        CHECK(resize_axis::columns(resize_mode::nearest, {}, from, to).tap(i).place[0] == rounded);
      }
}

TEST_CASE("bicubic taps sum to 1 and reproduce a straight line inside the picture") {
  for (const bool exclude : {false, true})
    for (std::size_t to = 1; to <= 30; ++to)
      for (std::size_t i = 0; i < to; ++i) {
        const resize_rule rule{
            .coordinates = coordinate_mode::align_corners, .cubic_coeff_a = -0.5f, .exclude_outside = exclude};
        const resize_tap tap = resize_axis::rows(resize_mode::bicubic, rule, 12, to).tap(i);
        double sum = 0, line = 0;
        for (std::size_t k = 0; k < 4; ++k) {
          REQUIRE((tap.place[k] >= 0 && tap.place[k] < 12));
          sum += static_cast<double>(tap.weight[k]);
          line += static_cast<double>(tap.weight[k]) * static_cast<double>(tap.place[k]);
        }
        CHECK(std::abs(sum - 1) < 1e-6);
        const double position = to == 1 ? 0 : static_cast<double>(i) * 11 / static_cast<double>(to - 1);
        if (position >= 1 && position <= 10) CHECK(std::abs(line - position) < 1e-5);
      }
}

TEST_CASE("a letterbox keeps the proportions and lies in the middle") {
  constexpr auto wide = letterbox_place::of(720, 1280, 640, 640);
  static_assert(wide.top == 140 && wide.left == 0 && wide.height == 360 && wide.width == 640);
  constexpr auto tall = letterbox_place::of(30, 7, 20, 20);
  static_assert(tall.top == 0 && tall.left == 7 && tall.height == 20 && tall.width == 5);
  for (std::size_t height = 1; height < 30; ++height)
    for (std::size_t width = 1; width < 30; ++width) {
      const auto p = letterbox_place::of(height, width, 17, 23);
      REQUIRE((p.height >= 1 && p.width >= 1 && p.top + p.height <= 17 && p.left + p.width <= 23));
      CHECK((p.height == 17 || p.width == 23));
      // Either side is within half a pixel of the other's scale.
      const double rows = static_cast<double>(p.height) / static_cast<double>(height),
                   columns = static_cast<double>(p.width) / static_cast<double>(width);
      if (p.height > 1 && p.width > 1)
        CHECK(std::abs(rows - columns) <=
              0.5 / static_cast<double>(17 * width <= 23 * height ? width : height) + 1e-12);
    }
}
