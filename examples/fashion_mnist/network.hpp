// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion_mnist/network.hpp: the demo's pipeline, pre-processing | model | post-processing. The model is the seed
// network of the Collage RFC (Apache TVM RFC 62), trained by train.py beside this file.

#include <cstdint>
#include <utility>

#include <levada/levada.hpp>

namespace example::fashion_mnist {

/// Where a part of the pipeline is computed: on the first device of the target that can.
struct anywhere {
  template <class Part>
  auto operator()(Part part) const {
    return part;
  }
};
/// On that one.
template <class Device>
struct on_device {
  template <class Part>
  auto operator()(Part part) const {
    return levada::on<Device>(std::move(part));
  }
};

/// A grey picture, 0 ... 255, to its label 0 ... 9. `weights` must outlive `deploy`. The convolutions go where `placed`
/// says; what `computed` makes of the layers with weights is computed (quantized/network.hpp).
template <levada::parameter_source Weights, class Placed = anywhere, class Computed = anywhere>
auto classifier(const Weights& weights, Placed placed = {}, Computed computed = {}) {
  namespace lv = levada;
  // clang-format off
  return lv::input<lv::tensor<std::uint8_t, 1, 28, 28>>
      | lv::transform<"normalise">([](auto px) { return to_float(px) / 255.0f; })
      | computed(
            placed(lv::nn::conv2d<"conv1", 8, lv::size<5, 5>, lv::padding<2>>(weights)
              | lv::nn::relu | lv::nn::max_pool2d<2>)
          | placed(lv::nn::conv2d<"conv2", 16, lv::size<5, 5>, lv::padding<2>>(weights)
              | lv::nn::relu | lv::nn::max_pool2d<3>)
          | lv::nn::flatten | lv::nn::dense<"dense", 10>(weights))
      | lv::nn::softmax
      | lv::stage<"label">([](const lv::tensor<float, 10>& p) { return lv::argmax(p); });
  // clang-format on
}

}  // namespace example::fashion_mnist
