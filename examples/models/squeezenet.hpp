// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/squeezenet.hpp: SqueezeNet 1.1 (Iandola and others, 2016) as a pipeline: two convolutions of what a third
// squeezed, concatenated.

#include <cstddef>

#include <levada/levada.hpp>
#include <levada/ops.hpp>

#include "names.hpp"

namespace example::models {

namespace lv = levada;

namespace squeezenet_layers {

template <lv::fixed_string Name, std::size_t Filters, class... Options, class Weights>
auto conv(const Weights& w) {
  return lv::nn::conv2d<Name, Filters, Options...>(w) | lv::nn::relu;
}

/// Squeezed to `Squeezed` channels, then `Expanded` by 1 x 1 and as many by 3 x 3.
template <lv::fixed_string Name, std::size_t Squeezed, std::size_t Expanded, class Weights>
auto fire(const Weights& w) {
  return conv<Name + text<".squeeze">, Squeezed, lv::size<1>>(w) |
         lv::fork(conv<Name + text<".expand1x1">, Expanded, lv::size<1>>(w),
                  conv<Name + text<".expand3x3">, Expanded, lv::size<3>, lv::padding<1>>(w)) |
         lv::nn::concat<0>;
}

}  // namespace squeezenet_layers

/// A picture of 3 x `Side` x `Side` to 1,000 logits. `weights` must outlive `deploy`.
template <std::size_t Side = 224, lv::parameter_source Weights>
auto squeezenet(const Weights& weights) {
  using squeezenet_layers::conv;
  using squeezenet_layers::fire;
  constexpr auto pool = lv::nn::max_pool2d<3, lv::stride<2>>;
  return lv::input<lv::tensor<float, 3, Side, Side>> | conv<"conv1", 64, lv::size<3>, lv::stride<2>>(weights) | pool |
         fire<"fire2", 16, 64>(weights) | fire<"fire3", 16, 64>(weights) | pool | fire<"fire4", 32, 128>(weights) |
         fire<"fire5", 32, 128>(weights) | pool | fire<"fire6", 48, 192>(weights) | fire<"fire7", 48, 192>(weights) |
         fire<"fire8", 64, 256>(weights) | fire<"fire9", 64, 256>(weights) |
         conv<"conv10", 1000, lv::size<1>>(weights) | lv::nn::global_avg_pool2d | lv::nn::flatten;
}

}  // namespace example::models
