// SPDX-License-Identifier: Apache-2.0
// half against the compiler's own binary16 (_Float16), on all halves and a dense sweep of floats.

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

#include <levada/core/detail/half.hpp>

using levada::half;

static_assert(float(half(1.0f)) == 1.0f);
static_assert(half(65504.0f).bits == 0x7bff);
static_assert(half(0x1p-24f).bits == 1);
static_assert(half(-0.0f).bits == 0x8000);

TEST_CASE("every half survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const half h = half::from_bits(static_cast<std::uint16_t>(bits));
    const float wide = float(h);
    const half back(wide);
    if (std::isnan(wide)) {
      CHECK(std::isnan(float(back)));
      CHECK((back.bits & 0x8000) == (h.bits & 0x8000));
    } else if (back.bits != h.bits) {
      FAIL_CHECK("half " << bits << " came back as " << back.bits);
    }
  }
}

#if defined(__FLT16_MANT_DIG__)

namespace {

std::uint16_t by_compiler(float value) {
  volatile float kept_from_folding = value;
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(kept_from_folding));
}

/// Counts floats that `half` narrows differently from the compiler, NaN only by being NaN.
bool narrows_alike(std::uint32_t bits) {
  const float value = std::bit_cast<float>(bits);
  const std::uint16_t ours = half(value).bits;
  if (std::isnan(value)) return (ours & 0x7c00) == 0x7c00 && (ours & 0x3ff) != 0;
  return ours == by_compiler(value);
}

}  // namespace

TEST_CASE("every half widens as the compiler's binary16 does") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto narrow = static_cast<std::uint16_t>(bits);
    const float ours = float(half::from_bits(narrow));
    const float theirs = static_cast<float>(std::bit_cast<_Float16>(narrow));
    if (std::isnan(theirs))
      CHECK(std::isnan(ours));
    else if (std::bit_cast<std::uint32_t>(ours) != std::bit_cast<std::uint32_t>(theirs))
      FAIL_CHECK("half " << bits << " widens to " << ours << ", not " << theirs);
  }
}

TEST_CASE("floats narrow as the compiler's binary16 does, over a sweep of all exponents") {
  std::uint32_t different = 0;
  // A prime step visits every exponent some hundred thousand times with all kinds of mantissas.
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 997)
    different += narrows_alike(static_cast<std::uint32_t>(bits)) ? 0 : 1;
  CHECK(different == 0);
}

TEST_CASE("ties, and their neighbours, narrow as the compiler's binary16 does") {
  std::uint32_t different = 0;
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    // The float in the middle between this half and the next.
    const float low = float(half::from_bits(static_cast<std::uint16_t>(bits)));
    const float high = bits == 0x7bff ? 65536.0f : float(half::from_bits(static_cast<std::uint16_t>(bits + 1)));
    const auto middle = std::bit_cast<std::uint32_t>(low + (high - low) / 2);
    for (std::uint32_t sign : {0u, 0x80000000u})
      for (std::uint32_t near : {middle - 1, middle, middle + 1}) different += narrows_alike(near | sign) ? 0 : 1;
  }
  CHECK(different == 0);
}

#endif
