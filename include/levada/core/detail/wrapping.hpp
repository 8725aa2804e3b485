// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/wrapping.hpp: arithmetic of integers that wraps around (two's complement), as vectors and ONNX have it.
// In C++ the overflow of a signed integer is undefined, and so is that of short unsigned ones, which become int.

#include <concepts>
#include <limits>
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

/// Towards zero. By zero it is 0, and the smallest integer by -1 is itself.
template <class V>
constexpr auto wrapping_quotient(const V& a, const V& b) {
  using result = decltype(a / b);
  if constexpr (std::integral<V>) {
    if (b == V{}) return result{};
    if constexpr (std::signed_integral<V>)
      if (b == V{-1}) return static_cast<result>(wrapping_difference(V{}, a));
  }
  return a / b;
}

/// `x` to the power of `y` by squares, of values of any kind whose elements are `E` and that wrap around. A negative
/// power is the quotient of 1 by the positive one.
template <class E, class V>
constexpr V power_by_squares(const V& x, const V& y, const V& one) {
  V power = one, base = x;
  for (int bit = 0; bit < std::numeric_limits<E>::digits; ++bit, base = base * base)
    power = select((y & (E{1} << bit)) != 0, power * base, power);
  if constexpr (std::signed_integral<E>) {
    const V of_minus_one = select((y & 1) != 0, -one, one), none = one - one;
    power = select(y < 0, select(x == 1, one, select(x == -1, of_minus_one, none)), power);
  }
  return power;
}
template <std::integral V>
constexpr V wrapping_power(V x, V y) {
  if (std::signed_integral<V> && y < V{}) {
    if (x == V{1}) return x;
    return x == static_cast<V>(-1) ? (y % 2 == 0 ? V{1} : x) : V{};
  }
  V power{1};
  for (; y != V{}; y = static_cast<V>(y / 2), x = static_cast<V>(wrapping_product(x, x)))
    if (y % 2 != 0) power = static_cast<V>(wrapping_product(power, x));
  return power;
}

}  // namespace levada::detail
