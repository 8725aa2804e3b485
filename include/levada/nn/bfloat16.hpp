// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/bfloat16.hpp: conv2d and dense of bfloat16, summed in float. nn/quantize_bfloat16.hpp makes them of a pipeline of
// float.

#include <levada/graph/detail/op_rules.hpp>
#include <levada/nn/conv2d.hpp>
#include <levada/nn/dense.hpp>

namespace levada {

/// What these ops take, and give: bfloat16, or float where it is rounded on the way in, or not any more.
template <class T>
concept bfloat16_or_float = std::same_as<T, bfloat16> || std::same_as<T, float>;

namespace detail {
template <class T>
concept bfloat16_or_float_tensor = any_tensor<T> && bfloat16_or_float<typename T::value_type>;
}  // namespace detail

/// conv2d whose input and weights are rounded to bfloat16, nearest even, and whose products are summed in float on a
/// bias of float; the sum is rounded once where `To` is bfloat16. Parameters: those of conv2d, of float; weights are
/// rounded when they are deployed.
template <std::size_t Filters, bfloat16_or_float To, conv2d_option... Options>
  requires(Filters > 0)
struct bfloat16_conv2d_op : convolution_op<Filters, Options...> {
  static constexpr std::string_view kind = "bfloat16_conv2d";
  static constexpr std::string_view expects =
      "a bfloat16 or float tensor of channels, height, width that holds the window and whose channels the groups "
      "divide";
  using base = convolution_op<Filters, Options...>;
  using result_type = To;
  using in_float = conv2d_op<Filters, Options...>;

  bool relu = false;  ///< nothing below zero is given

  template <detail::bfloat16_or_float_tensor In>
    requires op_takes<in_float, with_element_t<float, In>>
  using output = with_element_t<To, typename in_float::template output<with_element_t<float, In>>>;

  template <class In>
  static constexpr double flops = in_float::template flops<with_element_t<float, In>>;
  template <class In>
  static constexpr auto parameters = in_float::template parameters<with_element_t<float, In>>;
};

/// dense of bfloat16, as `bfloat16_conv2d_op` computes.
template <std::size_t Outputs, bfloat16_or_float To, std::same_as<no_bias>... Options>
  requires(Outputs > 0)
struct bfloat16_dense_op {
  static constexpr std::string_view kind = "bfloat16_dense";
  static constexpr op_kind fuses_as = op_kind::out_fusable;
  static constexpr std::string_view expects =
      "a bfloat16 or float tensor of one axis (flatten comes before bfloat16_dense)";
  static constexpr std::size_t outputs = Outputs;
  static constexpr bool has_bias = sizeof...(Options) == 0;
  using result_type = To;
  using in_float = dense_op<Outputs, Options...>;

  bool relu = false;  ///< nothing below zero is given

  template <detail::bfloat16_or_float_tensor In>
    requires(In::rank == 1)
  using output = tensor<To, Outputs>;

  template <class In>
  static constexpr double flops = in_float::template flops<with_element_t<float, In>>;
  template <class In>
  static constexpr auto parameters = in_float::template parameters<with_element_t<float, In>>;
};

}  // namespace levada
