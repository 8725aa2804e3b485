// SPDX-License-Identifier: Apache-2.0
#pragma once
// onnx/device_backends.hpp: the node cases on a Vulkan device. It computes all of them but the steps of recurrent
// layers, quantized numbers, bfloat16, pools of bytes and those with elements of 64 bits, of which it knows how to move
// and count alone, and functions of one element that give bool.

#include "spirv/direct.hpp"

#include <levada/backend/spirv/ops.hpp>

namespace levada::testing {

template <class F>
void on_each_backend(F f) {
  LEVADA_NEEDS_DEVICE();
  f(std::type_identity<spirv>());
}

template <class T>
inline constexpr bool is_wide = false;
template <any_tensor T>
inline constexpr bool is_wide<T> = sizeof(typename T::value_type) == 8;
template <class... T>
inline constexpr bool is_wide<std::tuple<T...>> = (is_wide<T> || ...);

/// Vulkan devices do not compute with bfloat16.
template <class T>
inline constexpr bool is_bfloat16 = false;
template <std::size_t... Dims>
inline constexpr bool is_bfloat16<tensor<bfloat16, Dims...>> = true;

/// Ops that devices have no kernels of.
template <class Op>
inline constexpr bool is_left_to_processors =
    Op::kind.ends_with("_along") || Op::kind.ends_with("_sequence") || Op::kind == "reduce_log_sum_exp" ||
    Op::kind == "cum_sum" || Op::kind == "lp_norm" || Op::kind == "mean_variance_norm" || Op::kind == "lrn" ||
    Op::kind == "gather_elements" || Op::kind == "gather_nd" || Op::kind == "scatter_elements" ||
    Op::kind == "scatter_nd" || Op::kind == "one_hot" || Op::kind == "trilu" || Op::kind == "grid_sample" ||
    Op::kind == "dynamic_quantize_linear" || Op::kind == "matmul_integer" || Op::kind == "conv_integer2d";

/// A function of one element stores a word.
template <class Op>
inline constexpr bool gives_truth = Op::kind == "logical_not" || Op::kind == "is_nan" || Op::kind == "is_inf";

template <class Op, class In>
inline constexpr bool is_quantized = Op::kind == "quantize_linear" || Op::kind == "dequantize_linear" ||
                                     Op::kind == "qlinear_conv2d" || Op::kind == "qlinear_dense";
template <class Op, any_tensor In>
  requires(sizeof(typename In::value_type) == 1)
inline constexpr bool is_quantized<Op, In> = is_quantized<Op, void> || Op::kind == "max_pool2d";

template <class Backend, class Op, class In, class... Parameter>
auto call(std::type_identity<Backend>, const Op& op, const In& in, const Parameter&... parameters) {
  const std::vector<const void*> pointers{static_cast<const void*>(parameters.data())...};
  if constexpr (op_kernel<Backend, In, Op>) {
    return *spirv_test::on_device(in, pointers, op);
  } else {
    static_assert(is_wide<In> || is_wide<run_output_t<In, Op>> || Op::kind == "gru" || Op::kind == "lstm" ||
                  is_left_to_processors<Op> || is_quantized<Op, In> || gives_truth<Op> || is_bfloat16<In> ||
                  is_bfloat16<run_output_t<In, Op>>);
    return *by_one_kernel<reference>(in, pointers, op);
  }
}

}  // namespace levada::testing
