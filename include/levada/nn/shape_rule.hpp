// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/shape_rule.hpp: shape rules as functions of plain values, and the tensor types that they give.

#include <tuple>
#include <utility>

#include <levada/graph/detail/op_rules.hpp>

namespace levada {

/// What a shape rule gives for an input that the op does not take.
inline constexpr shape no_shape{0};

namespace detail {

template <class T, const shape& Shape, class Axes>
struct tensor_of;
template <class T, const shape& Shape, std::size_t... Axis>
struct tensor_of<T, Shape, std::index_sequence<Axis...>> {
  using type = tensor<T, Shape.extents[Axis]...>;
};

template <class T>
inline constexpr bool is_tuple_of_tensors = false;
template <any_tensor... T>
inline constexpr bool is_tuple_of_tensors<std::tuple<T...>> = sizeof...(T) > 0;

/// The steps between neighbours along each axis of a dense tensor.
template <class = void>
constexpr shape strides_of(const shape& dense) {
  shape strides = dense;
  std::size_t step = 1;
  for (std::size_t axis = dense.rank; axis-- > 0; step *= dense[axis]) strides.extents[axis] = step;
  return strides;
}

/// An axis counted from the back where it is negative, as in ONNX; the rank itself where there is none.
constexpr std::size_t axis_of(std::ptrdiff_t axis, std::size_t rank) {
  const std::ptrdiff_t from_front = axis < 0 ? axis + static_cast<std::ptrdiff_t>(rank) : axis;
  return from_front < 0 || from_front >= static_cast<std::ptrdiff_t>(rank) ? rank
                                                                           : static_cast<std::size_t>(from_front);
}

/// Two shapes broadcast against each other: missing axes in front count as 1, an extent of 1 repeats (ONNX's
/// multidirectional broadcasting).
template <class = void>
constexpr shape broadcast(const shape& a, const shape& b) {
  shape result = a.rank >= b.rank ? a : b;
  for (std::size_t back = 1; back <= result.rank; ++back) {
    const std::size_t x = back <= a.rank ? a[a.rank - back] : 1, y = back <= b.rank ? b[b.rank - back] : 1;
    if (x != y && x != 1 && y != 1) return no_shape;
    result.extents[result.rank - back] = x == 1 ? y : x;
  }
  return result;
}

/// The step that one index further along axis `axis` of `out` means in `in`, which is broadcast to it.
constexpr std::size_t broadcast_step(const shape& in, const shape& out, std::size_t axis) {
  const std::size_t missing = out.rank - in.rank;
  return axis < missing || in[axis - missing] == 1 ? 0 : strides_of(in)[axis - missing];
}

}  // namespace detail

/// The tensor of elements `T` whose shape is the constant `Shape`.
template <tensor_element T, const shape& Shape>
using tensor_of_t = typename detail::tensor_of<T, Shape, std::make_index_sequence<Shape.rank>>::type;

/// Several tensors: the input of an op with several.
template <class T>
concept tensor_tuple = detail::is_tuple_of_tensors<std::remove_cv_t<T>>;

}  // namespace levada
