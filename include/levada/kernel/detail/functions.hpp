// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/functions.hpp: the functions of a kernel's values that take a few instructions: conversions, rounding,
// magnitude and sign. kernel/detail/math.hpp has those that take a polynomial.

#include <cstdint>
#include <type_traits>

#include <levada/kernel/detail/ir.hpp>
#include <levada/kernel/detail/operators.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada {

// ---- conversions ----

/// The same bits as another type.
template <class T, class M>
constexpr auto bit_cast_to_float(const kernel_value<T, M>& a) {
  return kernel_detail::apply<ir::opcode::bitcast, float>(a);
}
template <class T, class M>
constexpr auto bit_cast_to_int(const kernel_value<T, M>& a) {
  return kernel_detail::apply<ir::opcode::bitcast, std::int32_t>(a);
}
template <class T, class M>
constexpr auto bit_cast_to_uint(const kernel_value<T, M>& a) {
  return kernel_detail::apply<ir::opcode::bitcast, std::uint32_t>(a);
}

/// The value as float, rounded to nearest; true is 1.
template <class T, class M>
constexpr auto to_float(const kernel_value<T, M>& a) {
  if constexpr (std::is_same_v<T, float>) {
    return a;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return kernel_detail::apply<ir::opcode::convert, float>(a);
  } else if constexpr (std::is_same_v<T, bool>) {
    return select(a, 1.0f, 0.0f);
  } else {
    // Both halves are exact, so that the sum is rounded once.
    return to_float(bit_cast_to_int(a >> 16)) * 65536.0f + to_float(bit_cast_to_int(a & 0xffffu));
  }
}

/// The value as int32: a float towards zero, the nearest int32 where it does not fit, 0 where it is NaN; a uint32
/// wraps.
template <class T, class M>
constexpr auto to_int(const kernel_value<T, M>& a) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    return a;
  } else if constexpr (std::is_same_v<T, bool>) {
    return select(a, 1, 0);
  } else if constexpr (std::is_same_v<T, float>) {
    const auto fits = (a >= -0x1p31f) & (a < 0x1p31f);
    const auto converted = kernel_detail::apply<ir::opcode::convert, std::int32_t>(select(fits, a, 0.0f));
    return select(a >= 0x1p31f, 0x7fffffff, select(a < -0x1p31f, -0x7fffffff - 1, converted));
  } else {
    return bit_cast_to_int(a);
  }
}

/// The value as uint32: a float towards zero, the nearest uint32 where it does not fit, 0 where it is NaN; an int32
/// wraps.
template <class T, class M>
constexpr auto to_uint(const kernel_value<T, M>& a) {
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    return a;
  } else if constexpr (std::is_same_v<T, bool>) {
    return select(a, 1u, 0u);
  } else if constexpr (std::is_same_v<T, float>) {
    const auto upper = a >= 0x1p31f;  // the half that an int32 lacks
    const auto fits = (a > -1.0f) & (a < 0x1p32f);
    const auto low = select(fits, select(upper, a - 0x1p31f, a), 0.0f);
    const auto converted = bit_cast_to_uint(kernel_detail::apply<ir::opcode::convert, std::int32_t>(low));
    return select(a >= 0x1p32f, ~0u, select(upper, converted + 0x80000000u, converted));
  } else {
    return bit_cast_to_uint(a);
  }
}

// ---- what the machines have ready ----

template <class T, class M>
  requires(std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>)
constexpr auto abs(const kernel_value<T, M>& a) {
  if constexpr (std::is_same_v<T, float>) {
    return kernel_detail::apply<ir::opcode::abs, float>(a);
  } else {
    return select(a < 0, -a, a);
  }
}
template <class M>
constexpr auto floor(const kernel_value<float, M>& a) {
  return kernel_detail::apply<ir::opcode::floor, float>(a);
}
template <class M>
constexpr auto ceil(const kernel_value<float, M>& a) {
  return -floor(-a);
}
/// To the nearest integer, ties to the even one, as ONNX's Round.
template <class M>
constexpr auto round(const kernel_value<float, M>& a) {
  return kernel_detail::apply<ir::opcode::round_even, float>(a);
}
template <class M>
constexpr auto trunc(const kernel_value<float, M>& a) {
  return copysign(floor(abs(a)), a);
}
template <class M>
constexpr auto sqrt(const kernel_value<float, M>& a) {
  return kernel_detail::apply<ir::opcode::sqrt, float>(a);
}
/// The magnitude of `a` with the sign of `sign`.
template <class M>
constexpr auto copysign(const kernel_value<float, M>& a, const kernel_value<float, M>& sign) {
  return bit_cast_to_float((bit_cast_to_uint(a) & 0x7fffffffu) | (bit_cast_to_uint(sign) & 0x80000000u));
}
/// True where `a` is NaN.
template <class M>
constexpr auto is_nan(const kernel_value<float, M>& a) {
  return a != a;
}
/// `x` between `low` and `high`; NaN stays NaN.
template <class M, class L, class H>
constexpr auto clamp(const kernel_value<float, M>& x, const L& low, const H& high) {
  return min(max(x, low), high);
}

}  // namespace levada
