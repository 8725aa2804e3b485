// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/lanes.hpp: what an element-wise lambda is called with, one value or a vector of them, and the arithmetic on it.
// The functions stand beside the type, so that a lambda finds them without a `using` (`to_float(px) / 255.0f`).

#include <cmath>
#include <concepts>
#include <type_traits>

#include <levada/core/detail/type_list.hpp>
#include <levada/core/detail/wrapping.hpp>
#include <levada/kernel/detail/uniform.hpp>

namespace levada {

/// How to compute with a value type `V`; backends add their vectors. `element` is the type of one lane.
template <class V>
struct lane_traits {
  using element = V;

  template <class U>
  static constexpr U convert(V v) {
    return static_cast<U>(v);
  }
  static constexpr V select(bool condition, V a, V b) { return condition ? a : b; }
  static constexpr auto product(V a, V b) { return detail::wrapping_product(a, b); }
};

/// One number (V is arithmetic) or several side by side (V is a SIMD vector). Has the arithmetic and comparisons of
/// C++, lane by lane; integers wrap around, also the smallest by -1, and by zero they give 0. A literal beside it takes
/// the type of the lanes, and a floating literal turns integer lanes into float.
template <class V>
struct lanes {
  using value_type = V;
  using element = typename lane_traits<V>::element;

  V value;

