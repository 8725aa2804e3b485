// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/half.hpp: IEEE 754 binary16 as storage. It is widened to float before any arithmetic.

#include <bit>
#include <cstdint>

namespace levada {

/// Sixteen bits of IEEE 754 binary16. Storage only: convert to float, compute, convert back (round to nearest even).
struct half {
  std::uint16_t bits;

  /// As of a float, without a value: a tensor may begin where the numbers that are to be in it lie already.
  half() = default;
  constexpr explicit half(float value) : bits(narrow(std::bit_cast<std::uint32_t>(value))) {}

  static constexpr half from_bits(std::uint16_t bits) {
    half h;
    h.bits = bits;
    return h;
  }

  constexpr explicit operator float() const {
    const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fu;
    const std::uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }

  friend constexpr bool operator==(half a, half b) { return float(a) == float(b); }

 private:
  static constexpr std::uint16_t narrow(std::uint32_t f) {
    const std::uint32_t sign = (f >> 16) & 0x8000u;
    const std::uint32_t magnitude = f & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // NaN stays NaN
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
    if (magnitude < 0x33000001u) return static_cast<std::uint16_t>(sign);             // rounds to zero
    // The significand with its hidden bit; subnormal results lose (113 - exponent) bits more than the usual 13.
    const std::uint32_t exponent = magnitude >> 23;
    const bool subnormal = exponent < 113;
    const std::uint32_t shift = subnormal ? 126 - exponent : 13;
    const std::uint32_t significand = subnormal ? ((magnitude & 0x7fffffu) | 0x800000u) : magnitude - (112u << 23);
    const std::uint32_t kept = significand >> shift;
    const std::uint32_t rest = significand & ((1u << shift) - 1), middle = 1u << (shift - 1);
    return static_cast<std::uint16_t>(sign | (kept + (rest > middle || (rest == middle && (kept & 1)) ? 1 : 0)));
  }
};

}  // namespace levada
