// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/activation.hpp: functions between layers, relu and the softmaxes (ONNX Relu, Softmax, LogSoftmax).

#include <levada/graph/detail/op_rules.hpp>

namespace levada {

/// max(x, 0) of each element. NaN stays NaN.
struct relu_op : weightless_op {
  static constexpr std::string_view kind = "relu";
  static constexpr op_kind fuses_as = op_kind::element_wise;
  static constexpr std::string_view expects = "a float or double tensor";
  /// Of an element, in the kernel language.
  static constexpr auto function = [](auto x) { return select(x < 0.0f, 0.0f, x); };

  template <floating_tensor In>
  using output = In;
  static constexpr bool in_place = true;

  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);
};

/// The shape rule of both softmaxes. A NaN, or an infinity that is the largest, makes its whole row NaN.
struct softmax_rule : weightless_op {
  static constexpr std::string_view expects = "a float or double tensor of at least one axis";

  template <floating_tensor In>
    requires(In::rank >= 1)
  using output = In;

  template <class In>
  static constexpr double flops = 4.0 * static_cast<double>(In::elements);
};

/// exp(x) / sum of exp(x) along the last axis, computed from x - max(x) so that it does not overflow.
struct softmax_op : softmax_rule {
  static constexpr std::string_view kind = "softmax";
};

/// x - max(x) - log(sum of exp(x - max(x))) along the last axis.
struct log_softmax_op : softmax_rule {
  static constexpr std::string_view kind = "log_softmax";
};

namespace nn {

inline constexpr op_stage<"relu", relu_op> relu{};
inline constexpr op_stage<"softmax", softmax_op> softmax{};
inline constexpr op_stage<"log_softmax", log_softmax_op> log_softmax{};

}  // namespace nn
}  // namespace levada
