// SPDX-License-Identifier: Apache-2.0
// The networks; LEVADA_COMPILED is the function that gives them.

#include "../networks.hpp"
#include "../../../examples/fashion_mnist/network.hpp"

#include <levada/graph/parameter_map.hpp>
#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

namespace isa_networks {
namespace {

using box = lv::target<lv::cpu<1>>;

template <class T>
T numbers(int step) {
  T made;
  for (std::size_t i = 0; i < T::elements; ++i)
    made[i] = static_cast<float>((static_cast<int>(i % 1000) * step) % 17 - 8) / 64.0f;
  return made;
}

auto block(const lv::parameter_map& weights) {
  return lv::input<planes> |
         lv::residual(lv::nn::conv2d<"first", 64, lv::size<3>, lv::padding<1>>(weights) | lv::nn::relu |
                      lv::nn::conv2d<"second", 64, lv::size<3>, lv::padding<1>>(weights)) |
         lv::nn::relu;
}

}  // namespace

compiled LEVADA_COMPILED() {
  const lv::safetensors trained{LEVADA_SOURCE_DIR "/examples/fashion_mnist/weights.safetensors"};
  lv::parameter_map weights;
  for (const char* const name : {"first", "second"}) {
    weights.set(std::string(name) + ".weight", numbers<lv::tensor<float, 64, 64, 3, 3>>(name[0] % 16));
    weights.set(std::string(name) + ".bias", numbers<lv::tensor<float, 64>>(3));
  }
  return {std::string(lv::simd::instruction_set()), lv::deploy<box>(example::fashion_mnist::classifier(trained)),
          lv::deploy<box>(block(weights))};
}

}  // namespace isa_networks
