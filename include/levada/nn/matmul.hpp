// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/matmul.hpp: the matrix product (ONNX MatMul, NumPy's matmul).

#include <levada/nn/shape_rule.hpp>

namespace levada {

namespace detail {

/// The two shapes with a row in front of, or a column behind, what is one axis alone.
constexpr shape as_left_matrix(const shape& a) { return a.rank == 1 ? shape(1, a[0]) : a; }
constexpr shape as_right_matrix(const shape& b) { return b.rank == 1 ? shape(b[0], 1) : b; }

/// The axes in front of the last two.
constexpr shape batch_axes_of(const shape& s) {
  shape batch;
  for (; batch.rank + 2 < s.rank; ++batch.rank) batch.extents[batch.rank] = s[batch.rank];
  return batch;
}

template <class = void>
constexpr shape product(const shape& a, const shape& b) {
  if (a.rank == 0 || b.rank == 0) return no_shape;
  const shape left = as_left_matrix(a), right = as_right_matrix(b);
  if (left[left.rank - 1] != right[right.rank - 2]) return no_shape;
  shape out = broadcast(batch_axes_of(left), batch_axes_of(right));
  if (out.elements() == 0) return no_shape;
  if (a.rank > 1) out.extents[out.rank++] = left[left.rank - 2];
  if (b.rank > 1) out.extents[out.rank++] = right[right.rank - 1];
  return out;
}

/// Elements of products; shorter integers would not hold them.
template <class T>
concept multiplied = std::floating_point<T> || (std::integral<T> && sizeof(T) >= sizeof(std::int32_t));

template <class In>
inline constexpr shape matmul_result = no_shape;
template <any_tensor A, any_tensor B>
  requires multiplied<typename A::value_type> && std::same_as<typename A::value_type, typename B::value_type>
inline constexpr shape matmul_result<std::tuple<A, B>> = product(shape_of<A>, shape_of<B>);

/// A matrix product as numbers.
template <class A, class B>
struct matmul_shapes {
  static constexpr shape left = as_left_matrix(shape_of<A>), right = as_right_matrix(shape_of<B>);
  static constexpr shape batch = broadcast(batch_axes_of(left), batch_axes_of(right));
  static constexpr std::size_t rows = left[left.rank - 2], inner = left[left.rank - 1], columns = right[right.rank - 1];

  /// Which matrix of a tensor stands at place `index` of the batch.
  static constexpr std::size_t matrix_at(const shape& matrices, std::size_t index) {
    const shape own = batch_axes_of(matrices);
    std::size_t at = 0;
    for (std::size_t axis = batch.rank; axis-- > 0; index /= batch[axis])
      at += index % batch[axis] * broadcast_step(own, batch, axis);
    return at;
  }
};

}  // namespace detail

/// The product of a tuple of two tensors along the last axis of the first and the last but one of the second; the axes
/// in front of these are a batch and broadcast. Integers wrap around. A tensor of one axis is a row on the left, a
/// column on the right.
struct matmul_op : weightless_op {
  static constexpr std::string_view kind = "matmul";
  static constexpr op_kind fuses_as = op_kind::out_fusable;
  static constexpr std::string_view expects =
      "a tuple of two tensors of float, double, or integers of 32 or 64 bits, whose inner axes agree and whose batches "
      "broadcast";

  template <tensor_tuple In>
    requires(detail::matmul_result<In>.elements() > 0)
  using output = tensor_of_t<typename std::tuple_element_t<0, In>::value_type, detail::matmul_result<In>>;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>(output<In>::elements) *
                                  static_cast<double>(std::tuple_element_t<0, In>::extents.back());
};

namespace nn {

inline constexpr op_stage<"matmul", matmul_op> matmul{};

}  // namespace nn
}  // namespace levada
