// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/attention.hpp: attention query by query.

#include <algorithm>
#include <cmath>
#include <limits>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/attention.hpp>

namespace levada {

namespace detail {

/// A mask, or nothing.
template <class In>
struct attention_mask {
  template <class T>
  static T at(const auto&, std::size_t, std::size_t, std::size_t) {
    return 0;
  }
};
template <class Q, class K, class V, class Mask>
struct attention_mask<std::tuple<Q, K, V, Mask>> {
  static constexpr const attention_shapes& s = attention_of<std::tuple<Q, K, V>>;
  static constexpr bool has_rows = Mask::extents[Mask::rank - 2] != 1 || s.queries == 1;
  static constexpr bool has_columns = Mask::extents[Mask::rank - 1] != 1 || s.keys == 1;
  static constexpr std::size_t row_step = has_rows ? Mask::extents[Mask::rank - 1] : 0;
  static constexpr std::size_t matrix = Mask::extents[Mask::rank - 2] * Mask::extents[Mask::rank - 1];

  /// The first element of the mask of a row.
  static const typename Mask::value_type* row(const auto& in, std::size_t batch, std::size_t query) {
    return std::get<3>(in).data() + s.matrix_at(shape_of<Mask>, batch) * matrix + query * row_step;
  }
  template <class T>
  static T at(const auto& in, std::size_t batch, std::size_t query, std::size_t key) {
    return row(in, batch, query)[has_columns ? key : 0];
  }
};

}  // namespace detail

template <class Backend, class Q, class K, class V, class... Mask, class... Options>
  requires op_takes<attention_op<Options...>, std::tuple<Q, K, V, Mask...>>
struct definition<Backend, std::tuple<Q, K, V, Mask...>, attention_op<Options...>> {
  using op_type = attention_op<Options...>;
  using in_type = std::tuple<Q, K, V, Mask...>;
  using value = typename Q::value_type;
  static constexpr const detail::attention_shapes& s = detail::attention_of<in_type>;

  /// The scores of a query.
  static constexpr std::size_t scratch_bytes = s.keys * sizeof(value);

  definition(const op_type& op, parameter_values) : scale_(static_cast<value>(op.scale)) {}

  void operator()(const auto& in, typename op_type::template output<in_type>& out, std::byte* scratch) const {
    auto* const scores = reinterpret_cast<value*>(scratch);
    value* to = out.data();
    for (std::size_t batch = 0; batch < s.batch.elements(); ++batch) {
      const value* q = std::get<0>(in).data() + s.matrix_at(shape_of<Q>, batch) * s.queries * s.inner;
      const value* k = std::get<1>(in).data() + s.matrix_at(shape_of<K>, batch) * s.keys * s.inner;
      const value* v = std::get<2>(in).data() + s.matrix_at(shape_of<V>, batch) * s.keys * s.columns;
      for (std::size_t t = 0; t < s.queries; ++t, to += s.columns) {
        for (std::size_t key = 0; key < s.keys; ++key) {
          value sum = 0;
          for (std::size_t i = 0; i < s.inner; ++i) sum += q[t * s.inner + i] * k[key * s.inner + i];
          scores[key] = sum * scale_ + detail::attention_mask<in_type>::template at<value>(in, batch, t, key);
          if (op_type::is_causal && key > t) scores[key] = -std::numeric_limits<value>::infinity();
        }
        const value largest = *std::max_element(scores, scores + s.keys);
        value total = 0;
        for (std::size_t key = 0; key < s.keys; ++key) total += scores[key] = std::exp(scores[key] - largest);
        std::fill_n(to, s.columns, value{0});
        for (std::size_t key = 0; key < s.keys; ++key)
          for (std::size_t x = 0; x < s.columns; ++x) to[x] += scores[key] / total * v[key * s.columns + x];
      }
    }
  }

 private:
  value scale_;
};

}  // namespace levada
