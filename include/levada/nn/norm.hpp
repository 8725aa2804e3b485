// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/norm.hpp: elements scaled to a mean and a spread (ONNX BatchNormalization at inference, InstanceNormalization,
// LayerNormalization).

#include <levada/nn/shape_rule.hpp>

namespace levada {

/// output[c, ...] = (input[c, ...] - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + bias[c]. Parameters, all [C]:
/// "scale", "bias", "mean", "variance" (ONNX), or "weight", "bias", "running_mean", "running_var" (PyTorch). Behind a
/// conv2d `simd` folds it into the weights.
struct batch_norm_op {
  static constexpr std::string_view kind = "batch_norm";
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
  static constexpr op_kind fuses_as = op_kind::broadcast;
  static constexpr std::string_view expects = "a float or double tensor whose first axis is the channel";

  double epsilon = 1e-5;

  template <floating_tensor In>
    requires(In::rank >= 1)
  using output = In;
  static constexpr bool in_place = true;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>(In::elements);

  template <class In>
  static constexpr auto parameters =
      equal_parameters(element_of<typename In::value_type>, shape(In::extents[0]), parameter_name("scale", "weight"),
                       "bias", parameter_name("mean", "running_mean"), parameter_name("variance", "running_var"));
};

/// Each channel with its own mean and variance taken out, then scaled: parameters "scale" (or "weight") and "bias",
/// [C].
struct instance_norm_op {
  static constexpr std::string_view kind = "instance_norm";
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
  static constexpr std::string_view expects = "a float or double tensor of the channel and at least one axis more";

  double epsilon = 1e-5;

  template <floating_tensor In>
    requires(In::rank >= 2)
  using output = In;

  template <class In>
  static constexpr double flops = 5.0 * static_cast<double>(In::elements);

  template <class In>
  static constexpr auto parameters = equal_parameters(element_of<typename In::value_type>, shape(In::extents[0]),
                                                      parameter_name("scale", "weight"), "bias");

  /// Elements that are normalised together.
  template <class In>
  static constexpr std::size_t normalised_row = In::elements / In::extents[0];
};

/// The axes from `Axis` on normalised together: parameters "scale" (or "weight") and "bias" of the shape of these axes.
template <std::ptrdiff_t Axis = -1>
struct layer_norm_op {
  static constexpr std::string_view kind = "layer_norm";
  static constexpr std::string_view expects = "a float or double tensor that has the axis";

  double epsilon = 1e-5;

  template <floating_tensor In>
    requires(detail::axis_of(Axis, In::rank) < In::rank)
  using output = In;

  template <class In>
  static constexpr double flops = 5.0 * static_cast<double>(In::elements);

  template <class In>
  static constexpr auto parameters =
      equal_parameters(element_of<typename In::value_type>,
                       shape::of(std::span<const std::size_t>(In::extents).subspan(detail::axis_of(Axis, In::rank))),
                       parameter_name("scale", "weight"), "bias");

  /// Elements that are normalised together.
  template <class In>
  static constexpr std::size_t normalised_row = parameters<In>[0].extents.elements();
};

namespace nn {

/// A norm named `Name` whose parameters are "<Name>.scale" or "<Name>.weight", "<Name>.bias", ... of `weights`, which
/// must outlive `deploy`.
template <fixed_string Name, parameter_source Source>
constexpr auto batch_norm(const Source& weights, double epsilon = 1e-5) {
  return op_stage<Name, batch_norm_op>{{epsilon}, parameter_source_ref(weights)};
}
template <fixed_string Name, parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> batch_norm(const Source&&, double = 0);

template <fixed_string Name, parameter_source Source>
constexpr auto instance_norm(const Source& weights, double epsilon = 1e-5) {
  return op_stage<Name, instance_norm_op>{{epsilon}, parameter_source_ref(weights)};
}
template <fixed_string Name, parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> instance_norm(const Source&&, double = 0);

template <fixed_string Name, std::ptrdiff_t Axis = -1, parameter_source Source>
constexpr auto layer_norm(const Source& weights, double epsilon = 1e-5) {
  return op_stage<Name, layer_norm_op<Axis>>{{epsilon}, parameter_source_ref(weights)};
}
template <fixed_string Name, std::ptrdiff_t Axis = -1, parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> layer_norm(const Source&&, double = 0);

}  // namespace nn
}  // namespace levada
