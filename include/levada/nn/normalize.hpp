// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/normalize.hpp: more norms (ONNX LayerNormalization without weights, GroupNormalization, RMSNormalization,
// LpNormalization, LRN, MeanVarianceNormalization).

#include <levada/nn/along_axis.hpp>
#include <levada/nn/norm.hpp>

namespace levada {

namespace detail {

/// What the norms of the axes from `Axis` on have in common.
template <std::ptrdiff_t Axis>
struct norm_from_axis {
  static constexpr std::string_view expects = layer_norm_op<Axis>::expects;

  double epsilon = 1e-5;

  template <class In>
    requires op_takes<layer_norm_op<Axis>, In>
  using output = In;
};

}  // namespace detail

/// The axes from `Axis` on normalised together, and nothing more.
template <std::ptrdiff_t Axis>
struct plain_layer_norm_op : weightless_op, detail::norm_from_axis<Axis> {
  static constexpr std::string_view kind = "layer_normalize";

  template <class In>
  static constexpr double flops = 5.0 * static_cast<double>(In::elements);
};

/// The channels in `Groups` groups, each normalised together; then each channel scaled: parameters "scale" (or
/// "weight") and "bias", [C].
template <std::size_t Groups>
  requires(Groups > 0)
struct group_norm_op {
  static constexpr std::string_view kind = "group_norm";
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
  static constexpr std::string_view expects =
      "a float or double tensor of the channel, a multiple of the groups, and at least one axis more";

  double epsilon = 1e-5;

  template <floating_tensor In>
    requires(In::rank >= 2 && In::extents[0] % Groups == 0)
  using output = In;

  template <class In>
  static constexpr double flops = 5.0 * static_cast<double>(In::elements);

  template <class In>
  static constexpr auto parameters = instance_norm_op::parameters<In>;
};

/// The axes from `Axis` on divided by the root of the mean of their squares, then scaled: parameter "scale" (or
/// "weight") of the shape of these axes.
template <std::ptrdiff_t Axis>
struct rms_norm_op : detail::norm_from_axis<Axis> {
  static constexpr std::string_view kind = "rms_norm";

  template <class In>
  static constexpr double flops = 4.0 * static_cast<double>(In::elements);

  template <class In>
  static constexpr std::array<parameter_info, 1> parameters{layer_norm_op<Axis>::template parameters<In>[0]};
};

/// Divided by the sum of absolute values (`P` = 1) or the root of the sum of squares (2) along `Axis`; 0 where that is
/// 0.
template <std::ptrdiff_t Axis, unsigned P>
  requires(P == 1 || P == 2)
struct lp_norm_op : detail::floating_along_axis<Axis> {
  static constexpr std::string_view kind = "lp_norm";

  template <class In>
  static constexpr double flops = 3.0 * static_cast<double>(In::elements);
};

/// The mean and the deviation along `Axes` taken out.
template <std::ptrdiff_t... Axes>
struct mean_variance_norm_op : weightless_op {
  static constexpr std::string_view kind = "mean_variance_norm";
  static constexpr std::string_view expects = "a float or double tensor that has the axes";

  template <floating_tensor In>
    requires((detail::axis_of(Axes, In::rank) < In::rank) && ...)
  using output = In;

  template <class In>
  static constexpr double flops = 5.0 * static_cast<double>(In::elements);
};

/// Each element divided by (bias + alpha / Size * the squares of the `Size` channels around it)^beta.
template <std::size_t Size>
  requires(Size > 0)
struct lrn_op : weightless_op {
  static constexpr std::string_view kind = "lrn";
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
  static constexpr std::string_view expects = "a float or double tensor whose first axis is the channel";

  double alpha = 1e-4, beta = 0.75, bias = 1;

  template <floating_tensor In>
    requires(In::rank >= 1)
  using output = In;

  template <class In>
  static constexpr double flops = static_cast<double>((2 * Size + 3) * In::elements);
};

namespace nn {

template <std::ptrdiff_t Axis = -1>
constexpr auto layer_normalize(double epsilon = 1e-5) {
  return op_stage<"layer_normalize", plain_layer_norm_op<Axis>>{{{}, {epsilon}}, {}};
}
template <std::ptrdiff_t Axis = -1, unsigned P = 2>
inline constexpr op_stage<"lp_norm", lp_norm_op<Axis, P>> lp_norm{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"mean_variance_norm", mean_variance_norm_op<Axes...>> mean_variance_norm{};
template <std::size_t Size>
constexpr auto lrn(double alpha = 1e-4, double beta = 0.75, double bias = 1) {
  return op_stage<"lrn", lrn_op<Size>>{{{}, alpha, beta, bias}, {}};
}

/// Norms named `Name` whose parameters are "<Name>.scale" or "<Name>.weight", and "<Name>.bias", of `weights`, which
/// must outlive `deploy`.
template <fixed_string Name, std::size_t Groups, parameter_source Source>
constexpr auto group_norm(const Source& weights, double epsilon = 1e-5) {
  return op_stage<Name, group_norm_op<Groups>>{{epsilon}, parameter_source_ref(weights)};
}
template <fixed_string Name, std::size_t Groups, parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> group_norm(const Source&&, double = 0);

template <fixed_string Name, std::ptrdiff_t Axis = -1, parameter_source Source>
constexpr auto rms_norm(const Source& weights, double epsilon = 1e-5) {
  return op_stage<Name, rms_norm_op<Axis>>{{{epsilon}}, parameter_source_ref(weights)};
}
template <fixed_string Name, std::ptrdiff_t Axis = -1, parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> rms_norm(const Source&&, double = 0);

}  // namespace nn
}  // namespace levada
