// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/dense.hpp: the fully connected layer (ONNX Gemm with transB = 1, PyTorch Linear).

#include <levada/graph/detail/op_rules.hpp>
#include <levada/nn/window.hpp>

namespace levada {

/// output[..., o] = bias[o] + sum over i of weight[o, i] * input[..., i]. Parameters: "weight" [Outputs, Inputs] and
/// "bias" [Outputs], unless `no_bias`.
template <std::size_t Outputs, std::same_as<no_bias>... Options>
  requires(Outputs > 0)
struct dense_op {
  static constexpr std::string_view kind = "dense";
  static constexpr op_kind fuses_as = op_kind::out_fusable;
  static constexpr std::string_view expects = "a float or double tensor of at least one axis";
  static constexpr std::size_t outputs = Outputs;
  static constexpr bool has_bias = sizeof...(Options) == 0;

  static constexpr axes_of_no_picture takes_axes{};

  template <floating_tensor In>
    requires(In::rank >= 1)
  using output = with_last_extent_t<In, Outputs>;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>(In::elements * Outputs);

  template <class In>
  static constexpr auto parameters = weight_and_bias<has_bias>(element_of<typename In::value_type>,
                                                               shape(Outputs, In::extents[In::rank - 1]), Outputs);
};

namespace nn {

/// A dense layer along the last axis named `Name` whose parameters are "<Name>.weight" and "<Name>.bias" of `weights`,
/// which must outlive `deploy`: `nn::dense<"fc", 10>(w)`.
template <fixed_string Name, std::size_t Outputs, std::same_as<no_bias>... Options>
inline constexpr weighted_stage<Name, dense_op<Outputs, Options...>> dense{};

}  // namespace nn
}  // namespace levada
