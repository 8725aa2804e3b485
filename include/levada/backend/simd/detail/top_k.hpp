// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/top_k.hpp: argmax and top_k; vectors find out that most elements do not matter.

#include <limits>

#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/selected.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/nn/top_k.hpp>

namespace levada {

namespace detail {

/// Elements that xsimd has vectors of.
template <class T>
concept vector_element = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

}  // namespace detail

template <class Arch, class In>
  requires op_takes<argmax_op, In> && detail::vector_element<typename In::value_type>
struct simd_kernel<Arch, In, argmax_op> : detail::plain_simd_kernel<Arch, argmax_op> {
  using detail::plain_simd_kernel<Arch, argmax_op>::plain_simd_kernel;
  using value = typename In::value_type;

  void operator()(const In& in, argmax_op::output<In>& out, std::byte*) const {
    for (std::size_t row = 0; row < out.elements; ++row)
      out[row] = static_cast<std::int64_t>(first_largest(in.data() + row * length));
  }

 private:
  static constexpr std::size_t length = In::extents[In::rank - 1];
  static constexpr std::size_t step = detail::lanes_in<value, Arch>;

  static std::size_t first_largest(const value* values) {
    using namespace detail;
    std::size_t best = 0, i = 0;
    if constexpr (length >= 2 * step) {
      using limits = std::numeric_limits<value>;
      constexpr value lowest = limits::has_infinity ? -limits::infinity() : limits::lowest();
      vector<value, Arch> most(lowest);
      for (; i + step <= length; i += step) {
        const auto x = load<value, Arch>(values + i);
        most = selected<value, Arch>(x > most, x, most);
      }
      const value largest = largest_of(most);
      // Nothing found: all NaN so far, and then the first is as good as any.
      for (std::size_t k = 0; k < i; k += step) {
        if (!xsimd::any(load<value, Arch>(values + k) == vector<value, Arch>(largest))) continue;
        for (best = k; values[best] != largest;) ++best;
        break;
      }
    }
    for (; i < length; ++i)
      if (is_larger(values[i], values[best])) best = i;
    return best;
  }
};

template <class Arch, class In, std::size_t K>
  requires op_takes<top_k_op<K>, In> && detail::vector_element<typename In::value_type>
struct simd_kernel<Arch, In, top_k_op<K>> : detail::plain_simd_kernel<Arch, top_k_op<K>> {
  using detail::plain_simd_kernel<Arch, top_k_op<K>>::plain_simd_kernel;
  using value = typename In::value_type;

  void operator()(const In& in, typename top_k_op<K>::template output<In>& out, std::byte*) const {
    constexpr std::size_t length = In::extents[In::rank - 1], step = detail::lanes_in<value, Arch>;
    auto& [values, indices] = out;
    for (std::size_t row = 0; row < In::elements / length; ++row) {
      const value* x = in.data() + row * length;
      value* best = values.data() + row * K;
      std::int64_t* where = indices.data() + row * K;
      std::size_t i = 0;
      for (; i < K; ++i) insert(best, where, i, x[i], i);
      while (i < length) {
        // A whole vector without anything larger than the last of the best is passed over.
        if (best[K - 1] == best[K - 1])
          while (i + step <= length &&
                 !xsimd::any(detail::load<value, Arch>(x + i) > detail::vector<value, Arch>(best[K - 1])))
            i += step;
        for (std::size_t end = i + step < length ? i + step : length; i < end; ++i)
          if (is_larger(x[i], best[K - 1])) insert(best, where, K - 1, x[i], i);
      }
    }
  }

 private:
  /// Puts `x` into the descending list that ends at `place`, which is free.
  static void insert(value* best, std::int64_t* where, std::size_t place, value x, std::size_t index) {
    for (; place > 0 && is_larger(x, best[place - 1]); --place)
      best[place] = best[place - 1], where[place] = where[place - 1];
    best[place] = x, where[place] = static_cast<std::int64_t>(index);
  }
};

}  // namespace levada