  constexpr lanes() = default;
  constexpr lanes(V v) : value(v) {}
};

namespace detail {

template <class T>
inline constexpr bool is_lanes = is_instance_of<T, lanes>;

template <class T>
struct number_type {};
template <class T>
  requires std::is_arithmetic_v<T>
struct number_type<T> {
  using type = T;
};
template <class T>
struct number_type<uniform<T>> {
  using type = T;
};

/// A literal, or a captured uniform.
template <class T>
concept number = requires { typename number_type<T>::type; };

template <class T>
constexpr T number_of(T literal) {
  return literal;
}
template <class T>
constexpr T number_of(const uniform<T>& captured) {
  return captured.value;
}

/// The lanes that an operand becomes beside a literal of type S.
template <class S, class V>
constexpr auto promoted_for(const lanes<V>& a) {
  if constexpr (std::is_floating_point_v<typename number_type<S>::type> &&
                !std::is_floating_point_v<typename lanes<V>::element>) {
    auto converted = lane_traits<V>::template convert<float>(a.value);
    return lanes<decltype(converted)>(converted);
  } else {
    return a;
  }
}

/// The literal in all lanes of `like`.
template <class V, class S>
constexpr lanes<V> in_all(const lanes<V>&, S s) {
  return lanes<V>(V(static_cast<typename lanes<V>::element>(number_of(s))));
}

/// Towards zero; of integers by zero 0, and the smallest by -1 itself.
template <class V>
constexpr auto quotient(const V& a, const V& b) {
  using traits = lane_traits<V>;
  using element = typename traits::element;
  if constexpr (std::is_arithmetic_v<V>) {
    return wrapping_quotient(a, b);
  } else if constexpr (std::is_integral_v<element>) {
    const V zero(element{0}), one(element{1});
    const auto by_zero = b == zero;
    if constexpr (std::is_signed_v<element>) {
      const auto by_minus_one = b == V(element{-1});
      const V any = traits::select(by_minus_one, zero - a, a / traits::select(by_zero | by_minus_one, one, b));
      return V(traits::select(by_zero, zero, any));
    } else {
      return V(traits::select(by_zero, zero, a / traits::select(by_zero, one, b)));
    }
  } else {
    return a / b;
  }
}
/// What `quotient` leaves; by zero `a` itself.
template <class V>
constexpr V remainder(const V& a, const V& b) {
  if constexpr (!std::is_arithmetic_v<V>) {
    return a - lane_traits<V>::product(quotient(a, b), b);
  } else if (b == V{}) {
    return a;
  } else {
    return std::is_signed_v<V> && b == static_cast<V>(-1) ? V{} : static_cast<V>(a % b);
  }
}

constexpr bool negated(bool b) { return !b; }
template <class M>
M negated(const M& m) {
  return ~m;
}

}  // namespace detail

#define LEVADA_LANES_OPERATOR(op, result)                            \
  template <class V>                                                 \
  constexpr auto operator op(const lanes<V>& a, const lanes<V>& b) { \
    auto r = result;                                                 \
    return lanes<decltype(r)>(r);                                    \
  }                                                                  \
  template <class V, detail::number S>                               \
  constexpr auto operator op(const lanes<V>& a, S s) {               \
    const auto b = detail::promoted_for<S>(a);                       \
    return b op detail::in_all(b, s);                                \
  }                                                                  \
  template <class V, detail::number S>                               \
  constexpr auto operator op(S s, const lanes<V>& a) {               \
    const auto b = detail::promoted_for<S>(a);                       \
    return detail::in_all(b, s) op b;                                \
  }

LEVADA_LANES_OPERATOR(+, detail::wrapping_sum(a.value, b.value))
LEVADA_LANES_OPERATOR(-, detail::wrapping_difference(a.value, b.value))
LEVADA_LANES_OPERATOR(*, lane_traits<V>::product(a.value, b.value))
LEVADA_LANES_OPERATOR(/, detail::quotient(a.value, b.value))
LEVADA_LANES_OPERATOR(<, a.value < b.value)
LEVADA_LANES_OPERATOR(<=, a.value <= b.value)
LEVADA_LANES_OPERATOR(>, a.value > b.value)
LEVADA_LANES_OPERATOR(>=, a.value >= b.value)
LEVADA_LANES_OPERATOR(==, a.value == b.value)
// Not by the vectors' own !=: xsimd 8.1 has a NaN unequal to itself on SSE only.
LEVADA_LANES_OPERATOR(!=, detail::negated(a.value == b.value))
// Of integers and truth values; those of bool stay bool.
LEVADA_LANES_OPERATOR(%, detail::remainder(a.value, b.value))
LEVADA_LANES_OPERATOR(&, static_cast<V>(a.value& b.value))
LEVADA_LANES_OPERATOR(|, static_cast<V>(a.value | b.value))
LEVADA_LANES_OPERATOR(^, static_cast<V>(a.value ^ b.value))
LEVADA_LANES_OPERATOR(<<, static_cast<V>(a.value << b.value))
LEVADA_LANES_OPERATOR(>>, static_cast<V>(a.value >> b.value))
#undef LEVADA_LANES_OPERATOR

template <class V>
constexpr lanes<V> operator-(const lanes<V>& a) {
  if constexpr (std::is_integral_v<V>)
    return lanes<V>(static_cast<V>(detail::wrapping_difference(V{}, a.value)));
  else
    return lanes<V>(-a.value);
}

/// Where `condition` holds `a`, else `b`.
template <class M, class V>
constexpr lanes<V> select(const lanes<M>& condition, const lanes<V>& a, const lanes<V>& b) {
  return lanes<V>(lane_traits<V>::select(condition.value, a.value, b.value));
}
template <class M, class V, detail::number S>
constexpr lanes<V> select(const lanes<M>& condition, const lanes<V>& a, S b) {
  return select(condition, a, detail::in_all(a, b));
}
template <class M, class V, detail::number S>
constexpr lanes<V> select(const lanes<M>& condition, S a, const lanes<V>& b) {
  return select(condition, detail::in_all(b, a), b);
}

/// The smaller, as `b < a ? b : a`: where either is NaN, `a`.
template <class V>
constexpr lanes<V> min(const lanes<V>& a, const lanes<V>& b) {
  return select(b < a, b, a);
}
/// The larger, as `a < b ? b : a`: where either is NaN, `a`.
template <class V>
constexpr lanes<V> max(const lanes<V>& a, const lanes<V>& b) {
  return select(a < b, b, a);
}
template <class V, detail::number S>
constexpr lanes<V> min(const lanes<V>& a, S b) {
  return min(a, detail::in_all(a, b));
}
template <class V, detail::number S>
constexpr lanes<V> min(S a, const lanes<V>& b) {
  return min(detail::in_all(b, a), b);
}
template <class V, detail::number S>
constexpr lanes<V> max(const lanes<V>& a, S b) {
  return max(a, detail::in_all(a, b));
}
template <class V, detail::number S>
constexpr lanes<V> max(S a, const lanes<V>& b) {
  return max(detail::in_all(b, a), b);
}

/// The magnitude; that of the smallest integer, which has none, is itself.
template <class V>
lanes<V> abs(const lanes<V>& a) {
  using std::abs;
  if constexpr (std::is_integral_v<V>)
    return a.value < V{} ? -a : a;
  else
    return lanes<V>(V(abs(a.value)));
}

/// The function of the C library of each lane; `round` is to the nearest, halves to the even one.
#define LEVADA_LANES_FUNCTION(name, of) \
  template <class V>                    \
  lanes<V> name(const lanes<V>& a) {    \
    using std::of;                      \
    return lanes<V>(V(of(a.value)));    \
  }
LEVADA_LANES_FUNCTION(sqrt, sqrt)
LEVADA_LANES_FUNCTION(exp, exp)
LEVADA_LANES_FUNCTION(log, log)
LEVADA_LANES_FUNCTION(tanh, tanh)
LEVADA_LANES_FUNCTION(erf, erf)
LEVADA_LANES_FUNCTION(floor, floor)
LEVADA_LANES_FUNCTION(ceil, ceil)
LEVADA_LANES_FUNCTION(trunc, trunc)
LEVADA_LANES_FUNCTION(round, nearbyint)
LEVADA_LANES_FUNCTION(sin, sin)
LEVADA_LANES_FUNCTION(cos, cos)
LEVADA_LANES_FUNCTION(tan, tan)
LEVADA_LANES_FUNCTION(asin, asin)
LEVADA_LANES_FUNCTION(acos, acos)
LEVADA_LANES_FUNCTION(atan, atan)
LEVADA_LANES_FUNCTION(sinh, sinh)
LEVADA_LANES_FUNCTION(cosh, cosh)
LEVADA_LANES_FUNCTION(asinh, asinh)
LEVADA_LANES_FUNCTION(acosh, acosh)
LEVADA_LANES_FUNCTION(atanh, atanh)
#undef LEVADA_LANES_FUNCTION

/// The logistic function.
template <class V>
lanes<V> sigmoid(const lanes<V>& a) {
  const lanes<V> e = exp(-abs(a));  // never overflows
  return select(a < 0, e, 1) / (1 + e);
}
/// `a` to the power of `b`, lane by lane. Integers wrap around; their negative powers are quotients of 1.
template <class V>
constexpr lanes<V> pow(const lanes<V>& a, const lanes<V>& b) {
  using lane = typename lanes<V>::element;
  using std::pow;
  if constexpr (std::is_integral_v<V>)
    return lanes<V>(detail::wrapping_power(a.value, b.value));
  else if constexpr (std::is_integral_v<lane>)
    return detail::power_by_squares<lane>(a, b, lanes<V>(V(lane{1})));
  else
    return lanes<V>(static_cast<V>(pow(a.value, b.value)));
}

template <class V, detail::number S>
lanes<V> pow(const lanes<V>& a, S b) {
  return pow(a, detail::in_all(a, b));
}
template <class V, detail::number S>
lanes<V> pow(S a, const lanes<V>& b) {
  return pow(detail::in_all(b, a), b);
}

/// The lanes as float, and as int32 towards zero (undefined where they do not fit).
template <class V>
constexpr auto to_float(const lanes<V>& a) {
  auto converted = lane_traits<V>::template convert<float>(a.value);
  return lanes<decltype(converted)>(converted);
}
template <class V>
constexpr auto to_int(const lanes<V>& a) {
  auto converted = lane_traits<V>::template convert<int>(a.value);
  return lanes<decltype(converted)>(converted);
}

}  // namespace levada
