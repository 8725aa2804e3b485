// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/conv2d.hpp: two-dimensional convolution (ONNX Conv).

#include <levada/graph/detail/op_rules.hpp>
#include <levada/nn/window.hpp>

namespace levada {

namespace detail {
/// A kernel may not transform the inputs of this convolution to multiply less: simd_direct computes it.
struct direct_sums {};
}  // namespace detail

template <class T>
concept conv2d_option =
    window_option<T> || detail::group_count<T> != 0 || std::same_as<T, no_bias> || std::same_as<T, detail::direct_sums>;

/// What convolutions read of their options.
template <std::size_t Filters, class... Options>
struct convolution_op {
  static constexpr op_kind fuses_as = op_kind::out_fusable;
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
  using options = type_list<Options...>;
  static constexpr std::size_t filters = Filters;
  static constexpr window2d window = detail::convolution_window<Options...>();
  static constexpr std::size_t groups =
      (detail::group_count<Options> + ... + 0) == 0 ? 1 : (detail::group_count<Options> + ... + 0);
  static constexpr bool has_bias = !(std::same_as<Options, no_bias> || ...);
  static constexpr bool may_be_transformed = !(std::same_as<Options, detail::direct_sums> || ...);

  static constexpr bool groups_divide(std::size_t channels) { return channels % groups == 0 && Filters % groups == 0; }
};

/// Cross-correlation of a tensor C, H, W with `Filters` filters: output[f, y, x] = bias[f] + sum over c, ky, kx of
/// weight[f, c, ky, kx] * padded[c, y * stride + ky * dilation, x * stride + kx * dilation].
///
/// Parameters: "weight" [Filters, C / groups, height, width], "bias" [Filters] unless `no_bias`. The options are
/// `size`, `stride`, `padding` (all sides; height, width; or top, left, bottom, right), `dilation`, `groups` and
/// `no_bias`.
template <std::size_t Filters, conv2d_option... Options>
  requires(Filters > 0)
struct conv2d_op : convolution_op<Filters, Options...> {
  static constexpr std::string_view kind = "conv2d";
  static constexpr std::string_view expects =
      "a float or double tensor of channels, height, width that, padded by padding<all>, <y, x> or "
      "<top, left, bottom, right>, holds the window, and whose channels the groups divide";
  using base = convolution_op<Filters, Options...>;

  template <chw_tensor In>
    requires(base::window.fits(In::extents[1], In::extents[2]) && base::groups_divide(In::extents[0]))
  using output = tensor<typename In::value_type, Filters, base::window.output_rows(In::extents[1]),
                        base::window.output_columns(In::extents[2])>;

  template <class In>
  static constexpr double flops =
      2.0 * static_cast<double>(output<In>::elements * (In::extents[0] / base::groups) * base::window.taps());

  template <class In>
  static constexpr auto parameters = weight_and_bias<base::has_bias>(
      element_of<typename In::value_type>,
      shape(Filters, In::extents[0] / base::groups, base::window.height, base::window.width), Filters);
};

namespace nn {

/// A convolution named `Name` whose parameters are "<Name>.weight" and "<Name>.bias" of `weights`, which must outlive
/// `deploy`: `nn::conv2d<"conv1", 8, size<5, 5>, padding<2>>(w)`.
template <fixed_string Name, std::size_t Filters, conv2d_option... Options>
inline constexpr weighted_stage<Name, conv2d_op<Filters, Options...>> conv2d{};

}  // namespace nn
}  // namespace levada
