// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/integers.hpp: more ops of integers that stand for numbers: a scale for each index of an axis, scales found at run
// time, and sums that stay integers (ONNX QuantizeLinear and DequantizeLinear with an axis, DynamicQuantizeLinear,
// MatMulInteger, ConvInteger, QLinearMatMul of two inputs).

#include <levada/nn/along_axis.hpp>
#include <levada/nn/matmul.hpp>
#include <levada/nn/quantized.hpp>

namespace levada {

namespace detail {

/// "scale" and "zero_point" of each index of an axis.
constexpr std::array<parameter_info, 2> axis_quantization(element type, std::size_t extent) {
  return {parameter_info{"scale", element::f32, shape(extent)}, parameter_info{"zero_point", type, shape(extent)}};
}

template <class In>
inline constexpr shape integer_product = no_shape;
template <quantized_tensor A, quantized_tensor B>
inline constexpr shape integer_product<std::tuple<A, B>> = product(shape_of<A>, shape_of<B>);

}  // namespace detail

/// As `quantize_linear_op` with a scale and a zero point for each index of `Axis`: parameters "scale" and "zero_point".
template <quantized_element To, std::ptrdiff_t Axis>
struct quantize_along_op {
  static constexpr std::string_view kind = "quantize_along";
  static constexpr std::string_view expects = "a float tensor that has the axis";

  template <detail::has_axis<Axis> In>
    requires std::same_as<typename In::value_type, float>
  using output = with_element_t<To, In>;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>(In::elements);

  template <class In>
  static constexpr auto parameters = detail::axis_quantization(element_of<To>, detail::around_axis<In, Axis>::length);
};

/// The same the other way: the zero points are of the type of the integers.
template <std::ptrdiff_t Axis>
struct dequantize_along_op {
  static constexpr std::string_view kind = "dequantize_along";
  static constexpr std::string_view expects = "a tensor of uint8, int8 or int32 that has the axis";

  template <detail::has_axis<Axis> In>
    requires op_takes<dequantize_linear_op, In>
  using output = with_element_t<float, In>;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>(In::elements);

  template <class In>
  static constexpr auto parameters =
      detail::axis_quantization(element_of<typename In::value_type>, detail::around_axis<In, Axis>::length);
};

/// (uint8, scale, zero point) of numbers whose range, widened to hold 0, fills all 256 steps.
struct dynamic_quantize_op : weightless_op {
  static constexpr std::string_view kind = "dynamic_quantize_linear";
  static constexpr std::string_view expects = "a float tensor";

  template <any_tensor In>
    requires std::same_as<typename In::value_type, float>
  using output = std::tuple<with_element_t<std::uint8_t, In>, tensor<float>, tensor<std::uint8_t>>;

  template <class In>
  static constexpr double flops = 4.0 * static_cast<double>(In::elements);
};

/// The product of two tensors of integers, as `matmul`, less a zero point of each: exact sums of int32, which
/// wrap around.
struct matmul_integer_op : weightless_op {
  static constexpr std::string_view kind = "matmul_integer";
  static constexpr std::string_view expects =
      "a tuple of two uint8 or int8 tensors whose inner axes agree and whose batches broadcast";

  int a_zero_point = 0, b_zero_point = 0;

  template <tensor_tuple In>
    requires(detail::integer_product<In>.elements() > 0)
  using output = tensor_of_t<std::int32_t, detail::integer_product<In>>;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>(output<In>::elements) *
                                  static_cast<double>(std::tuple_element_t<0, In>::extents.back());
};

/// The same in steps of y.scale, rounded once.
template <quantized_element To>
struct qlinear_matmul_op : weightless_op {
  static constexpr std::string_view kind = "qlinear_matmul";
  static constexpr std::string_view expects = matmul_integer_op::expects;

  quantization a, b, y;

  template <tensor_tuple In>
    requires(detail::integer_product<In>.elements() > 0)
  using output = tensor_of_t<To, detail::integer_product<In>>;

