// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/resnet18.hpp: ResNet-18 (He and others, 2015) as a pipeline, its parameters named as in torchvision.

#include <cstddef>

#include <levada/levada.hpp>
#include <levada/nn/residual.hpp>
#include <levada/ops.hpp>

#include "names.hpp"

namespace example::models {

namespace lv = levada;

namespace resnet_layers {

/// 3 x 3 without a bias, and its norm.
template <lv::fixed_string Block, lv::fixed_string Number, std::size_t Filters, std::size_t Stride, class Weights>
auto conv3x3(const Weights& w) {
  return lv::nn::conv2d<Block + text<".conv"> + Number, Filters, lv::size<3>, lv::stride<Stride>, lv::padding<1>,
                        lv::no_bias>(w) |
         lv::nn::batch_norm<Block + text<".bn"> + Number>(w);
}

template <lv::fixed_string Block, std::size_t Filters, std::size_t Stride, class Weights>
auto body(const Weights& w) {
  return conv3x3<Block, "1", Filters, Stride>(w) | lv::nn::relu | conv3x3<Block, "2", Filters, 1>(w);
}

/// A body and the way around it.
template <lv::fixed_string Block, std::size_t Filters, class Weights>
auto block(const Weights& w) {
  return lv::residual(body<Block, Filters, 1>(w)) | lv::nn::relu;
}

/// A body that halves the picture; the way around it does the same by a convolution of 1 x 1.
template <lv::fixed_string Block, std::size_t Filters, class Weights>
auto halving_block(const Weights& w) {
  return lv::fork(body<Block, Filters, 2>(w),
                  lv::nn::conv2d<Block + text<".downsample.0">, Filters, lv::size<1>, lv::stride<2>, lv::no_bias>(w) |
                      lv::nn::batch_norm<Block + text<".downsample.1">>(w)) |
         lv::nn::add | lv::nn::relu;
}

template <lv::fixed_string Layer, std::size_t Filters, class Weights>
auto halving_layer(const Weights& w) {
  return halving_block<Layer + text<".0">, Filters>(w) | block<Layer + text<".1">, Filters>(w);
}

}  // namespace resnet_layers

/// A picture of 3 x `Side` x `Side` to 1,000 logits; 224 in the paper. `weights` must outlive `deploy`.
template <std::size_t Side = 224, lv::parameter_source Weights>
auto resnet18(const Weights& weights) {
  return lv::input<lv::tensor<float, 3, Side, Side>> |
         lv::nn::conv2d<"conv1", 64, lv::size<7>, lv::stride<2>, lv::padding<3>, lv::no_bias>(weights) |
         lv::nn::batch_norm<"bn1">(weights) | lv::nn::relu | lv::nn::max_pool2d<3, lv::stride<2>, lv::padding<1>> |
         resnet_layers::block<"layer1.0", 64>(weights) | resnet_layers::block<"layer1.1", 64>(weights) |
         resnet_layers::halving_layer<"layer2", 128>(weights) | resnet_layers::halving_layer<"layer3", 256>(weights) |
         resnet_layers::halving_layer<"layer4", 512>(weights) | lv::nn::global_avg_pool2d | lv::nn::flatten |
         lv::nn::dense<"fc", 1000>(weights);
}

}  // namespace example::models
