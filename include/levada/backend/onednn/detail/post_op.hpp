// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/onednn/detail/post_op.hpp: which element-wise ops oneDNN computes behind another one, on the results of that
// while it has them: functions of one result, and of a result and another value.

#include <array>
#include <cstddef>
#include <limits>
#include <string_view>

#include <levada/backend/detail/one_of.hpp>
#include <levada/backend/onednn/detail/library.hpp>
#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/op_info.hpp>

namespace levada::detail {

/// Functions of one element that oneDNN 2.6 has.
constexpr bool is_onednn_function(std::string_view kind) {
  constexpr std::string_view kinds[] = {
      "relu", "leaky_relu", "elu",        "tanh",  "sigmoid", "exp",      "log",          "sqrt",
      "abs",  "gelu",       "gelu_tanh",  "silu",  "mish",    "softplus", "clip",         "at_least",
      "neg",  "at_most",    "hard_swish", "scale", "offset",  "round",    "number_minus", "hard_sigmoid"};
  return is_one_of(kind, kinds);
}

/// Of two elements, the first of which is a result where `results_first`.
constexpr bool is_onednn_binary(std::string_view kind, bool results_first) {
  constexpr std::string_view either[] = {"add", "sum", "mul", "max", "min", "sub"};
  return is_one_of(kind, either) || (results_first && (kind == "div" || kind == "prelu"));
}

/// "add" of "add_parameter", "sub" of "parameter_sub".
constexpr std::string_view without_parameter(std::string_view kind) {
  constexpr std::string_view before = "parameter_", behind = "_parameter";
  if (kind.starts_with(before)) return kind.substr(before.size());
  return kind.ends_with(behind) ? kind.substr(0, kind.size() - behind.size()) : kind;
}
constexpr bool has_parameter_first(const op_info& op) {
  return op.joins_parameter && op.kind.starts_with("parameter_");
}

/// An op with a second operand, be it a value or a parameter.
constexpr bool is_binary_op(const op_info& op) { return op.joins_parameter || op.takes.size() == 2; }

/// The op is computed behind what gives its `operand`-th operand.
constexpr bool is_onednn_post_op(const op_info& op, std::size_t operand) {
  if (op.joins_parameter) return is_onednn_binary(without_parameter(op.kind), !has_parameter_first(op));
  if (!op.has_function) return false;
  return op.takes.size() == 1   ? is_onednn_function(op.kind)
         : op.takes.size() == 2 ? is_onednn_binary(op.kind, operand == 0)
                                : false;
}

/// One of oneDNN's: of a result alone, or with the op's other operand.
struct onednn_post_op {
  enum class form { function, binary, slope } how = form::function;
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0, beta = 0;
};

/// What the op is, in order.
inline bounded<onednn_post_op, 2> onednn_post_ops(const op_info& op, bool results_first) {
  using dnnl::algorithm;
  using form = onednn_post_op::form;
  constexpr float most = std::numeric_limits<float>::infinity();
  const auto number = [&](std::size_t i) { return i < op.numbers.size() ? op.numbers[i] : 0; };
  const auto function = [](algorithm how, float alpha = 0, float beta = 0) {
    return onednn_post_op{form::function, how, alpha, beta};
  };
  const auto binary = [](algorithm how) { return onednn_post_op{form::binary, how, 0, 0}; };
  const std::string_view kind = without_parameter(op.kind);
  if (is_binary_op(op)) {
    if (kind == "sub" && !results_first)  // b - x
      return {function(algorithm::eltwise_linear, -1), binary(algorithm::binary_add)};
    if (kind == "prelu") return {onednn_post_op{form::slope, algorithm::undef, 0, 0}};
    return {binary(kind == "mul"   ? algorithm::binary_mul
                   : kind == "sub" ? algorithm::binary_sub
                   : kind == "div" ? algorithm::binary_div
                   : kind == "max" ? algorithm::binary_max
                   : kind == "min" ? algorithm::binary_min
                                   : algorithm::binary_add)};
  }
  if (kind == "leaky_relu") return {function(algorithm::eltwise_relu, number(0))};
  if (kind == "elu") return {function(algorithm::eltwise_elu, number(0))};
  if (kind == "tanh") return {function(algorithm::eltwise_tanh)};
  if (kind == "sigmoid") return {function(algorithm::eltwise_logistic)};
  if (kind == "exp") return {function(algorithm::eltwise_exp)};
  if (kind == "log") return {function(algorithm::eltwise_log)};
  if (kind == "sqrt") return {function(algorithm::eltwise_sqrt)};
  if (kind == "abs") return {function(algorithm::eltwise_abs)};
  if (kind == "gelu") return {function(algorithm::eltwise_gelu_erf)};
  if (kind == "gelu_tanh") return {function(algorithm::eltwise_gelu_tanh)};
  if (kind == "silu") return {function(algorithm::eltwise_swish, 1)};
  if (kind == "mish") return {function(algorithm::eltwise_mish)};
  if (kind == "softplus") return {function(algorithm::eltwise_soft_relu, 1)};
  if (kind == "clip") return {function(algorithm::eltwise_clip, number(0), number(1))};
  if (kind == "at_least") return {function(algorithm::eltwise_clip, number(0), most)};
  if (kind == "at_most") return {function(algorithm::eltwise_clip, -most, number(0))};
  if (kind == "neg") return {function(algorithm::eltwise_linear, -1)};
  if (kind == "scale") return {function(algorithm::eltwise_linear, number(0))};
  if (kind == "offset") return {function(algorithm::eltwise_linear, 1, number(0))};
  if (kind == "number_minus") return {function(algorithm::eltwise_linear, -1, number(0))};
  if (kind == "round") return {function(algorithm::eltwise_round)};
  if (kind == "hard_swish") return {function(algorithm::eltwise_hardswish)};
  if (kind == "hard_sigmoid")
    return {function(algorithm::eltwise_linear, number(0), number(1)), function(algorithm::eltwise_clip, 0, 1)};
  return {function(algorithm::eltwise_relu)};
}

}  // namespace levada::detail