  template <class In>
  static constexpr double flops = matmul_integer_op::flops<In>;
};

namespace detail {

template <class In>
inline constexpr bool are_bytes_of_one_shape = false;
template <any_tensor A, any_tensor B>
  requires(quantized_element<typename A::value_type> && quantized_element<typename B::value_type>)
inline constexpr bool are_bytes_of_one_shape<std::tuple<A, B>> = shape_of<A> == shape_of<B>;

}  // namespace detail

/// The sum of the numbers that integers stand for, as float, in steps of y.scale (QLinearAdd of ONNX Runtime).
template <quantized_element To>
struct qlinear_add_op : weightless_op {
  static constexpr std::string_view kind = "qlinear_add";
  static constexpr std::string_view expects = "a tuple of two uint8 or int8 tensors of one shape";

  quantization a, b, y;
  bool relu = false;  ///< nothing below zero is given

  template <tensor_tuple In>
    requires detail::are_bytes_of_one_shape<In>
  using output = with_element_t<To, std::tuple_element_t<0, In>>;

  template <class In>
  static constexpr double flops = 4.0 * static_cast<double>(output<In>::elements);
};

/// conv2d of integers less their zero points: exact sums of int32, which wrap around. Padding stands for 0. Parameter:
/// "weight" [Filters, C / groups, height, width] of `Weight`.
template <std::size_t Filters, quantized_element Weight, conv2d_option... Options>
struct conv_integer2d_op : convolution_op<Filters, Options...> {
  static constexpr std::string_view kind = "conv_integer2d";
  using base = convolution_op<Filters, Options...>;
  using in_steps = qlinear_conv2d_op<Filters, float, Weight, Options...>;
  static constexpr std::string_view expects = in_steps::expects;

  int x_zero_point = 0, weight_zero_point = 0;

  template <class In>
    requires op_takes<in_steps, In>
  using output = with_element_t<std::int32_t, typename in_steps::template output<In>>;

  template <class In>
  static constexpr double flops = in_steps::template flops<In>;

  template <class In>
  static constexpr std::array<parameter_info, 1> parameters{in_steps::template parameters<In>[0]};
};

namespace nn {

/// `nn::quantize_along<"name", 1, std::int8_t>(w)`: "<Name>.scale" and "<Name>.zero_point" of `w`.
template <fixed_string Name, std::ptrdiff_t Axis, quantized_element To>
inline constexpr weighted_stage<Name, quantize_along_op<To, Axis>> quantize_along{};
template <fixed_string Name, std::ptrdiff_t Axis>
inline constexpr weighted_stage<Name, dequantize_along_op<Axis>> dequantize_along{};

inline constexpr op_stage<"dynamic_quantize_linear", dynamic_quantize_op> dynamic_quantize_linear{};

/// Of a tuple of two tensors.
constexpr auto matmul_integer(int a_zero_point = 0, int b_zero_point = 0) {
  return op_stage<"matmul_integer", matmul_integer_op>{{{}, a_zero_point, b_zero_point}, {}};
}
template <quantized_element To>
constexpr auto qlinear_matmul(quantization a, quantization b, quantization y) {
  return op_stage<"qlinear_matmul", qlinear_matmul_op<To>>{{{}, a, b, y}, {}};
}

/// Of a tuple of two tensors; `has_relu`: nothing below zero is given.
template <quantized_element To>
constexpr auto qlinear_add(quantization a, quantization b, quantization y, bool has_relu = false) {
  return op_stage<"qlinear_add", qlinear_add_op<To>>{{{}, a, b, y, has_relu}, {}};
}

/// `nn::conv_integer2d<"name", 8, std::int8_t, size<3>>(w, zero point of x, of the weights)`.
template <fixed_string Name, std::size_t Filters, quantized_element Weight, conv2d_option... Options,
          parameter_source Source>
constexpr auto conv_integer2d(const Source& weights, int x_zero_point = 0, int weight_zero_point = 0) {
  return op_stage<Name, conv_integer2d_op<Filters, Weight, Options...>>{{{}, x_zero_point, weight_zero_point},
                                                                        parameter_source_ref(weights)};
}
template <fixed_string Name, std::size_t Filters, quantized_element Weight, conv2d_option... Options,
          parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> conv_integer2d(const Source&&, int = 0,
                                                                                            int = 0);

}  // namespace nn
}  // namespace levada
