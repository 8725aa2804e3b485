// SPDX-License-Identifier: Apache-2.0
#pragma once
// quantized/network.hpp: the demo's network with its layers computed by integers, or with bfloat16.

#include <cstdint>
#include <utility>

#include "../fashion_mnist/network.hpp"
#include "network.scales.hpp"

#include <levada/backend/simd/quantized.hpp>
#include <levada/nn/quantize.hpp>
#include <levada/nn/quantize_bfloat16.hpp>

namespace example::fashion_mnist {

/// The layers with weights, by integers.
template <class Scales>
struct by_integers {
  Scales scales;
  template <class Part>
  auto operator()(Part part) const {
    return levada::quantize<std::int8_t>(std::move(part), scales);
  }
};

/// The same with bfloat16.
struct by_bfloat16 {
  template <class Part>
  auto operator()(Part part) const {
    return levada::quantize<levada::bfloat16>(std::move(part));
  }
};

/// `scales` are `levada::scales<network_scales>`, or `levada::to_calibrate`.
template <levada::parameter_source Weights, class Scales>
auto quantized_classifier(const Weights& weights, Scales scales) {
  return classifier(weights, anywhere{}, by_integers<Scales>{scales});
}

}  // namespace example::fashion_mnist
