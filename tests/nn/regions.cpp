// SPDX-License-Identifier: Apache-2.0
// Ops that are no chain as one unit: element-wise ops of any shape, and convolutions, dense layers and products whose
// results meet other values. Each gives what `reference` gives op by op.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include <doctest/doctest.h>

#include <levada/backend/reference.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/residual.hpp>
#include <levada/ops.hpp>

#include "nn/numbers_by_name.hpp"

namespace lv = levada;

namespace {

using box = lv::target<lv::cpu<2>>;

using lv::testing::numbers_by_name;
using lv::testing::random_item;
using lv::testing::set_all;

/// The pipeline by `simd` gives what it gives by `reference`, in so many units.
template <std::size_t Units, class In, class Backend = lv::simd, class Make>
void check_units(Make make) {
  numbers_by_name weights;
  set_all(weights, make(weights));
  const auto app = lv::deploy<box, lv::backends<Backend>>(make(weights));
  const auto one_by_one = lv::deploy<box, lv::backends<lv::reference>>(make(weights));
  static_assert(decltype(app)::plan.units == Units);
  const auto in = random_item<In>(Units);
  auto s = app.open();
  auto r = one_by_one.open();
  for (int repeat = 0; repeat < 3; ++repeat) {  // slots and scratchpads are used again
    s.push(std::as_const(*in));
    r.push(std::as_const(*in));
    const auto got = s.pop(), wanted = r.pop();
    REQUIRE((got && wanted && got->has_value() && wanted->has_value()));
    float worst = 0;
    for (std::size_t i = 0; i < (**wanted).elements; ++i)
      worst = std::max(worst, std::abs((**got)[i] - (**wanted)[i]) / (1 + std::abs((**wanted)[i])));
    CHECK(worst < 2e-5f);
  }
}

}  // namespace

TEST_CASE("a residual sum is the end of its convolution, at odd sizes too") {
  const auto block = [](const auto& w) {
    return lv::residual(lv::nn::conv2d<"a", 5, lv::size<3>, lv::padding<1>>(w) | lv::nn::relu |
                        lv::nn::conv2d<"b", 5, lv::size<3>, lv::padding<1>>(w)) |
           lv::nn::relu;
  };
  check_units<2, lv::tensor<float, 5, 7, 9>>(
      [&](const auto& w) { return lv::input<lv::tensor<float, 5, 7, 9>> | block(w); });
  check_units<2, lv::tensor<float, 5, 33, 19>>(
      [&](const auto& w) { return lv::input<lv::tensor<float, 5, 33, 19>> | block(w); });
}

TEST_CASE("a block of ResNet that halves, with its norms: three units") {
  check_units<3, lv::tensor<float, 16, 15, 14>>([](const auto& w) {
    return lv::input<lv::tensor<float, 16, 15, 14>> |
           lv::fork(lv::nn::conv2d<"a", 40, lv::size<3>, lv::stride<2>, lv::padding<1>, lv::no_bias>(w) |
                        lv::nn::batch_norm<"an">(w) | lv::nn::relu |
                        lv::nn::conv2d<"b", 40, lv::size<3>, lv::padding<1>, lv::no_bias>(w) |
                        lv::nn::batch_norm<"bn">(w),
                    lv::nn::conv2d<"c", 40, lv::size<1>, lv::stride<2>, lv::no_bias>(w) | lv::nn::batch_norm<"cn">(w)) |
           lv::nn::add | lv::nn::relu;
  });
}

TEST_CASE("a depthwise convolution with groups meets its residual") {
  check_units<1, lv::tensor<float, 6, 11, 21>>([](const auto& w) {
    return lv::input<lv::tensor<float, 6, 11, 21>> |
           lv::residual(lv::nn::conv2d<"d", 6, lv::size<3>, lv::padding<1>, lv::groups<6>>(w) | lv::nn::hard_swish);
  });
}

