// SPDX-License-Identifier: Apache-2.0
// bfloat16: rounding to nearest, halves to even, on all of its numbers and what lies between them.

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

#include <levada/core/detail/bfloat16.hpp>

using levada::bfloat16;

static_assert(float(bfloat16(1.0f)) == 1.0f);
static_assert(bfloat16(-0.0f).bits == 0x8000);
static_assert(bfloat16(1 + 0x1p-8f).bits == 0x3f80 && bfloat16(1 + 0x3p-8f).bits == 0x3f82, "halves to even");
static_assert(bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80, "rounds to infinity");
static_assert(bfloat16(0x1p-133f).bits == 1, "the smallest denormal");
static_assert(bfloat16(1.0f) < bfloat16(2.0f) && bfloat16(0.0f) == bfloat16(-0.0f));

TEST_CASE("every bfloat16 survives the way to float and back, NaN by being NaN with its sign") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto b = bfloat16::from_bits(static_cast<std::uint16_t>(bits));
    const bfloat16 back{float(b)};
    if (std::isnan(float(b))) {
      CHECK(std::isnan(float(back)));
      CHECK((back.bits & 0x8000) == (bits & 0x8000));
    } else if (back.bits != bits) {
      FAIL_CHECK("bfloat16 " << bits << " came back as " << back.bits);
    }
  }
}

TEST_CASE("floats between two of bfloat16 go to the nearer one, those in the middle to the even one") {
  std::uint32_t different = 0;
  for (std::uint32_t bits = 0; bits < 0x7f80; ++bits)
    for (std::uint32_t sign : {0u, 0x8000u}) {
      const std::uint32_t low = bits | sign, middle = low << 16 | 0x8000u;
      const auto rounded = [](std::uint32_t f) { return bfloat16(std::bit_cast<float>(f)).bits; };
      different += rounded(middle - 1) != low;
      different += rounded(middle) != low + (low & 1);
      different += rounded(middle + 1) != low + 1;
    }
  CHECK(different == 0);
}

TEST_CASE("NaN whose upper bits are those of infinity stays NaN") {
  CHECK(std::isnan(float(bfloat16(std::bit_cast<float>(0x7f800001u)))));
  CHECK(std::isnan(float(bfloat16(std::bit_cast<float>(0xffffffffu)))));
}
