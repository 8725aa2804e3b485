// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/mobilenet_v1.hpp: MobileNet-V1 (Howard and others, 2017) of any width as a pipeline.

#include <algorithm>
#include <cstddef>

#include <levada/levada.hpp>
#include <levada/ops.hpp>

#include "names.hpp"

namespace example::models {

namespace lv = levada;

namespace mobilenet_layers {

/// A convolution without a bias, its norm, and relu.
template <lv::fixed_string Name, std::size_t Filters, class... Options, class Weights>
auto conv(const Weights& w) {
  return lv::nn::conv2d<Name + text<".conv">, Filters, lv::no_bias, Options...>(w) |
         lv::nn::batch_norm<Name + text<".bn">>(w) | lv::nn::relu;
}

/// Each channel by itself, 3 x 3, then all together, 1 x 1.
template <lv::fixed_string Name, std::size_t Channels, std::size_t Filters, std::size_t Stride = 1, class Weights>
auto separable(const Weights& w) {
  return conv<Name + text<".depthwise">, Channels, lv::size<3>, lv::stride<Stride>, lv::padding<1>,
              lv::groups<Channels>>(w) |
         conv<Name + text<".pointwise">, Filters, lv::size<1>>(w);
}

}  // namespace mobilenet_layers

/// A picture of 3 x `Side` x `Side` to 1,000 logits; all layers have `Percent` of the paper's channels. `weights` must
/// outlive `deploy`.
template <std::size_t Percent = 100, std::size_t Side = 224, lv::parameter_source Weights>
auto mobilenet_v1(const Weights& weights) {
  using mobilenet_layers::separable;
  constexpr auto scaled = [](std::size_t channels) { return std::max<std::size_t>(8, channels * Percent / 100); };
  constexpr std::size_t c32 = scaled(32), c64 = scaled(64), c128 = scaled(128), c256 = scaled(256), c512 = scaled(512),
                        c1024 = scaled(1024);
  return lv::input<lv::tensor<float, 3, Side, Side>> |
         mobilenet_layers::conv<"layer0", c32, lv::size<3>, lv::stride<2>, lv::padding<1>>(weights) |
         separable<"layer1", c32, c64>(weights) | separable<"layer2", c64, c128, 2>(weights) |
         separable<"layer3", c128, c128>(weights) | separable<"layer4", c128, c256, 2>(weights) |
         separable<"layer5", c256, c256>(weights) | separable<"layer6", c256, c512, 2>(weights) |
         separable<"layer7", c512, c512>(weights) | separable<"layer8", c512, c512>(weights) |
         separable<"layer9", c512, c512>(weights) | separable<"layer10", c512, c512>(weights) |
         separable<"layer11", c512, c512>(weights) | separable<"layer12", c512, c1024, 2>(weights) |
         separable<"layer13", c1024, c1024>(weights) | lv::nn::global_avg_pool2d | lv::nn::flatten |
         lv::nn::dense<"fc", 1000>(weights);
}

}  // namespace example::models
