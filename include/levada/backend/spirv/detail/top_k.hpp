// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/top_k.hpp: where the largest elements of each row are. Indices are int64: a word, and one of
// zeros.

#include <levada/backend/spirv/detail/elements.hpp>
#include <levada/backend/spirv/detail/rows.hpp>
#include <levada/nn/top_k.hpp>

namespace levada {

namespace detail {

/// `a` stands before `b` in descending order; NaN behind all numbers.
template <class V>
constexpr auto comes_first(const V& a, const V& b) {
  if constexpr (std::same_as<typename V::element, float>)
    return a > b || (is_nan(b) && !is_nan(a));
  else
    return a > b;
}
/// Of two pairs of an element and its index the one that stands before the other.
template <class Pair>
constexpr Pair first_of(const Pair& a, const Pair& b) {
  const auto equal = !comes_first(a.first, b.first) && !comes_first(b.first, a.first);
  const auto second = comes_first(b.first, a.first) || (equal && b.second < a.second);
  return {select(second, b.first, a.first), select(second, b.second, a.second)};
}

template <class Team>
struct argmax_source {
  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    const auto row = Team::row(g);
    const auto largest = Team::fold(
        g, std::pair{in(row, 0), g.value(0)},
        [&](auto i, auto s) {
          return first_of(s, decltype(s){in(row, i), i});
        },
        [](auto s, auto t) { return first_of(s, t); });
    Team::once(g, [&] {
      out(row, 0) = largest.second;
      out(row, 1) = 0;
    });
  }
};

/// `K` times over the row for the first of those behind the one before.
template <int Length, int K>
struct top_k_source {
  uniform<std::int32_t> values_lead, indices_lead;

  template <class G, class In, class Values, class Indices>
  constexpr void operator()(const G& g, const In& in, const Values& values, const Indices& indices) const {
    const auto row = g.x();
    const auto last_value = g.var(in(row, 0));
    const auto last_index = g.var(0);
    g.loop(0, K, [&](auto k) {
      const auto value = last_value.get();
      const auto index = last_index.get();
      const auto found = g.fold(0, Length, std::tuple{value, index, g.literal(0)}, [&](auto i, auto s) {
        const auto& [best, place, any] = s;
        const auto x = in(row, i);
        const auto behind = comes_first(value, x) || (!comes_first(x, value) && i > index) || k == 0;
        const auto better = behind && (any == 0 || comes_first(x, best));
        return std::tuple{select(better, x, best), select(better, i, place), select(better, 1, any)};
      });
      const auto at = row * K + k;
      values(at + values_lead) = std::get<0>(found);
      indices(at * 2 + indices_lead) = std::get<1>(found);
      indices(at * 2 + 1 + indices_lead) = 0;
      last_value = std::get<0>(found);
      last_index = std::get<1>(found);
    });
  }
};

template <class In>
concept ranked_tensor = any_tensor<In> && device_element<typename In::value_type>;

}  // namespace detail

template <class In>
  requires op_takes<argmax_op, In> && detail::ranked_tensor<In>
struct spirv_kernel<In, argmax_op> : dispatch_kernel {
  spirv_kernel(const argmax_op&, parameter_values) {
    constexpr std::size_t length = In::extents[In::rank - 1], rows = In::elements / length;
    using team = detail::row_team<rows, length>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(argmax_op::output<In>);
    add_grid<"argmax", tensor<detail::stored_element<typename In::value_type>, rows, length>,
             tensor<std::int32_t, rows, 2>, typename team::over>(*this, detail::argmax_source<team>{});
  }
};

template <class In, std::size_t K>
  requires op_takes<top_k_op<K>, In> && detail::ranked_tensor<In>
struct spirv_kernel<In, top_k_op<K>> : dispatch_kernel {
  spirv_kernel(const top_k_op<K>&, parameter_values) {
    constexpr std::size_t length = In::extents[In::rank - 1], rows = In::elements / length;
    using out_type = typename top_k_op<K>::template output<In>;
    using values = detail::led_row_of<std::tuple_element_t<0, out_type>>;
    using indices = detail::led_row_of<tensor<std::int32_t, rows * K * 2>>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    const auto places = detail::tensors_in<out_type>::places();
    add_bound_grid<"top_k", std::tuple<tensor<detail::stored_element<typename In::value_type>, rows, length>>,
                   std::tuple<values, indices>, grid<rows>>(
        *this,
        detail::top_k_source<static_cast<int>(length), static_cast<int>(K)>{places[0].lead, {places[1].lead.value * 2}},
        {bound_tensor{}, places[0].as(buffer_role::output), places[1].as(buffer_role::output)});
  }
};

}  // namespace levada
