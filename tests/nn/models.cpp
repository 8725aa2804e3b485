// SPDX-License-Identifier: Apache-2.0
// What MobileNet-V2, ResNet and YOLO are made of comes with <levada/levada.hpp> alone: nothing else of the ops is
// included here.

#include <algorithm>
#include <cmath>
#include <tuple>

#include <doctest/doctest.h>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

namespace {

using box = lv::target<lv::cpu<1>>;
using planes = lv::tensor<float, 2, 4, 4>;

/// Each channel of a 1 x 1 convolution is `factor` of its own; the norms do nothing but bring in `offset`.
lv::parameter_map weights(float factor, float offset) {
  lv::parameter_map w;
  w.set("expand.weight", lv::tensor<float, 2, 2, 1, 1>{{factor, 0, 0, factor}});
  w.set("depthwise.weight", lv::tensor<float, 2, 1, 3, 3>{{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}});
  w.set("norm.weight", lv::tensor<float, 2>{{1, 1}});
  w.set("norm.bias", lv::tensor<float, 2>{{offset, offset}});
  w.set("norm.running_mean", lv::tensor<float, 2>{{0, 0}});
  w.set("norm.running_var", lv::tensor<float, 2>{{1, 1}});
  w.set("fc.weight", lv::tensor<float, 1, 2>{{1, 1}});
  w.set("fc.bias", lv::tensor<float, 1>{{0.5f}});
  return w;
}

planes ramp() {
  planes in;
  for (std::size_t i = 0; i < planes::elements; ++i) in[i] = static_cast<float>(i) / 8;
  return in;
}

}  // namespace

TEST_CASE("an inverted residual of MobileNet-V2") {
  const auto w = weights(2, 1);
  const auto app = lv::deploy<box>(
      lv::input<planes> |
      lv::residual(lv::nn::conv2d<"expand", 2, lv::size<1>, lv::no_bias>(w) | lv::nn::batch_norm<"norm">(w, 0) |
                   lv::nn::clip(0, 6) |
                   lv::nn::conv2d<"depthwise", 2, lv::size<3>, lv::padding<1>, lv::groups<2>, lv::no_bias>(w) |
                   lv::nn::batch_norm<"norm">(w, 0) | lv::nn::hard_swish) |
      lv::nn::global_avg_pool2d | lv::nn::flatten | lv::nn::dense<"fc", 1>(w));
  double expected = 0.5;
  const planes in = ramp();
  for (const float x : in.values) {
    const double clipped = std::min(2.0 * x + 1, 6.0) + 1;
    expected += (x + clipped * std::min((clipped + 3) / 6, 1.0)) / 16;
  }
  CHECK(app(in)[0] == doctest::Approx(expected));
}

TEST_CASE("a block of ResNet") {
  const auto w = weights(-1, 0.5f);
  const auto app = lv::deploy<box>(lv::input<planes> |
                                   lv::fork(lv::nn::conv2d<"expand", 2, lv::size<1>, lv::no_bias>(w) |
                                                lv::nn::batch_norm<"norm">(w, 0) | lv::nn::relu,
                                            lv::identity) |
                                   lv::nn::add | lv::nn::relu | lv::nn::max_pool2d<3, lv::stride<2>, lv::padding<1>> |
                                   lv::nn::softmax);
  const auto out = app(ramp());
  CHECK(out(0, 0, 0) + out(0, 0, 1) == doctest::Approx(1));
  CHECK(out(1, 1, 1) > out(1, 1, 0));
}

TEST_CASE("a neck and a head of YOLO") {
  const auto w = weights(1, 0);
  const auto neck = lv::fork(lv::nn::max_pool2d<2> | lv::image::resize<4, 4, lv::layout::chw, lv::resize_mode::nearest>,
                             lv::nn::conv2d<"expand", 2, lv::size<1>, lv::no_bias>(w) |
                                 lv::nn::batch_norm<"norm">(w, 0) | lv::nn::silu) |
                    lv::nn::concat<0>;
  const auto app = lv::deploy<box>(lv::input<planes> | neck | lv::nn::slice<lv::along<0, 1, 4>> | lv::nn::sigmoid |
                                   lv::nn::reshape<3, 16> | lv::nn::transpose<1, 0> | lv::nn::split<1, 1, 2>);
  const auto [first, rest] = app(ramp());
  static_assert(std::same_as<std::remove_cvref_t<decltype(first)>, lv::tensor<float, 16, 1>>);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  CHECK(first(0, 0) == doctest::Approx(sigmoid(21.0 / 8)));  // the largest of its block
  CHECK(rest(3, 0) == doctest::Approx(sigmoid(3.0 / 8 * sigmoid(3.0 / 8))));

  const auto boxes = lv::deploy<box>(lv::input<std::tuple<lv::tensor<float, 2, 4>, lv::tensor<float, 1, 2>>> |
                                     lv::nn::non_max_suppression<2>(0.5f, 0.1f));
  CHECK(boxes({lv::tensor<float, 2, 4>{{0, 0, 1, 1, 0, 0, 1, 1}}, lv::tensor<float, 1, 2>{{0.5f, 0.9f}}}).size() == 1);
}

TEST_CASE("pictures are cropped and cast without another header") {
  using bytes = lv::tensor<std::uint8_t, 3, 4, 1>;
  bytes in{};
  in(1, 2, 0) = 255;
  const auto app = lv::deploy<box>(lv::input<bytes> | lv::image::crop<1, 2, 1, 1, lv::layout::hwc> |
                                   lv::nn::cast<float> | lv::nn::cast<std::int32_t>);
  CHECK(app(in)[0] == 255);
}
