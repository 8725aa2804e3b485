// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/wrapping.hpp: arithmetic of integers that wraps around (two's complement), as vectors and ONNX have it.
// In C++ the overflow of a signed integer is undefined, and so is that of short unsigned ones, which become int.

#include <concepts>
#include <type_traits>

namespace levada::detail {

/// Whether the arithmetic of C++ on two `V`, with that result, may overflow: not that of floats and vectors.
template <class V, class Result>
concept overflows = std::integral<V> && std::signed_integral<Result>;

template <class V>
constexpr auto wrapping_sum(const V& a, const V& b) {
  using result = decltype(a + b);
  if constexpr (overflows<V, result>) {
    using wide = std::make_unsigned_t<result>;
    return static_cast<result>(static_cast<wide>(a) + static_cast<wide>(b));
  } else {
    return a + b;
  }
}
template <class V>
constexpr auto wrapping_difference(const V& a, const V& b) {
  using result = decltype(a - b);
  if constexpr (overflows<V, result>) {
    using wide = std::make_unsigned_t<result>;
    return static_cast<result>(static_cast<wide>(a) - static_cast<wide>(b));
  } else {
    return a - b;
  }
}
template <class V>
constexpr auto wrapping_product(const V& a, const V& b) {
  using result = decltype(a * b);
  if constexpr (overflows<V, result>) {
    using wide = std::make_unsigned_t<result>;
    return static_cast<result>(static_cast<wide>(a) * static_cast<wide>(b));
  } else {
    return a * b;
  }
}

}  // namespace levada::detail
