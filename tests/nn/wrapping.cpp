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

// By zero an integer is 0 and leaves itself; the smallest by -1 is itself.
static_assert((int_lane(least) / int_lane(-1)).value == least && (int_lane(least) % int_lane(-1)).value == 0);
static_assert((int_lane(7) / int_lane(0)).value == 0 && (int_lane(7) % int_lane(0)).value == 7);
static_assert((lv::lanes<unsigned>(7u) / 0).value == 0 && (lv::lanes<unsigned>(7u) % 0).value == 7);
static_assert((int_lane(-7) / 2).value == -3 && (int_lane(-7) % 2).value == -1);
// Powers are exact, where double has no such number, and wrap around.
using long_lane = lv::lanes<std::int64_t>;
static_assert(pow(long_lane(3), long_lane(39)).value == 4052555153018976267);
static_assert(pow(long_lane(-3), long_lane(39)).value == -4052555153018976267);
static_assert(pow(int_lane(2), int_lane(31)).value == least && pow(int_lane(2), int_lane(32)).value == 0);
static_assert(pow(int_lane(3), int_lane(most)).value == -1431655765);
static_assert(pow(int_lane(0), int_lane(0)).value == 1 && pow(int_lane(0), int_lane(-1)).value == 0);
static_assert(pow(int_lane(2), int_lane(-1)).value == 0 && pow(int_lane(-1), int_lane(-3)).value == -1);
static_assert(pow(short_lane(65535), short_lane(2)).value == 1);

// In the kernel language too.
using int_value = lv::scalar_value<std::int32_t>;
static_assert(pow(int_value(3), int_value(19)).rep == 1162261467 &&
              pow(int_value(3), int_value(most)).rep == -1431655765);
static_assert(pow(int_value(-1), int_value(-3)).rep == -1 && pow(int_value(2), int_value(-1)).rep == 0);
static_assert(pow(lv::scalar_value<unsigned>(7u), lv::scalar_value<unsigned>(1u << 31)).rep == 1u);

TEST_CASE("the magnitude of the smallest integer is itself") {
  CHECK(abs(int_lane(least)).value == least);
  CHECK(abs(int_lane(-7)).value == 7);
  CHECK(abs(lv::lanes<std::int8_t>(std::int8_t{-128})).value == -128);
  CHECK(abs(lv::lanes<float>(-0.0f)).value == 0.0f);
}

// By repeated multiplication.
template <class T>
T naive_power(T x, T y) {
  using wide = std::make_unsigned_t<T>;
  if (std::is_signed_v<T> && y < 0) return x == 1 ? x : x == static_cast<T>(-1) ? (y % 2 == 0 ? T{1} : x) : T{0};
  wide power = 1;
  for (T i = 0; i < y; ++i) power = static_cast<wide>(power * static_cast<wide>(x));
  return static_cast<T>(power);
}

// Lengths with and without a rest that no vector takes.
template <class T, std::size_t N>
void check_quotients() {
  using row = lv::tensor<T, N>;
  using limits = std::numeric_limits<T>;
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(
      lv::graph(lv::port<"a", row>, lv::port<"b", row>, lv::node<"quotient", "a", "b">(lv::nn::div),
                lv::node<"rest", "a", "b">(lv::nn::fmod), lv::node<"power", "a", "b">(lv::nn::pow),
                lv::output<"quotient", "quotient">, lv::output<"rest", "rest">, lv::output<"power", "power">));
  typename decltype(app)::item given;
  row &a = given.template get<"a">(), &b = given.template get<"b">();
  const T first[] = {limits::min(), limits::max(), T{3}, static_cast<T>(-1), T{0}, static_cast<T>(-7)};
  const T second[] = {static_cast<T>(-1), T{0}, T{1}, T{2}, T{39}};
  for (std::size_t i = 0; i < N; ++i) {
    a[i] = first[i % 6];
    b[i] = second[i % 5];
    if (std::is_unsigned_v<T> && b[i] > 100) b[i] = 100;
  }
  const auto made = app(given);
  for (std::size_t i = 0; i < N; ++i) {
    CAPTURE(i);
    const bool of_least = std::is_signed_v<T> && b[i] == static_cast<T>(-1);
    const T negated = static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(a[i]));
    CHECK(made.template get<"quotient">()[i] == (b[i] == 0 ? T{0} : of_least ? negated : static_cast<T>(a[i] / b[i])));
    CHECK(made.template get<"rest">()[i] == (b[i] == 0 ? a[i] : of_least ? T{0} : static_cast<T>(a[i] % b[i])));
    CHECK(made.template get<"power">()[i] == naive_power(a[i], b[i]));
  }
}

TEST_CASE("quotients, rests and powers of integers, in vectors and behind them") {
  check_quotients<std::int32_t, 31>();
  check_quotients<std::int64_t, 31>();
  check_quotients<std::uint32_t, 31>();
  check_quotients<std::uint64_t, 31>();
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
