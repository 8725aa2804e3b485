// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/math.hpp: the transcendental functions, written in the kernel language itself. They give the same
// bits on every lowering, with contraction off; division and square root are as exact as the device's.
// - The polynomials are minimax fits (Remez) on the intervals named beside them, without a table or a fused
//   multiply-add.
// - The largest errors below are against the correctly rounded result, in units in the last place of normal results.
//   tests/kernel/math.cpp measures them.
// - NaN gives NaN unless said otherwise. Where a device flushes denormals, so do these.

#include <concepts>
#include <limits>

#include <levada/core/detail/wrapping.hpp>
#include <levada/kernel/detail/functions.hpp>
#include <levada/kernel/detail/operators.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada {

namespace kernel_detail {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// The polynomial with these coefficients, lowest first, by Horner's rule.
template <class V, class... C>
constexpr V polynomial(const V& x, float lowest, C... rest) {
  if constexpr (sizeof...(C) == 1) {
    return x * (rest + ...) + lowest;
  } else {
    return polynomial(x, rest...) * x + lowest;
  }
}

// ln 2 in two parts: the first has 14 bits, so that its product with an exponent is exact.
inline constexpr float ln2_high = 0x1.62e8p-1f, ln2_low = -0x1.e8082ep-16f;

/// The float with value `to int32` where it is known to fit.
template <class M>
constexpr auto small_to_int(const kernel_value<float, M>& x) {
  return apply<ir::opcode::convert, std::int32_t>(x);
}

/// 2 to the power of `n`, -126 <= n <= 127.
template <class M>
constexpr auto power_of_two(const kernel_value<std::int32_t, M>& n) {
  return bit_cast_to_float((n + 127) << 23);
}

/// e to the power of `x + rest`, |rest| far below 1. Beyond the clamp the result is 0 or infinite.
template <class M, class... Rest>
constexpr kernel_value<float, M> exp_of_sum(const kernel_value<float, M>& x, const Rest&... rest) {
  const auto clamped = clamp(x, -104.0f, 89.0f);
  const auto n = round(clamped * 0x1.715476p+0f);
  const auto r = (((clamped - n * ln2_high) - n * ln2_low) + ... + rest);
  // (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2
  const auto p = polynomial(r, 0.49999994f, 0.1666652f, 0.041668393f, 0.00836878f, 0.0013814496f);
  const auto e = 1.0f + (r + r * r * p);
  // In two steps, so that neither factor leaves the range of a float and a denormal is rounded once.
  const auto whole = small_to_int(n), half = whole >> 1;
  return e * power_of_two(half) * power_of_two(whole - half);
}

/// `x` as 2^exponent * (1 + fraction), 1 + fraction between sqrt(1/2) and sqrt(2); x is positive and finite.
template <class M>
struct split_float {
  kernel_value<float, M> exponent, fraction;

  constexpr explicit split_float(const kernel_value<float, M>& x)
      : split_float(x < 0x1p-126f, bit_cast_to_int(select(x < 0x1p-126f, x * 0x1p23f, x))) {}

 private:
  constexpr split_float(const kernel_value<bool, M>& tiny, const kernel_value<std::int32_t, M>& bits)
      : split_float(tiny, bits, (bits - 0x3f3504f3) >> 23) {}
  constexpr split_float(const kernel_value<bool, M>& tiny, const kernel_value<std::int32_t, M>& bits,
                        const kernel_value<std::int32_t, M>& n)
      : exponent(to_float(select(tiny, n - 23, n))), fraction(bit_cast_to_float(bits - (n << 23)) - 1.0f) {}
};

/// (log((1+s)/(1-s)) - 2s) / s^3 as a function of s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1).
template <class M>
constexpr auto log_tail(const kernel_value<float, M>& s2) {
  return polynomial(s2, 0.6666666f, 0.40000337f, 0.2853717f, 0.23584992f);
}

/// The upper 12 bits of the significand: products of two such are exact.
template <class M>
constexpr auto upper_half(const kernel_value<float, M>& x) {
  return bit_cast_to_float(bit_cast_to_uint(x) & 0xfffff000u);
}

/// A number as `value + error`, so that a row of subtractions rounds once, at its end.
template <class M>
struct compensated {
  kernel_value<float, M> value, error;

