// SPDX-License-Identifier: Apache-2.0
// Which bytes of an object are padding, and that these alone are cleared.

#include <array>
#include <cstdint>
#include <cstring>
#include <new>

#include <doctest/doctest.h>
#include <levada/core/detail/clear_padding.hpp>

namespace {

enum class kind : std::uint8_t { none, some };
struct scale {
  float of = 1;
  std::uint8_t zero = 0;
};
struct padded {
  scale x{}, y{};
  bool is_on = false;
  double most = 0;
  kind which = kind::none;
  std::array<std::int16_t, 3> all{};
};
/// No constant: it cannot be made without a number.
struct made_of_number {
  explicit made_of_number(float n) : number(n) {}
  float number;
};

static_assert(levada::detail::bytes_with_value<scale> == std::array{true, true, true, true, true, false, false, false});
static_assert(levada::detail::bytes_with_value<padded>[16] && !levada::detail::bytes_with_value<padded>[17]);
static_assert(levada::detail::bytes_with_value<made_of_number> == std::array<bool, 4>{});

}  // namespace

TEST_CASE("padding is cleared, and no value is") {
  std::array<unsigned char, sizeof(padded)> expected{}, found{};
  for (const unsigned char garbage : {std::uint8_t{0}, std::uint8_t{0xa5}, std::uint8_t{0xff}}) {
    alignas(padded) std::array<unsigned char, sizeof(padded)> memory;
    memory.fill(garbage);
    padded& of = *std::launder(reinterpret_cast<padded*>(memory.data()));
    of.x.of = 0.5f, of.y.of = 2, of.x.zero = 3, of.y.zero = 4, of.is_on = true, of.most = 7;
    of.which = kind::some, of.all = {1, -2, 3};
    levada::detail::clear_padding(of);
    std::memcpy(found.data(), &of, sizeof of);
    if (garbage == 0) expected = found;
    CHECK(found == expected);
    CHECK(of.x.of == 0.5f);
    CHECK(of.most == 7);
    CHECK(of.all == std::array<std::int16_t, 3>{1, -2, 3});
  }
  made_of_number number(4);
  levada::detail::clear_padding(number);
  CHECK(number.number == 4);
}