TEST_CASE("a depthwise convolution, the pointwise one behind it and the residual of both are one unit") {
  constexpr std::size_t units = lv::detail::loads_some_lanes<float, lv::isa::native> ? 1 : 2;
  check_units<units, lv::tensor<float, 12, 64, 64>>([](const auto& w) {
    return lv::input<lv::tensor<float, 12, 64, 64>> |
           lv::residual(lv::nn::conv2d<"d", 12, lv::size<3>, lv::padding<1>, lv::groups<12>>(w) |
                        lv::nn::conv2d<"p", 12, lv::size<1>>(w)) |
           lv::nn::relu;
  });
}

TEST_CASE("a convolution is scaled by a gate of each channel") {
  check_units<4, lv::tensor<float, 12, 10, 13>>([](const auto& w) {
    return lv::input<lv::tensor<float, 12, 10, 13>> |
           lv::fork(lv::nn::global_avg_pool2d | lv::nn::conv2d<"s", 3, lv::size<1>>(w) | lv::nn::relu |
                        lv::nn::conv2d<"e", 12, lv::size<1>>(w) | lv::nn::sigmoid,
                    lv::nn::conv2d<"x", 12, lv::size<3>, lv::padding<1>>(w)) |
           lv::nn::mul;
  });
}

namespace {

/// The gate of each channel of a squeeze-and-excitation.
template <std::size_t Channels>
constexpr auto excitation(const auto& w) {
  return lv::nn::global_avg_pool2d | lv::nn::conv2d<"s", 3, lv::size<1>>(w) | lv::nn::relu |
         lv::nn::conv2d<"e", Channels, lv::size<1>>(w) | lv::nn::sigmoid;
}

}  // namespace

TEST_CASE("a squeeze-and-excitation is four units: its gate scales what a convolution packs") {
  check_units<4, lv::tensor<float, 12, 10, 13>>([](const auto& w) {
    return lv::input<lv::tensor<float, 12, 10, 13>> | lv::fork(excitation<12>(w), lv::identity) | lv::nn::mul |
           lv::nn::conv2d<"p", 20, lv::size<1>>(w) | lv::nn::relu;
  });
  // With its norm and the residual behind it, as in MobileNetV3; the gate is the second operand.
  check_units<4, lv::tensor<float, 24, 14, 14>>([](const auto& w) {
    return lv::input<lv::tensor<float, 24, 14, 14>> |
           lv::residual(lv::fork(lv::identity, excitation<24>(w)) | lv::nn::mul |
                        lv::nn::conv2d<"p", 24, lv::size<1>, lv::no_bias>(w) | lv::nn::batch_norm<"n">(w));
  });
}

TEST_CASE("a gate scales the input of any convolution") {
  // Of few filters on a wide picture, with a stride and a border.
  check_units<4, lv::tensor<float, 3, 17, 65>>([](const auto& w) {
    return lv::input<lv::tensor<float, 3, 17, 65>> | lv::fork(excitation<3>(w), lv::identity) | lv::nn::mul |
           lv::nn::conv2d<"p", 2, lv::size<3>, lv::stride<2>, lv::padding<1>>(w);
  });
  // Of more than a cache holds, in strips of rows: not by Winograd's transforms (backend/winograd.cpp).
  check_units<4, lv::tensor<float, 40, 61, 47>, lv::simd_direct>([](const auto& w) {
    return lv::input<lv::tensor<float, 40, 61, 47>> | lv::fork(lv::identity, excitation<40>(w)) | lv::nn::mul |
           lv::nn::conv2d<"p", 33, lv::size<3>, lv::padding<1>>(w) | lv::nn::relu;
  });
  // In groups it is not one with them.
  check_units<5, lv::tensor<float, 12, 10, 13>>([](const auto& w) {
    return lv::input<lv::tensor<float, 12, 10, 13>> | lv::fork(excitation<12>(w), lv::identity) | lv::nn::mul |
           lv::nn::conv2d<"p", 12, lv::size<3>, lv::groups<4>>(w);
  });
}