  constexpr compensated minus(const kernel_value<float, M>& x) const {
    const auto difference = value - x;
    return {difference, error + ((value - difference) - x)};
  }
};

/// `x` minus the multiple `n` of pi/2 nearest to it, |x| <= 100000. Every part of pi/2 but the last has 8 bits, so that
/// its product with the multiple is exact (Cody and Waite); the first two differences are exact, too.
template <class M>
constexpr kernel_value<float, M> minus_quarter_turns(const kernel_value<float, M>& x, const kernel_value<float, M>& n) {
  const compensated<M> start{(x - n * 0x1.92p+0f) - n * 0x1.fcp-12f, n * -0x1.84698ap-48f};
  const auto rest = start.minus(n * -0x1.58p-21f).minus(n * 0x1.1p-30f).minus(n * 0x1.68p-39f);
  return rest.value + rest.error;
}

template <class M>
constexpr kernel_value<float, M> sine(const kernel_value<float, M>& x, int quarter_turns_ahead) {
  const auto reducible = abs(x) <= 100000.0f;
  const auto angle = select(reducible, x, 0.0f);
  const auto turns = round(angle * 0x1.45f306p-1f);
  const auto r = minus_quarter_turns(angle, turns), r2 = r * r;
  const auto quadrant = small_to_int(turns) + quarter_turns_ahead;
  // (sin(r)/r - 1) / r^2 and (cos(r) - 1 + r^2/2) / r^4 on |r| <= pi/4
  const auto sine = r + r * r2 * polynomial(r2, -0.16666655f, 0.008332173f, -0.00019516656f);
  const auto cosine = 1.0f - (r2 * 0.5f - r2 * r2 * polynomial(r2, 0.041666646f, -0.0013887362f, 2.443773e-05f));
  const auto magnitude = select((quadrant & 1) == 0, sine, cosine);
  const auto signed_result = select((quadrant & 2) == 0, magnitude, -magnitude);
  return select(reducible, signed_result, not_a_number);
}

}  // namespace kernel_detail

/// e to the power of `x`, within 1 ulp. Infinite from 88.72284 on, 0 below -103.97.
template <class M>
constexpr kernel_value<float, M> exp(const kernel_value<float, M>& x) {
  return kernel_detail::exp_of_sum(x);
}

/// The natural logarithm, within 1 ulp. -infinity at zero, NaN below.
template <class M>
constexpr kernel_value<float, M> log(const kernel_value<float, M>& x) {
  const kernel_detail::split_float<M> parts(x);
  const auto f = parts.fraction;
  const auto s = f / (f + 2.0f), s2 = s * s;
  const auto half_square = f * f * 0.5f;
  // 2s = f - s f, and s f = half_square - s half_square: what is subtracted from f is small.
  const auto correction =
      s * (half_square + s2 * kernel_detail::log_tail(s2)) + parts.exponent * kernel_detail::ln2_low;
  const auto result = parts.exponent * kernel_detail::ln2_high - ((half_square - correction) - f);
  const auto edge = select(x == 0.0f, -kernel_detail::infinity, select(x > 0.0f, x, kernel_detail::not_a_number));
  return select((x > 0.0f) & (x < kernel_detail::infinity), result, edge);
}

/// The hyperbolic tangent, within 1.5 ulp.
template <class M>
constexpr kernel_value<float, M> tanh(const kernel_value<float, M>& x) {
  const auto magnitude = abs(x);
  const auto x2 = x * x;
  // (tanh(x)/x - 1) / x^2 on |x| <= 0.625
  const auto near = x + x * x2 *
                            kernel_detail::polynomial(x2, -0.3333333f, 0.13333207f, -0.05394697f, 0.021701608f,
                                                      -0.008179175f, 0.002144216f);
  const auto far = 1.0f - 2.0f / (exp(magnitude + magnitude) + 1.0f);
  return copysign(select(magnitude < 0.625f, near, far), x);  // of -0 too
}

/// 1 / (1 + exp(-x)), within 2.5 ulp.
template <class M>
constexpr kernel_value<float, M> sigmoid(const kernel_value<float, M>& x) {
  const auto e = exp(-abs(x));  // never overflows
  return select(x < 0.0f, e, 1.0f) / (1.0f + e);
}

/// The error function, within 1.5 ulp.
template <class M>
constexpr kernel_value<float, M> erf(const kernel_value<float, M>& x) {
  const auto magnitude = abs(x);
  const auto x2 = x * x;
  // erf(x)/x - 1 on |x| <= 0.93
  const auto near = x + x * kernel_detail::polynomial(x2, 0.12837917f, -0.37612632f, 0.112836875f, -0.02685894f,
                                                      0.005199907f, -0.00081300165f, 8.316792e-05f);
  // -log(1 - erf(a)) on 0.92 <= a <= 3.95; beyond, the result is 1
  const auto a = min(magnitude, 3.95f);
  const auto decay = kernel_detail::polynomial(a, -0.00017468704f, 1.1295149f, 0.63334686f, 0.10828013f, -0.025119454f,
                                               0.004171074f, -0.00043446504f, 2.1095273e-05f);
  const auto far = 1.0f - exp(-decay);
  return select(magnitude < 0.925f, near, copysign(far, x));
}

/// The sine of `x` radians, within 1.75 ulp for |x| <= 100000; NaN beyond, where a float no longer says an angle.
template <class M>
constexpr kernel_value<float, M> sin(const kernel_value<float, M>& x) {
  return select(x == 0.0f, x, kernel_detail::sine(x, 0));  // -0 stays -0
}

