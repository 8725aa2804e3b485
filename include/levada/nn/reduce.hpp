// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/reduce.hpp: some axes joined into one number each (ONNX ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceL1,
// ReduceL2, ReduceProd, ReduceSumSquare, ReduceLogSum, ReduceLogSumExp, and the global pools).

#include <cstddef>
#include <limits>
#include <string_view>

#include <levada/nn/shape_rule.hpp>

namespace levada {

enum class reduction : unsigned char { sum, mean, max, min, l2, prod, l1, sum_square, log_sum, log_sum_exp };

/// Reduced axes stay with extent 1, or go; `keep_chw` keeps them, too, and says what the axes of a picture are.
enum class reduced_axes : unsigned char { keep, drop, keep_chw };

namespace detail {

/// The axes that are reduced, as a mask; no axes named are all axes.
template <std::ptrdiff_t... Axes>
constexpr std::size_t axes_mask(std::size_t rank) {
  std::size_t mask = 0;
  ((mask |= std::size_t{1} << axis_of(Axes, rank)), ...);
  return sizeof...(Axes) == 0 ? (std::size_t{1} << rank) - 1 : mask;
}

template <class = void>
constexpr shape reduced(const shape& in, std::size_t mask, reduced_axes axes) {
  shape out;
  for (std::size_t axis = 0; axis < in.rank; ++axis)
    if ((mask >> axis & 1) == 0)
      out.extents[out.rank++] = in[axis];
    else if (axes != reduced_axes::drop)
      out.extents[out.rank++] = 1;
  return out;
}

template <class = void>
constexpr std::string_view kind_of_reduction(reduction how, reduced_axes kept) {
  constexpr std::string_view of_axes[] = {"reduce_sum",     "reduce_mean",       "reduce_max", "reduce_min",
                                          "reduce_l2",      "reduce_prod",       "reduce_l1",  "reduce_sum_square",
                                          "reduce_log_sum", "reduce_log_sum_exp"};
  constexpr std::string_view of_a_picture[] = {
      "global_sum_pool2d",     "global_avg_pool2d",        "global_max_pool2d", "global_min_pool2d",
      "global_l2_pool2d",      "global_prod_pool2d",       "global_l1_pool2d",  "global_sum_square_pool2d",
      "global_log_sum_pool2d", "global_log_sum_exp_pool2d"};
  return (kept == reduced_axes::keep_chw ? of_a_picture : of_axes)[static_cast<std::size_t>(how)];
}

/// Of integers, too.
constexpr bool reduces_integers(reduction how) {
  using enum reduction;
  return how == sum || how == max || how == min || how == prod || how == l1 || how == sum_square;
}
template <class In, reduction How>
concept reducible_tensor =
    floating_tensor<In> || (any_tensor<In> && reduces_integers(How) && std::integral<typename In::value_type> &&
                            !std::same_as<typename In::value_type, bool>);

template <reduced_axes>
struct reduced_layout {};
template <>
struct reduced_layout<reduced_axes::keep_chw> {
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
};

}  // namespace detail

/// The elements along `Axes` (counted from the back where negative; none named: all) joined. NaN among them makes the
/// result NaN.
template <reduction How, reduced_axes Kept, std::ptrdiff_t... Axes>
struct reduce_op : weightless_op, detail::reduced_layout<Kept> {
  static constexpr std::string_view kind = detail::kind_of_reduction(How, Kept);
  static constexpr op_kind fuses_as = op_kind::reduction;
  static constexpr std::string_view expects = detail::reduces_integers(How)
                                                  ? "a tensor of numbers that has the axes"
                                                  : "a float or double tensor that has the axes";

  /// Bit k: axis k is reduced.
  template <class In>
  static constexpr std::size_t mask = detail::axes_mask<Axes...>(In::rank);
  template <class In>
  static constexpr shape result = detail::reduced(shape_of<In>, mask<In>, Kept);

  template <detail::reducible_tensor<How> In>
    requires((detail::axis_of(Axes, In::rank) < In::rank) && ...)
  using output = tensor_of_t<typename In::value_type, result<In>>;

  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);
};

namespace nn {

template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce_sum", reduce_op<reduction::sum, reduced_axes::keep, Axes...>> reduce_sum{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce_mean", reduce_op<reduction::mean, reduced_axes::keep, Axes...>> reduce_mean{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce_max", reduce_op<reduction::max, reduced_axes::keep, Axes...>> reduce_max{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce_min", reduce_op<reduction::min, reduced_axes::keep, Axes...>> reduce_min{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce_l2", reduce_op<reduction::l2, reduced_axes::keep, Axes...>> reduce_l2{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce_prod", reduce_op<reduction::prod, reduced_axes::keep, Axes...>> reduce_prod{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce_l1", reduce_op<reduction::l1, reduced_axes::keep, Axes...>> reduce_l1{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce_sum_square", reduce_op<reduction::sum_square, reduced_axes::keep, Axes...>>
    reduce_sum_square{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce_log_sum", reduce_op<reduction::log_sum, reduced_axes::keep, Axes...>>
    reduce_log_sum{};
/// log of the sum of exp(x), which does not overflow.
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce_log_sum_exp", reduce_op<reduction::log_sum_exp, reduced_axes::keep, Axes...>>
    reduce_log_sum_exp{};
/// Any of them: `nn::reduce<reduction::mean, reduced_axes::drop, -1>`.
template <reduction How, reduced_axes Kept, std::ptrdiff_t... Axes>
inline constexpr op_stage<"reduce", reduce_op<How, Kept, Axes...>> reduce{};

/// One number a channel of C, H, W: C, 1, 1.
inline constexpr op_stage<"global_avg_pool2d", reduce_op<reduction::mean, reduced_axes::keep_chw, -2, -1>>
    global_avg_pool2d{};
inline constexpr op_stage<"global_max_pool2d", reduce_op<reduction::max, reduced_axes::keep_chw, -2, -1>>
    global_max_pool2d{};
inline constexpr op_stage<"global_l2_pool2d", reduce_op<reduction::l2, reduced_axes::keep_chw, -2, -1>>
    global_l2_pool2d{};

}  // namespace nn
}  // namespace levada
