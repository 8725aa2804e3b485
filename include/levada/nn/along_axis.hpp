// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/along_axis.hpp: ops along any one axis: softmaxes, where the largest or smallest element is, running sums (ONNX
// Softmax, LogSoftmax, Hardmax, ArgMax, ArgMin, CumSum). Those along the last axis alone stand in nn/activation.hpp and
// nn/top_k.hpp.

#include <cstdint>

#include <levada/nn/reduce.hpp>
#include <levada/nn/shape_rule.hpp>

namespace levada {

namespace detail {

template <class In, std::ptrdiff_t Axis>
concept has_axis = any_tensor<In> && axis_of(Axis, In::rank) < In::rank;

/// A tensor as outer x length x inner elements around one axis.
template <class In, std::ptrdiff_t Axis>
struct around_axis {
  static constexpr std::size_t axis = axis_of(Axis, In::rank);
  static constexpr std::size_t length = In::extents[axis];
  static constexpr std::size_t inner = strides_of(shape_of<In>)[axis];
  static constexpr std::size_t outer = In::elements / length / inner;
};

template <class T>
concept numbers_tensor = any_tensor<T> && std::is_arithmetic_v<typename T::value_type>;

/// What ops of floating elements along `Axis` have in common that keep the shape.
template <std::ptrdiff_t Axis>
struct floating_along_axis : weightless_op {
  static constexpr std::string_view expects = "a float or double tensor that has the axis";

  template <floating_tensor In>
    requires has_axis<In, Axis>
  using output = In;
};

}  // namespace detail

enum class softmax_kind : unsigned char { soft, log, hard };

/// softmax, log_softmax, or 1 at the first of the largest elements and 0 elsewhere, along `Axis`.
template <softmax_kind How, std::ptrdiff_t Axis>
struct softmax_along_op : detail::floating_along_axis<Axis> {
  static constexpr std::string_view kind = How == softmax_kind::soft  ? "softmax_along"
                                           : How == softmax_kind::log ? "log_softmax_along"
                                                                      : "hardmax_along";

  template <class In>
  static constexpr double flops = 4.0 * static_cast<double>(In::elements);
};

enum class extreme : unsigned char { largest, smallest };
/// Which of equal elements is meant.
enum class among_equals : unsigned char { first, last };

/// The index of the largest or smallest element along `Axis`, which becomes 1 or goes. NaN is never it beside a number.
template <extreme Which, std::ptrdiff_t Axis, reduced_axes Kept, among_equals Equals>
struct index_of_op : weightless_op {
  static constexpr std::string_view kind = Which == extreme::largest ? "argmax_along" : "argmin_along";
  static constexpr op_kind fuses_as = op_kind::opaque;
  static constexpr std::string_view expects = "a tensor of numbers that has the axis";

  template <class In>
  static constexpr shape result =
      detail::reduced(shape_of<In>, std::size_t{1} << detail::axis_of(Axis, In::rank), Kept);

  template <detail::numbers_tensor In>
    requires detail::has_axis<In, Axis>
  using output = tensor_of_t<std::int64_t, result<In>>;

  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);
};

/// Sums of the elements up to each one along `Axis`, or of those behind it where `Reverse`, without itself where
/// `Exclusive`.
template <std::ptrdiff_t Axis, bool Exclusive, bool Reverse>
struct cum_sum_op : weightless_op {
  static constexpr std::string_view kind = "cum_sum";
  static constexpr std::string_view expects = "a tensor of numbers that has the axis";

  template <detail::numbers_tensor In>
    requires detail::has_axis<In, Axis>
  using output = In;

  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);
};

namespace nn {

template <std::ptrdiff_t Axis>
inline constexpr op_stage<"softmax_along", softmax_along_op<softmax_kind::soft, Axis>> softmax_along{};
template <std::ptrdiff_t Axis>
inline constexpr op_stage<"log_softmax_along", softmax_along_op<softmax_kind::log, Axis>> log_softmax_along{};
template <std::ptrdiff_t Axis>
inline constexpr op_stage<"hardmax_along", softmax_along_op<softmax_kind::hard, Axis>> hardmax_along{};

template <std::ptrdiff_t Axis, reduced_axes Kept = reduced_axes::keep, among_equals Equals = among_equals::first>
inline constexpr op_stage<"argmax_along", index_of_op<extreme::largest, Axis, Kept, Equals>> argmax_along{};
template <std::ptrdiff_t Axis, reduced_axes Kept = reduced_axes::keep, among_equals Equals = among_equals::first>
inline constexpr op_stage<"argmin_along", index_of_op<extreme::smallest, Axis, Kept, Equals>> argmin_along{};

template <std::ptrdiff_t Axis, bool Exclusive = false, bool Reverse = false>
inline constexpr op_stage<"cum_sum", cum_sum_op<Axis, Exclusive, Reverse>> cum_sum{};

}  // namespace nn
}  // namespace levada