/// The cosine of `x` radians, within 1.75 ulp for |x| <= 100000; NaN beyond, where a float no longer says an angle.
template <class M>
constexpr kernel_value<float, M> cos(const kernel_value<float, M>& x) {
  return kernel_detail::sine(x, 1);
}

namespace kernel_detail {

/// `x` to the power of `y`, x positive and finite: exp(y log x), the logarithm in two floats.
template <class M>
constexpr kernel_value<float, M> positive_power(const kernel_value<float, M>& x, const kernel_value<float, M>& y) {
  const split_float<M> parts(x);
  const auto f = parts.fraction, n = parts.exponent;
  // s = f / (2 + f) as s_high + s_low, by the remainder of the division
  const auto divisor = f + 2.0f, divisor_high = upper_half(divisor), divisor_low = f - (divisor_high - 2.0f);
  const auto s_high = upper_half(f / divisor);
  const auto s_low = ((f - s_high * divisor_high) - s_high * divisor_low) / divisor;
  const auto s = s_high + s_low, s2 = s * s, s2_high = s_high * s_high;
  // log(1 + f) = 2/3 s u, u = 3 + s^2 + s^4 (...), as z_high + z_low; every product of two upper halves is exact
  const auto small = s_low * (s + s_high) + s2 * s2 * polynomial(s2, 0.6000023f, 0.42820552f, 0.35131595f);
  const auto u_high = upper_half(3.0f + s2_high + small), u_low = small - ((u_high - 3.0f) - s2_high);
  const auto p_high = s_high * u_high, p_low = s_low * u_high + s * u_low;
  const auto w_high = upper_half(p_high + p_low), w_low = p_low - (w_high - p_high);
  const auto z_high = w_high * 0x1.554p-1f, z_low = w_high * 0x1.555556p-13f + w_low * 0x1.555556p-1f;
  // log x = n ln 2 + log(1 + f)
  const auto whole = n * ln2_high;
  const auto high = whole + z_high, carry = (whole - high) + z_high;
  const auto low = z_low + n * ln2_low + carry;
  const auto log_x = high + low, log_rest = (high - log_x) + low;
  // y times it; with |y| <= 2^40 nothing overflows, and any x but 1 is then 0 or infinite
  const auto bounded = clamp(y, -0x1p40f, 0x1p40f);
  const auto y_high = upper_half(bounded), y_low = bounded - y_high;
  const auto l_high = upper_half(log_x), l_low = log_x - l_high;
  const auto product = bounded * log_x;
  const auto product_rest = ((y_high * l_high - product) + y_high * l_low + y_low * l_high) + y_low * l_low;
  const auto rest = product_rest + bounded * log_rest;
  return exp_of_sum(product, select(abs(product) < 200.0f, rest, 0.0f));
}

}  // namespace kernel_detail

/// `x` to the power of `y`, within 1.25 ulp. Zeros, infinities, NaN and negative `x` as C's pow: 1 where y is 0 or x is
/// 1, even beside a NaN; NaN where x is negative and y no integer.
template <class M>
constexpr kernel_value<float, M> pow(const kernel_value<float, M>& x, const kernel_value<float, M>& y) {
  using kernel_detail::infinity, kernel_detail::not_a_number;
  const auto magnitude = abs(x);
  const auto integral = floor(y) == y;
  const auto half = y * 0.5f;
  const auto odd = integral & (floor(half) != half);
  const auto edge = (magnitude == 0.0f) | (magnitude == infinity);
  const auto edge_power = select((magnitude == 0.0f) == (y < 0.0f), infinity, 0.0f);
  auto r = select(edge, edge_power, kernel_detail::positive_power(magnitude, y));
  r = select(magnitude == 1.0f, 1.0f, r);
  r = select((x < 0.0f) & !integral & (magnitude < infinity), not_a_number, r);
  r = select(odd & (bit_cast_to_int(x) < 0), -r, r);
  r = select(is_nan(x) | is_nan(y), not_a_number, r);
  return select((y == 0.0f) | (x == 1.0f), 1.0f, r);
}
/// Of integers: wraps around; a negative power is the quotient of 1 by the positive one.
template <std::integral T, class M>
  requires(!std::same_as<T, bool>)
constexpr kernel_value<T, M> pow(const kernel_value<T, M>& x, const kernel_value<T, M>& y) {
  return detail::power_by_squares<T>(x, y, kernel_detail::lift<T>(x, T{1}));
}
template <class M, kernel_detail::number N>
constexpr kernel_value<float, M> pow(const kernel_value<float, M>& x, N y) {
  return pow(x, kernel_detail::lift<float>(x, y));
}
template <class M, kernel_detail::number N>
constexpr kernel_value<float, M> pow(N x, const kernel_value<float, M>& y) {
  return pow(kernel_detail::lift<float>(y, x), y);
}

}  // namespace levada