TEST_CASE("zeros around a picture are the padding of its convolution") {
  // As a network for phones has them, in front of a stride; with its norm.
  check_units<1, lv::tensor<float, 5, 17, 22>>([](const auto& w) {
    return lv::input<lv::tensor<float, 5, 17, 22>> | lv::nn::pad<lv::pad_mode::constant, 0, 0, 1, 0, 1, 2>() |
           lv::nn::conv2d<"c", 12, lv::size<3>, lv::stride<2>, lv::padding<1, 0>, lv::no_bias>(w) |
           lv::nn::batch_norm<"n">(w) | lv::nn::relu;
  });
  // Of a depthwise convolution that meets its residual.
  check_units<1, lv::tensor<float, 6, 11, 21>>([](const auto& w) {
    return lv::input<lv::tensor<float, 6, 11, 21>> |
           lv::residual(lv::nn::pad<lv::pad_mode::constant, 0, 2, 0, 0, 0, 2>() |
                        lv::nn::conv2d<"d", 6, lv::size<3>, lv::groups<6>>(w)) |
           lv::nn::relu;
  });
  // Another border than zeros, and one that is taken elsewhere too, stay.
  check_units<2, lv::tensor<float, 3, 8, 9>>([](const auto& w) {
    return lv::input<lv::tensor<float, 3, 8, 9>> | lv::nn::pad<lv::pad_mode::constant, 0, 1, 1, 0, 1, 1>(0.5) |
           lv::nn::conv2d<"c", 4, lv::size<3>>(w);
  });
  check_units<2, lv::tensor<float, 3, 8, 9>>([](const auto& w) {
    return lv::input<lv::tensor<float, 3, 8, 9>> | lv::nn::pad<lv::pad_mode::constant, 0, 1, 1, 0, 1, 1>() |
           lv::residual(lv::nn::conv2d<"c", 3, lv::size<3>, lv::padding<1>>(w));
  });
}

TEST_CASE("what a convolution gives is taken twice inside its unit") {
  check_units<1, lv::tensor<float, 4, 8, 17>>([](const auto& w) {
    return lv::input<lv::tensor<float, 4, 8, 17>> | lv::nn::conv2d<"x", 9, lv::size<1>>(w) |
           lv::fork(lv::nn::sigmoid, lv::identity) | lv::nn::mul | lv::residual(lv::nn::tanh);
  });
}

TEST_CASE("element-wise ops of any shape are one pass") {
  // (x + 1) * sigmoid(x + 1) - max(x, x * x)
  check_units<1, lv::tensor<float, 3, 5, 7>>([](const auto&) {
    return lv::input<lv::tensor<float, 3, 5, 7>> |
           lv::fork(lv::transform<"more">([](auto x) { return x + 1.0f; }) | lv::fork(lv::identity, lv::nn::sigmoid) |
                        lv::nn::mul,
                    lv::fork(lv::identity, lv::identity) | lv::nn::mul) |
           lv::nn::sub | lv::nn::relu;
  });
}

TEST_CASE("a dense layer meets its residual") {
  check_units<2, lv::tensor<float, 37>>([](const auto& w) {
    return lv::input<lv::tensor<float, 37>> |
           lv::residual(lv::nn::dense<"up", 70>(w) | lv::nn::gelu | lv::nn::dense<"down", 37>(w));
  });
}

TEST_CASE("a dense layer of several rows meets its residual") {
  check_units<2, lv::tensor<float, 5, 37>>([](const auto& w) {
    return lv::input<lv::tensor<float, 5, 37>> |
           lv::residual(lv::nn::dense<"up", 70>(w) | lv::nn::gelu | lv::nn::dense<"down", 37>(w));
  });
}

