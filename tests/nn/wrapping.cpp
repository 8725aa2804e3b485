// SPDX-License-Identifier: Apache-2.0
// Integers of lanes wrap around, one value as a vector does: the undefined sanitizer looks at these, too.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <doctest/doctest.h>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;

namespace {

using int_lane = lv::lanes<std::int32_t>;
using short_lane = lv::lanes<std::uint16_t>;
constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(),
                       most = std::numeric_limits<std::int32_t>::max();

// A constant expression refuses what is undefined.
static_assert((int_lane(most) + int_lane(1)).value == least);
static_assert((int_lane(least) - int_lane(1)).value == most);
static_assert((int_lane(most) * int_lane(2)).value == -2);
static_assert((-int_lane(least)).value == least);
static_assert((lv::lanes<std::int64_t>(std::numeric_limits<std::int64_t>::max()) + 1).value ==
              std::numeric_limits<std::int64_t>::min());
// Two of 16 bits become an int, which holds no product of theirs.
static_assert(std::is_same_v<decltype((short_lane(1) * short_lane(1)).value), int>);
static_assert((short_lane(65535) * short_lane(65535)).value == -131071);
// Others are as they were.
static_assert((lv::lanes<std::int8_t>(100) + lv::lanes<std::int8_t>(100)).value == 200);
static_assert((lv::lanes<unsigned>(0u) - lv::lanes<unsigned>(1u)).value == ~0u);
static_assert((lv::lanes<float>(0.5f) + lv::lanes<float>(0.25f)).value == 0.75f);

TEST_CASE("the magnitude of the smallest integer is itself") {
  CHECK(abs(int_lane(least)).value == least);
  CHECK(abs(int_lane(-7)).value == 7);
  CHECK(abs(lv::lanes<std::int8_t>(std::int8_t{-128})).value == -128);
  CHECK(abs(lv::lanes<float>(-0.0f)).value == 0.0f);
}

// Lengths with and without a rest that no vector takes.
template <class T, std::size_t N>
void check_ops() {
  using row = lv::tensor<T, N>;
  using limits = std::numeric_limits<T>;
  using wide = std::make_unsigned_t<T>;
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(
      lv::graph(lv::port<"a", row>, lv::port<"b", row>, lv::node<"sum", "a", "b">(lv::nn::add),
                lv::node<"difference", "a", "b">(lv::nn::sub), lv::node<"product", "a", "b">(lv::nn::mul),
                lv::output<"sum", "sum">, lv::output<"difference", "difference">, lv::output<"product", "product">));
  typename decltype(app)::item given;
  row &a = given.template get<"a">(), &b = given.template get<"b">();
  for (std::size_t i = 0; i < N; ++i) {
    a[i] = i % 3 == 0 ? limits::max() : i % 3 == 1 ? limits::min() : static_cast<T>(i);
    b[i] = static_cast<T>(i % 2 == 0 ? limits::max() : static_cast<T>(i + 1));
  }
  const auto made = app(given);
  const row &sums = made.template get<"sum">(), &differences = made.template get<"difference">(),
            &products = made.template get<"product">();
  for (std::size_t i = 0; i < N; ++i) {
    CAPTURE(i);
    CHECK(sums[i] == static_cast<T>(static_cast<wide>(static_cast<wide>(a[i]) + static_cast<wide>(b[i]))));
    CHECK(differences[i] == static_cast<T>(static_cast<wide>(static_cast<wide>(a[i]) - static_cast<wide>(b[i]))));
    CHECK(products[i] == static_cast<T>(static_cast<wide>(static_cast<wide>(a[i]) * static_cast<wide>(b[i]))));
  }
}

TEST_CASE("ops on integers wrap around, in vectors and behind them") {
  check_ops<std::int32_t, 3>();
  check_ops<std::int32_t, 37>();
  check_ops<std::int64_t, 13>();
}

}  // namespace
