// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/quantized.hpp: numbers as small integers with a scale and a zero point, and the ops that compute with them (ONNX
// QuantizeLinear, DequantizeLinear, QLinearConv, QLinearMatMul). nn/quantize.hpp makes them of a pipeline of float.

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include <levada/graph/detail/op_rules.hpp>
#include <levada/nn/conv2d.hpp>
#include <levada/nn/dense.hpp>

namespace levada {

/// How integers stand for numbers: number = scale * (integer - zero_point).
struct quantization {
  float scale = 1;
  int zero_point = 0;
};

/// An integer that stands for a number.
template <class T>
concept quantized_element = std::same_as<T, std::uint8_t> || std::same_as<T, std::int8_t>;

/// What an op that weighs and sums gives: integers, or float where nothing is rounded any more.
template <class T>
concept qlinear_result = quantized_element<T> || std::same_as<T, float>;

/// What it finds as its weights: int8 with a scale for each output, uint8 with a zero point, too, or float, which
/// become int8 with the scale that the largest of an output needs when they are deployed.
template <class T>
concept qlinear_weight = quantized_element<T> || std::same_as<T, float>;

namespace detail {

/// The integer next to a number of steps, halves to even, counted from a zero point, not below `lowest`; the nearest
/// where it does not fit, `lowest` where the number is NaN.
template <quantized_element To>
To quantized_steps(float steps, int zero_point, int lowest = std::numeric_limits<To>::min()) {
  const auto low = static_cast<float>(lowest - zero_point),
             high = static_cast<float>(std::numeric_limits<To>::max() - zero_point);
  const float kept = steps > low ? std::min(steps, high) : low;
  return static_cast<To>(static_cast<int>(std::nearbyint(kept)) + zero_point);
}
/// The smallest integer of a result that has nothing below zero where `relu`.
template <quantized_element To>
constexpr int lowest_of(const quantization& y, bool relu) {
  constexpr int least = std::numeric_limits<To>::min();
  return relu ? std::max(least, y.zero_point) : least;
}

}  // namespace detail

/// Each element of float as an integer: round(x / scale) + zero_point, halves to even, saturated. NaN gives the
/// smallest. `Region` is what is known of the ops that follow: `quantized_stages`.
template <quantized_element To, class Region = void>
struct quantize_linear_op : weightless_op {
  static constexpr std::string_view kind = "quantize_linear";
  static constexpr op_kind fuses_as = op_kind::element_wise;
  static constexpr std::string_view expects = "a float tensor";
  using region = Region;

  quantization to;

  template <any_tensor In>
    requires std::same_as<typename In::value_type, float>
  using output = with_element_t<To, In>;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>(In::elements);
};

/// The numbers that integers stand for: (x - zero_point) * scale.
struct dequantize_linear_op : weightless_op {
  static constexpr std::string_view kind = "dequantize_linear";
  static constexpr op_kind fuses_as = op_kind::element_wise;
  static constexpr std::string_view expects = "a tensor of uint8, int8 or int32";

  quantization from;

  template <any_tensor In>
    requires(quantized_element<typename In::value_type> || std::same_as<typename In::value_type, std::int32_t>)
  using output = with_element_t<float, In>;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>(In::elements);
};

/// The numbers of an op that weighs and sums integers.
struct qlinear_numbers {
  quantization x, y{};        ///< of what it takes, and of what it gives if these are integers
  bool relu = false;          ///< nothing below zero is given
  int weight_zero_point = 0;  ///< of weights of uint8; others have 0
};

namespace detail {

template <bool HasBias, class Weight>
constexpr auto qlinear_parameters(const shape& weight, std::size_t outputs) {
  if constexpr (std::same_as<Weight, float>) {
    return weight_and_bias<HasBias>(element::f32, weight, outputs);
  } else {
    constexpr element type = element_of<Weight>;
    const parameter_info w{"weight", type, weight}, scale{"weight_scale", element::f32, shape(outputs)},
        bias{"bias", element::i32, shape(outputs)};
    if constexpr (HasBias)
      return std::array{w, scale, bias};
    else
      return std::array{w, scale};
  }
}

/// A tensor of integers.
template <class T>
concept quantized_tensor = any_tensor<T> && quantized_element<typename T::value_type>;

}  // namespace detail

/// conv2d of integers. The sum of (x - x.zero_point) * (weight - weight_zero_point) and of an int32 bias in steps of
/// x.scale * weight_scale is exact; it is given as a number of float, or in steps of y.scale, rounded once.
///
/// Padding stands for 0. Parameters: "weight" [Filters, C / groups, height, width], "weight_scale" [Filters], "bias"
/// [Filters] unless `no_bias`; where `Weight` is float, those of conv2d.
template <std::size_t Filters, qlinear_result To, qlinear_weight Weight, conv2d_option... Options>
  requires(Filters > 0)
struct qlinear_conv2d_op : convolution_op<Filters, Options...> {
  static constexpr std::string_view kind = "qlinear_conv2d";
  static constexpr std::string_view expects =
      "a uint8 or int8 tensor of channels, height, width that holds the window and whose channels the groups divide";
  using base = convolution_op<Filters, Options...>;
  using weight_type = Weight;
  using result_type = To;
  static constexpr std::size_t outputs = Filters;

