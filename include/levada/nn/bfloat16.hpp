// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/bfloat16.hpp: conv2d and dense of bfloat16, summed in float, and other ops of float between them.
// nn/quantize_bfloat16.hpp makes them of a pipeline of float.

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include <levada/graph/detail/op_rules.hpp>
#include <levada/nn/conv2d.hpp>
#include <levada/nn/dense.hpp>

namespace levada {

/// What these ops take, and give: bfloat16, or float where it is rounded on the way in, or not any more.
template <class T>
concept bfloat16_or_float = std::same_as<T, bfloat16> || std::same_as<T, float>;

/// What an op gives lies between these, as behind a relu or a clip; NaN stays NaN.
struct result_range {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();

  constexpr float operator()(float x) const {
    const float raised = x < low ? low : x;
    return high < raised ? high : raised;
  }
  /// What lies in this one and then in `next`.
  constexpr result_range then(const result_range& next) const { return {next(low), next(high)}; }
};
/// Behind a relu.
inline constexpr result_range not_below_zero{0};

namespace detail {

template <class T>
concept bfloat16_or_float_tensor = any_tensor<T> && bfloat16_or_float<typename T::value_type>;

/// A tensor, or several, of bfloat16, and the same of float.
template <class In>
struct in_floats {};
template <any_tensor In>
  requires std::same_as<typename In::value_type, bfloat16>
struct in_floats<In> : type_tag<with_element_t<float, In>> {};
template <any_tensor... In>
  requires(sizeof...(In) > 0 && (std::same_as<typename In::value_type, bfloat16> && ...))
struct in_floats<std::tuple<In...>> : type_tag<std::tuple<with_element_t<float, In>...>> {};
template <class In>
using in_floats_t = typename in_floats<In>::type;

/// The order of axes that an op has, where it has one.
template <class Op>
struct axes_of_op {};
template <class Op>
  requires requires { Op::takes_axes, Op::gives_axes; }
struct axes_of_op<Op> {
  static constexpr layout takes_axes = Op::takes_axes, gives_axes = Op::gives_axes;
};

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

  result_range range{};

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

  result_range range{};

  template <detail::bfloat16_or_float_tensor In>
    requires(In::rank == 1)
  using output = tensor<To, Outputs>;

  template <class In>
  static constexpr double flops = in_float::template flops<with_element_t<float, In>>;
  template <class In>
  static constexpr auto parameters = in_float::template parameters<with_element_t<float, In>>;
};

/// `Op` of float for tensors of bfloat16: computed in float, and rounded once.
template <class Op>
struct in_bfloat16_op : weightless_op, detail::axes_of_op<Op> {
 private:
  static constexpr auto name = [] {
    constexpr std::string_view head = "bfloat16_";
    std::array<char, head.size() + Op::kind.size()> text{};
    std::copy(Op::kind.begin(), Op::kind.end(), std::copy(head.begin(), head.end(), text.begin()));
    return text;
  }();

 public:
  static constexpr std::string_view kind{name.data(), name.size()};
  static constexpr op_kind fuses_as = Op::fuses_as;
  static constexpr std::string_view expects = "tensors of bfloat16 that its op takes as tensors of float";
  static constexpr bool in_place = requires { requires Op::in_place; };

  Op in_float{};
  result_range range{};

  template <class In>
    requires op_takes<Op, detail::in_floats_t<In>>
  using output = with_element_t<bfloat16, typename Op::template output<detail::in_floats_t<In>>>;

  template <class In>
  static constexpr double flops = Op::template flops<detail::in_floats_t<In>>;
};

}  // namespace levada
