// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/attention.hpp: scaled dot-product attention (the core of ONNX Attention; softmax(q k^T scale + mask) v).

#include <levada/nn/matmul.hpp>

namespace levada {

/// Of an `attention`: a query sees the keys up to its own place.
struct causal {};

namespace detail {

/// An attention as shapes: queries [..., T, D], keys [..., S, D], values [..., S, E], a mask that broadcasts to
/// [..., T, S].
struct attention_shapes {
  shape batch{}, scores{}, result = no_shape;
  std::size_t queries = 0, keys = 0, inner = 0, columns = 0;

  constexpr attention_shapes() = default;
  constexpr attention_shapes(const shape& q, const shape& k, const shape& v) {
    if (q.rank < 2 || k.rank < 2 || v.rank < 2) return;
    if (q[q.rank - 1] != k[k.rank - 1] || k[k.rank - 2] != v[v.rank - 2]) return;
    batch = broadcast(broadcast(batch_axes_of(q), batch_axes_of(k)), batch_axes_of(v));
    if (batch.elements() == 0 || batch.rank + 2 > shape::max_rank) return;
    queries = q[q.rank - 2], keys = k[k.rank - 2], inner = q[q.rank - 1], columns = v[v.rank - 1];
    result = scores = batch;
    for (const std::size_t extent : {queries, columns}) result.extents[result.rank++] = extent;
    for (const std::size_t extent : {queries, keys}) scores.extents[scores.rank++] = extent;
  }

  /// Which matrix of `matrices` stands at place `index` of the batch.
  constexpr std::size_t matrix_at(const shape& matrices, std::size_t index) const {
    const shape own = batch_axes_of(matrices);
    std::size_t at = 0;
    for (std::size_t axis = batch.rank; axis-- > 0; index /= batch[axis])
      at += index % batch[axis] * broadcast_step(own, batch, axis);
    return at;
  }
};

template <class In>
inline constexpr attention_shapes attention_of{};
template <floating_tensor Q, floating_tensor K, floating_tensor V>
  requires(std::same_as<typename Q::value_type, typename K::value_type> &&
           std::same_as<typename Q::value_type, typename V::value_type>)
inline constexpr attention_shapes attention_of<std::tuple<Q, K, V>>{shape_of<Q>, shape_of<K>, shape_of<V>};
template <class Q, class K, class V, floating_tensor Mask>
  requires(std::same_as<typename Q::value_type, typename Mask::value_type> && Mask::rank >= 2)
inline constexpr attention_shapes attention_of<std::tuple<Q, K, V, Mask>> = [] {
  constexpr attention_shapes plain = attention_of<std::tuple<Q, K, V>>;
  return plain.result.elements() > 0 && broadcast(shape_of<Mask>, plain.scores) == plain.scores ? plain
                                                                                                : attention_shapes();
}();

template <class In>
inline constexpr shape attention_result = attention_of<In>.result;

}  // namespace detail

/// (q [..., T, D], k [..., S, D], v [..., S, E]) or (q, k, v, mask) -> softmax(q k^T scale + mask) v [..., T, E]; the
/// axes in front of the last two broadcast, as does the mask to [..., T, S].
template <std::same_as<causal>... Options>
struct attention_op : weightless_op {
  static constexpr std::string_view kind = "attention";
  static constexpr std::string_view expects =
      "a tuple of queries T, D, keys S, D, values S, E and, if there is one, a mask T, S, float or double tensors";
  static constexpr bool is_causal = sizeof...(Options) > 0;

  double scale = 1;

  template <class In>
    requires(detail::attention_result<In>.elements() > 0)
  using output = tensor_of_t<typename std::tuple_element_t<0, In>::value_type, detail::attention_result<In>>;

  template <class In>
  static constexpr double flops =
      2.0 * static_cast<double>(detail::attention_of<In>.scores.elements() *
                                (detail::attention_of<In>.inner + detail::attention_of<In>.columns + 2));
};

namespace nn {

/// `nn::attention<>(1 / std::sqrt(64.0))`, `nn::attention<causal>(0.125)`.
template <std::same_as<causal>... Options>
constexpr auto attention(double scale) {
  return op_stage<"attention", attention_op<Options...>>{{{}, scale}, {}};
}

}  // namespace nn
}  // namespace levada
