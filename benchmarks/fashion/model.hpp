// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion/model.hpp: what all contenders are given: the weights of the demo's network (1x28x28 -> conv 8@5x5 -> relu ->
// max pool 2 -> conv 16@5x5 -> relu -> max pool 3 -> dense 10) and the pictures.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>

#include "../../examples/common/run.hpp"
#if LEVADA_HAS_ZLIB
#include <zlib.h>
#include "../../examples/common/fashion_mnist.hpp"
#endif

namespace fashion {

/// Grey, 0 ... 255.
using picture = levada::tensor<std::uint8_t, 1, 28, 28>;
/// What the model is given: 0 ... 1.
using pixels = levada::tensor<float, 1, 28, 28>;
using logits = levada::tensor<float, 10>;
/// One for each picture.
using labels = std::vector<std::int64_t>;

/// The demo's weights, which are committed beside it.
inline const levada::safetensors& weights_file() {
  static const levada::safetensors file(LEVADA_SOURCE_DIR "/examples/fashion_mnist/weights.safetensors");
  return file;
}

/// The same as tensors, for those who take memory.
struct weights {
  levada::tensor<float, 8, 1, 5, 5> conv1_weight = read<decltype(conv1_weight)>("conv1.weight");
  levada::tensor<float, 8> conv1_bias = read<decltype(conv1_bias)>("conv1.bias");
  levada::tensor<float, 16, 8, 5, 5> conv2_weight = read<decltype(conv2_weight)>("conv2.weight");
  levada::tensor<float, 16> conv2_bias = read<decltype(conv2_bias)>("conv2.bias");
  levada::tensor<float, 10, 256> dense_weight = read<decltype(dense_weight)>("dense.weight");
  levada::tensor<float, 10> dense_bias = read<decltype(dense_bias)>("dense.bias");

 private:
  template <class Tensor>
  static Tensor read(std::string_view name) {
    const std::optional<levada::stored_tensor> stored = weights_file().find(name);
    if (!stored || stored->type != levada::element::f32 || stored->extents != levada::shape_of<Tensor>)
      throw levada::error("the weights lack a fitting " + std::string(name));
    Tensor tensor;
    std::memcpy(tensor.data(), stored->data, sizeof(float) * Tensor::elements);
    return tensor;
  }
};

inline const weights& the_weights() {
  static const weights w;
  return w;
}

/// Many pictures and where they are from.
struct picture_set {
  std::vector<picture> pictures;
  std::string origin;
  bool are_noise = false;
};

/// The test pictures of Fashion-MNIST; noise, which costs the same time, where the data set or zlib is missing.
inline picture_set read_pictures() {
#if LEVADA_HAS_ZLIB
  try {
    namespace demo = example::fashion_mnist;
    return {demo::read(demo::folder(""), "t10k").pictures, "test pictures of Fashion-MNIST"};
  } catch (const example::missing_data&) {
  }
#endif
  picture_set set{std::vector<picture>(10'000), "pictures of noise (the data set is Debian's dataset-fashion-mnist)",
                  true};
  std::mt19937 engine{2};
  for (picture& p : set.pictures)
    for (std::uint8_t& value : p) value = static_cast<std::uint8_t>(engine() >> 24);
  return set;
}

inline const picture_set& the_pictures() {
  static const picture_set set = read_pictures();
  return set;
}

/// The pre-processing of those who do not bring their own.
inline void normalise(const picture& from, pixels& to) {
  for (std::size_t i = 0; i < pixels::elements; ++i) to.data()[i] = static_cast<float>(from.data()[i]) / 255.0f;
}

}  // namespace fashion
