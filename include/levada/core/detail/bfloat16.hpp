// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/bfloat16.hpp: the upper half of an IEEE 754 binary32 as storage. It is widened to float before any
// arithmetic.

#include <bit>
#include <compare>
#include <cstdint>

namespace levada {

/// Sixteen bits: sign, exponent and seven bits of the significand of a float. Storage only: convert to float, compute,
/// convert back (round to nearest even).
struct bfloat16 {
  std::uint16_t bits;

  /// As of a float, without a value: a tensor may begin where the numbers that are to be in it lie already.
  bfloat16() = default;
  constexpr explicit bfloat16(float value) : bits(narrow(std::bit_cast<std::uint32_t>(value))) {}

  static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 b;
    b.bits = bits;
    return b;
  }

  constexpr explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

  friend constexpr bool operator==(bfloat16 a, bfloat16 b) { return float(a) == float(b); }
  friend constexpr auto operator<=>(bfloat16 a, bfloat16 b) { return float(a) <=> float(b); }

 private:
  static constexpr std::uint16_t narrow(std::uint32_t f) {
    if ((f & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(f >> 16 | 0x40u);  // NaN stays NaN
    return static_cast<std::uint16_t>((f + 0x7fffu + (f >> 16 & 1u)) >> 16);
  }
};

}  // namespace levada
