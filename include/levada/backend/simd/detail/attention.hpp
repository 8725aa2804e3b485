// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/attention.hpp: attention in one pass: the scores of some queries at a time stay in the cache
// between their two products; keys, and values of several panels, are packed once for all queries.

#include <algorithm>
#include <limits>

#include <levada/backend/detail/define/attention.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/packed_product.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/graph/detail/tile_range.hpp>

namespace levada {

template <class Arch, class Q, class K, class V, class... Mask, class... Options>
  requires op_takes<attention_op<Options...>, std::tuple<Q, K, V, Mask...>> &&
           std::same_as<typename Q::value_type, float>
struct simd_kernel<Arch, std::tuple<Q, K, V, Mask...>, attention_op<Options...>> {
  using op_type = attention_op<Options...>;
  using in_type = std::tuple<Q, K, V, Mask...>;

 private:
  static constexpr const detail::attention_shapes& s = detail::attention_of<in_type>;
  static constexpr std::size_t block = std::min<std::size_t>(s.queries, 32), rest = s.queries % block;
  template <std::size_t Rows>
  using scores_product = detail::packed_product<Arch, float, Rows, s.inner, s.keys>;
  template <std::size_t Rows>
  using values_product = detail::packed_product<Arch, float, Rows, s.keys, s.columns>;
  using vec = detail::vector<float, Arch>;

  // One row alone would have panels of another width than the others of its block.
  static constexpr std::size_t several = std::max<std::size_t>(block, 2);
  static constexpr std::size_t packed_keys = scores_product<several>::packed_elements;
  static constexpr bool values_are_packed = values_product<several>::rows_are_packed;
  static constexpr std::size_t packed_values = values_are_packed ? 0 : values_product<several>::packed_elements;

 public:
  static constexpr std::size_t scratch_bytes =
      (packed_keys + packed_values + several * s.keys + several) * sizeof(float);

  simd_kernel(const op_type& op, parameter_values) : scale_(static_cast<float>(op.scale)) {}

  /// A tile: all queries of a matrix.
  static constexpr std::size_t tiles = s.batch.elements();

  void operator()(const auto& in, typename op_type::template output<in_type>& out, std::byte* scratch) const {
    of_tiles(in, out, scratch, {0, tiles});
  }
  void of_tiles(const auto& in, typename op_type::template output<in_type>& out, std::byte* scratch,
                detail::tile_range some) const {
    auto* const keys = reinterpret_cast<float*>(scratch);
    float *const packed = keys + packed_keys, *const scores = packed + packed_values;
    for (std::size_t batch = some.begin; batch < some.end; ++batch) {
      const float* q = std::get<0>(in).data() + s.matrix_at(shape_of<Q>, batch) * s.queries * s.inner;
      const float* k = std::get<1>(in).data() + s.matrix_at(shape_of<K>, batch) * s.keys * s.inner;
      const float* v = std::get<2>(in).data() + s.matrix_at(shape_of<V>, batch) * s.keys * s.columns;
      scores_product<several>::pack_columns(keys, k);
      if constexpr (!values_are_packed) values_product<several>::pack_rows(packed, v);
      const float* const values = values_are_packed ? v : packed;
      float* const to = out.data() + batch * s.queries * s.columns;
      std::size_t t = 0;
      for (; t + block <= s.queries; t += block) queries<block>(in, q, keys, values, scores, to, batch, t);
      if constexpr (rest != 0) queries<rest>(in, q, keys, values, scores, to, batch, t);
    }
  }

 private:
  template <std::size_t Rows>
  void queries(const auto& in, const float* q, const float* keys, const float* values, float* scores, float* to,
               std::size_t batch, std::size_t first) const {
    using namespace detail;
    float* const shares = scores + several * s.keys;
    const auto seen = keys_seen_by<Rows>(first);
    scores_product<several>::template multiply<Rows>(
        keys, q + first * s.inner, scores, begin_with_zero<Arch, float>(),
        [&](const vec& sum, std::size_t row, std::size_t key, auto count)
            LEVADA_INLINE { return masked(in, sum * vec(scale_), batch, first + row, key, count); },
        all_of<s.inner>(), seen);
    for (std::size_t row = 0; row < Rows; ++row)
      shares[row] = exponentials(scores + row * s.keys, first + row, std::size_t{seen});
    values_product<several>::template multiply<Rows>(
        values, scores, to + first * s.columns, begin_with_zero<Arch, float>(),
        [&](const vec& sum, std::size_t row, std::size_t, auto) LEVADA_INLINE { return sum / vec(shares[row]); }, seen);
  }

  /// The keys that some of these queries sees: the first so many.
  template <std::size_t Rows>
  static auto keys_seen_by(std::size_t first) {
    if constexpr (op_type::is_causal)
      return std::min(first + Rows, s.keys);
    else
      return detail::all_of<s.keys>();
  }

  template <class Count>
  LEVADA_INLINE static vec masked(const auto& in, const vec& score, std::size_t batch, std::size_t query,
                                  std::size_t key, Count) {
    if constexpr (sizeof...(Mask) == 0) {
      return score;
    } else {
      using mask = detail::attention_mask<in_type>;
      const float* const row = mask::row(in, batch, query);
      if constexpr (mask::has_columns)
        return score + detail::load_part<Count::value, float, Arch>(row + key);
      else
        return score + vec(*row);
    }
  }

  /// exp(score - the largest) of a query in their places, and their sum. Of the keys behind `seen` nothing is read.
  LEVADA_INLINE static float exponentials(float* scores, std::size_t query, std::size_t seen) {
    using namespace detail;
    constexpr std::size_t lanes = vec::size, last = s.keys / lanes * lanes;
    const std::size_t whole = std::min(ceil_div(seen, lanes) * lanes, last), end = seen > last ? s.keys : whole;
    if constexpr (op_type::is_causal)
      for (std::size_t key = query + 1; key < end; ++key) scores[key] = -std::numeric_limits<float>::infinity();
    float largest = scores[0];
    if (whole != 0) {
      vec most = load<float, Arch>(scores);
      for (std::size_t i = lanes; i < whole; i += lanes) most = xsimd::max(most, load<float, Arch>(scores + i));
      largest = largest_of(most);
    }
    for (std::size_t i = last; i < end; ++i) largest = scores[i] > largest ? scores[i] : largest;
    vec sums(0.0f);
    float sum = 0;
    for (std::size_t i = 0; i < whole; i += lanes) {
      const vec e = xsimd::exp(load<float, Arch>(scores + i) - vec(largest));
      sums = sums + e;
      e.store_unaligned(scores + i);
    }
    if constexpr (last != s.keys)
      if (end != whole) {
        constexpr std::size_t n = s.keys - last;
        store_part<n>(scores + last, xsimd::exp(load_part<n, float, Arch>(scores + last) - vec(largest)));
        for (std::size_t i = last; i < s.keys; ++i) sum += scores[i];
      }
    return sum + sum_of(sums);
  }

  float scale_;
};

}  // namespace levada
