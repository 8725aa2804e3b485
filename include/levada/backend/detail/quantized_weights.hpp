// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/quantized_weights.hpp: the weights of an op that sums integers, as all kernels take them: integers,
// one int32 bias and one factor for each output. Weights of float are quantized here, when the program starts.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <levada/graph/detail/parameters.hpp>
#include <levada/nn/quantized.hpp>

namespace levada::detail {

/// The weights of `Op` for an input of type `In`. `Backend`: see backend/detail/definition.hpp.
template <class Backend, class In, class Op>
struct quantized_weights {
  static constexpr bool from_float = std::is_same_v<typename Op::weight_type, float>;
  using stored = std::conditional_t<from_float, std::int8_t, typename Op::weight_type>;
  static constexpr std::size_t outputs = Op::outputs;
  static constexpr std::size_t each = Op::template parameters<In>[0].extents.elements() / outputs;

  quantized_weights(const Op& op, const parameter_values& p) {
    if constexpr (std::same_as<stored, std::uint8_t>) zero_point = op.numbers.weight_zero_point;
    const float* bias_of_float = nullptr;
    if constexpr (from_float) {
      if constexpr (Op::has_bias) bias_of_float = p.get<float>(1);
      for (std::size_t o = 0; o < outputs; ++o)
        quantize_output(p.get<float>(0) + o * each, bias_of_float != nullptr ? bias_of_float[o] : 0, op.numbers.x.scale,
                        o);
    } else {
      std::copy_n(p.get<stored>(0), outputs * each, weight.begin());
      std::copy_n(p.get<float>(1), outputs, factor.begin());
      if constexpr (Op::has_bias) std::copy_n(p.get<std::int32_t>(2), outputs, bias.begin());
    }
    // So ONNX's own kernels multiply: the scale of the sum first, then the step of what is given.
    for (float& f : factor) {
      f = op.numbers.x.scale * f;
      if constexpr (!std::same_as<typename Op::result_type, float>) f = f / op.numbers.y.scale;
    }
  }

  tensor<stored, outputs * each> weight;
  tensor<std::int32_t, outputs> bias{};
  tensor<float, outputs> factor;  ///< of the sum
  int zero_point = 0;             ///< of the weights

 private:
  /// Symmetric: the largest weight is 127, or -127. Where a bias is so large beside the weights that int32 would not
  /// hold it in their steps, the steps are larger.
  void quantize_output(const float* w, float b, float x_scale, std::size_t o) {
    float largest = 0;
    for (std::size_t i = 0; i < each; ++i) largest = std::max(largest, std::abs(w[i]));
    float scale = std::max(largest / 127.0f, std::abs(b) / (x_scale * 0x1p30f));
    if (!(scale > 0)) scale = 1;
    for (std::size_t i = 0; i < each; ++i) weight[o * each + i] = quantized_steps<std::int8_t>(w[i] / scale, 0, -127);
    bias[o] = static_cast<std::int32_t>(std::nearbyint(std::clamp(b / (x_scale * scale), -0x1p30f, 0x1p30f)));
    factor[o] = scale;
  }
};

/// What an op gives for a sum.
template <class Backend, class Op>
struct qlinear_finish {
  using result = typename Op::result_type;

  static result of(std::int32_t sum, float factor, const qlinear_numbers& numbers) {
    const float scaled = static_cast<float>(sum) * factor;
    if constexpr (std::same_as<result, float>)
      return numbers.relu ? std::max(scaled, 0.0f) : scaled;
    else
      return quantized_steps<result>(scaled, numbers.y.zero_point, lowest_of<result>(numbers.y, numbers.relu));
  }
};

}  // namespace levada::detail