TEST_CASE("a product of matrices is scaled, masked and summed") {
  check_units<1, lv::tensor<float, 9, 9>>([](const auto&) {
    return lv::input<lv::tensor<float, 9, 9>> | lv::residual(lv::fork(lv::identity, lv::identity) | lv::nn::matmul |
                                                             lv::transform<"scale">([](auto x) { return 0.125f * x; }));
  });
}

TEST_CASE("parameters among the operands stay inside a unit") {
  check_units<1, lv::tensor<float, 4, 6, 7>>([](const auto& w) {
    return lv::input<lv::tensor<float, 4, 6, 7>> | lv::nn::conv2d<"c", 4, lv::size<3>, lv::padding<1>>(w) |
           lv::nn::mul_parameter<"m", 4, 1, 1>(w) | lv::nn::add_parameter<"a", 4, 1, 1>(w) | lv::nn::relu;
  });
  check_units<1, lv::tensor<float, 4, 6, 7>>([](const auto& w) {
    return lv::input<lv::tensor<float, 4, 6, 7>> |
           lv::residual(lv::nn::conv2d<"c", 4, lv::size<3>, lv::padding<1>>(w) |
                        lv::nn::mul_parameter<"m", 4, 1, 1>(w)) |
           lv::nn::parameter_sub<"a", 4, 1, 1>(w) | lv::nn::relu;
  });
  check_units<1, lv::tensor<float, 5, 37>>([](const auto& w) {
    return lv::input<lv::tensor<float, 5, 37>> |
           lv::residual(lv::nn::matmul_parameter<"p", 37, 37>(w) | lv::nn::add_parameter<"b", 37>(w));
  });
  check_units<1, lv::tensor<float, 5, 37>>([](const auto& w) {  // x (x k + k'), element by element
    return lv::input<lv::tensor<float, 5, 37>> |
           lv::fork(lv::nn::mul_parameter<"m", 37>(w) | lv::nn::add_parameter<"a", 5, 1>(w), lv::identity) |
           lv::nn::mul;
  });
}

TEST_CASE("what is taken elsewhere, too, ends a region") {
  // The sum leaves by a second branch: the relu behind it cannot be one with the convolution.
  check_units<4, lv::tensor<float, 4, 6, 6>>([](const auto& w) {
    return lv::input<lv::tensor<float, 4, 6, 6>> |
           lv::residual(lv::nn::conv2d<"x", 4, lv::size<3>, lv::padding<1>>(w)) |
           lv::fork(lv::nn::relu, lv::nn::max_pool2d<3, lv::stride<1>, lv::padding<1>>) | lv::nn::add;
  });
}

TEST_CASE("softmax as its parts is one pass over the rows") {
  check_units<1, lv::tensor<float, 5, 6, 19>>([](const auto&) {
    return lv::input<lv::tensor<float, 5, 6, 19>> | lv::fork(lv::identity, lv::nn::reduce_max<-1>) | lv::nn::sub |
           lv::nn::exp | lv::fork(lv::identity, lv::nn::reduce_sum<-1>) | lv::nn::div;
  });
}

TEST_CASE("a norm of rows as its parts is one pass") {
  check_units<1, lv::tensor<float, 7, 32>>([](const auto&) {
    return lv::input<lv::tensor<float, 7, 32>> | lv::fork(lv::identity, lv::nn::reduce_mean<-1>) | lv::nn::sub |
           lv::fork(lv::identity, lv::fork(lv::identity, lv::identity) | lv::nn::mul | lv::nn::reduce_mean<-1> |
                                      lv::transform<"root">([](auto v) { return sqrt(v + 1e-5f); })) |
           lv::nn::div;
  });
}

TEST_CASE("a product of matrices and what is made of each of its elements are one unit") {
  check_units<1, lv::tensor<float, 2, 11, 11>>([](const auto&) {
    return lv::input<lv::tensor<float, 2, 11, 11>> | lv::fork(lv::identity, lv::identity) | lv::nn::matmul |
           lv::transform<"scale">([](auto x) { return 0.25f * x; }) | lv::nn::relu | lv::nn::tanh;
  });
}