  qlinear_numbers numbers;

  template <detail::quantized_tensor In>
    requires(image_tensor<In> && base::window.fits(In::extents[1], In::extents[2]) &&
             base::groups_divide(In::extents[0]))
  using output =
      tensor<To, Filters, base::window.output_rows(In::extents[1]), base::window.output_columns(In::extents[2])>;

  template <class In>
  static constexpr double flops =
      2.0 * static_cast<double>(output<In>::elements * (In::extents[0] / base::groups) * base::window.taps());

  template <class In>
  static constexpr auto parameters = detail::qlinear_parameters<base::has_bias, Weight>(
      shape(Filters, In::extents[0] / base::groups, base::window.height, base::window.width), Filters);
};

/// dense of integers, as `qlinear_conv2d_op` computes: "weight" is [Outputs, Inputs].
template <std::size_t Outputs, qlinear_result To, qlinear_weight Weight, std::same_as<no_bias>... Options>
  requires(Outputs > 0)
struct qlinear_dense_op {
  static constexpr std::string_view kind = "qlinear_dense";
  static constexpr op_kind fuses_as = op_kind::out_fusable;
  static constexpr std::string_view expects = "a uint8 or int8 tensor of one axis (flatten comes before qlinear_dense)";
  using weight_type = Weight;
  using result_type = To;
  static constexpr std::size_t outputs = Outputs;
  static constexpr bool has_bias = sizeof...(Options) == 0;

  qlinear_numbers numbers;

  template <detail::quantized_tensor In>
    requires(In::rank == 1)
  using output = tensor<To, Outputs>;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>(In::elements * Outputs);

  template <class In>
  static constexpr auto parameters =
      detail::qlinear_parameters<has_bias, Weight>(shape(Outputs, In::elements), Outputs);
};

namespace nn {

/// `nn::quantize_linear<std::uint8_t>({.scale = 0.02f, .zero_point = 128})`.
template <quantized_element To>
constexpr auto quantize_linear(quantization to) {
  return op_stage<"quantize_linear", quantize_linear_op<To>>{{{}, to}, {}};
}
constexpr auto dequantize_linear(quantization from) {
  return op_stage<"dequantize_linear", dequantize_linear_op>{{{}, from}, {}};
}

/// A convolution of int8 weights to `To`: "<Name>.weight", "<Name>.weight_scale" and "<Name>.bias" of `weights`, which
/// must outlive `deploy`.
template <fixed_string Name, std::size_t Filters, qlinear_result To, conv2d_option... Options, parameter_source Source>
constexpr auto qlinear_conv2d(const Source& weights, const qlinear_numbers& numbers) {
  return op_stage<Name, qlinear_conv2d_op<Filters, To, std::int8_t, Options...>>{{{}, numbers},
                                                                                 parameter_source_ref(weights)};
}
template <fixed_string Name, std::size_t Filters, qlinear_result To, conv2d_option... Options, parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> qlinear_conv2d(const Source&& weights,
                                                                                            const qlinear_numbers&);

/// The same of a dense layer.
template <fixed_string Name, std::size_t Outputs, qlinear_result To, std::same_as<no_bias>... Options,
          parameter_source Source>
constexpr auto qlinear_dense(const Source& weights, const qlinear_numbers& numbers) {
  return op_stage<Name, qlinear_dense_op<Outputs, To, std::int8_t, Options...>>{{numbers},
                                                                                parameter_source_ref(weights)};
}
template <fixed_string Name, std::size_t Outputs, qlinear_result To, std::same_as<no_bias>... Options,
          parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> qlinear_dense(const Source&& weights,
                                                                                           const qlinear_numbers&);

}  // namespace nn
}  // namespace levada
