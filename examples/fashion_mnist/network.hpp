// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion_mnist/network.hpp: the demo's pipeline, pre-processing | model | post-processing. The model is the seed
// network of the Collage RFC (Apache TVM RFC 62), trained by train.py beside this file.

#include <cstdint>

#include <levada/levada.hpp>

namespace example::fashion_mnist {

/// A grey picture, 0 ... 255, to its label 0 ... 9. `weights` must outlive `deploy`.
template <levada::parameter_source Weights>
auto classifier(const Weights& weights) {
  namespace lv = levada;
  // clang-format off
  return lv::input<lv::tensor<std::uint8_t, 1, 28, 28>>
      | lv::transform<"normalise">([](auto px) { return to_float(px) / 255.0f; })
      | lv::nn::conv2d<"conv1", 8, lv::size<5, 5>, lv::padding<2>>(weights) | lv::nn::relu | lv::nn::max_pool2d<2>
      | lv::nn::conv2d<"conv2", 16, lv::size<5, 5>, lv::padding<2>>(weights) | lv::nn::relu | lv::nn::max_pool2d<3>
      | lv::nn::flatten | lv::nn::dense<"dense", 10>(weights) | lv::nn::softmax
      | lv::stage<"label">([](const lv::tensor<float, 10>& p) { return lv::argmax(p); });
  // clang-format on
}

}  // namespace example::fashion_mnist
