// SPDX-License-Identifier: Apache-2.0
// What the operators of the kernel language mean, against C++ on single numbers.

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernel/architectures.hpp"

namespace lv = levada;
using namespace kernel_test;

/// The kernel on single numbers, by the interpreter and by every architecture, which have to agree.
template <class Out, class F, class... In>
Out once(const F& f, In... in) {
  const std::vector<words> inputs{{std::bit_cast<std::uint32_t>(in)}...};
  check_all_agree<Out, In...>(f, inputs);
  return std::bit_cast<Out>(interpreted(lv::program_of<F, In...>, inputs)[0]);
}

constexpr float inf = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min(),
                       largest = std::numeric_limits<std::int32_t>::max();

TEST_CASE("integers wrap") {
  CHECK(once<std::int32_t>([](auto a, auto b) { return a + b; }, largest, 1) == smallest);
  CHECK(once<std::int32_t>([](auto a, auto b) { return a - b; }, smallest, 1) == largest);
  CHECK(once<std::int32_t>([](auto a, auto b) { return a * b; }, 0x10001, 0x10001) == 0x20001);
  CHECK(once<std::int32_t>([](auto a) { return -a; }, smallest) == smallest);
  CHECK(once<std::uint32_t>([](auto a) { return -a; }, 1u) == 0xffffffffu);
}

TEST_CASE("integer division goes towards zero, gives zero by zero, and wraps") {
  const auto divide = [](auto a, auto b) { return a / b; };
  const auto remainder = [](auto a, auto b) { return a % b; };
  for (std::int32_t a : {7, -7, 0, largest, smallest})
    for (std::int32_t b : {1, -1, 2, -2, 100, largest, smallest}) {
      if (a == smallest && b == -1) continue;
      CHECK(once<std::int32_t>(divide, a, b) == a / b);
      CHECK(once<std::int32_t>(remainder, a, b) == a % b);
    }
  CHECK(once<std::int32_t>(divide, 5, 0) == 0);
  CHECK(once<std::int32_t>(remainder, 5, 0) == 5);
  CHECK(once<std::int32_t>(divide, smallest, -1) == smallest);
  CHECK(once<std::int32_t>(remainder, smallest, -1) == 0);
  CHECK(once<std::uint32_t>(divide, 0xfffffff0u, 16u) == 0x0fffffffu);
  CHECK(once<std::uint32_t>(divide, 5u, 0u) == 0);
}

TEST_CASE("shifts take their amount modulo 32 and keep the sign of an int32") {
  const auto left = [](auto a, auto n) { return a << n; };
  const auto right = [](auto a, auto n) { return a >> n; };
  CHECK(once<std::int32_t>(left, 3, 31) == smallest);
  CHECK(once<std::int32_t>(left, 3, 33) == 6);
  CHECK(once<std::int32_t>(right, -8, 1) == -4);
  CHECK(once<std::uint32_t>(right, 0xfffffff8u, 1u) == 0x7ffffffcu);
  CHECK(once<std::int32_t>([](auto a) { return a >> 31; }, smallest) == -1);
  CHECK(once<std::uint32_t>([](auto a) { return a << 4; }, 0xf000000fu) == 0xf0u);
}

TEST_CASE("min and max give their first operand where one is NaN or both are equal") {
  const auto smaller = [](auto a, auto b) { return min(a, b); };
  const auto larger = [](auto a, auto b) { return max(a, b); };
  CHECK(once<float>(smaller, 1.0f, 2.0f) == 1.0f);
  CHECK(once<float>(larger, 1.0f, 2.0f) == 2.0f);
  CHECK(once<float>(smaller, 1.0f, not_a_number) == 1.0f);
  CHECK(once<float>(larger, 1.0f, not_a_number) == 1.0f);
  CHECK(std::isnan(once<float>(smaller, not_a_number, 1.0f)));
  CHECK(std::isnan(once<float>(larger, not_a_number, 1.0f)));
  CHECK(std::signbit(once<float>(smaller, -0.0f, 0.0f)));
  CHECK_FALSE(std::signbit(once<float>(larger, 0.0f, -0.0f)));
  CHECK(std::signbit(once<float>(larger, -0.0f, 0.0f)));
  CHECK(once<std::int32_t>(smaller, -1, 1) == -1);
  CHECK(once<std::uint32_t>(smaller, 0xffffffffu, 1u) == 1u);
}

TEST_CASE("comparisons with NaN are false, and unequal is true") {
  for (float a : {1.0f, not_a_number, inf, -0.0f})
    for (float b : {1.0f, not_a_number, -inf, 0.0f}) {
      CHECK(once<std::int32_t>([](auto x, auto y) { return to_int(x < y); }, a, b) == (a < b));
      CHECK(once<std::int32_t>([](auto x, auto y) { return to_int(x <= y); }, a, b) == (a <= b));
      CHECK(once<std::int32_t>([](auto x, auto y) { return to_int(x > y); }, a, b) == (a > b));
      CHECK(once<std::int32_t>([](auto x, auto y) { return to_int(x >= y); }, a, b) == (a >= b));
      CHECK(once<std::int32_t>([](auto x, auto y) { return to_int(x == y); }, a, b) == (a == b));
      CHECK(once<std::int32_t>([](auto x, auto y) { return to_int(x != y); }, a, b) == (a != b));
    }
}

TEST_CASE("booleans are computed with like bits") {
  const auto all = [](auto a, auto b) {
    const auto p = a < 0, q = b < 0;
    return to_int(p & q) + 2 * to_int(p | q) + 4 * to_int(p ^ q) + 8 * to_int(!p) + 16 * to_int(p == q) +
           32 * to_int(p != q) + 64 * to_int(p && q) + 128 * to_int(p || q) + 256 * to_int(select(p, q, !q));
  };
  for (bool p : {false, true})
    for (bool q : {false, true})
      CHECK(once<std::int32_t>(all, p ? -1 : 1, q ? -1 : 1) == (p && q) + 2 * (p || q) + 4 * (p != q) + 8 * !p +
                                                                   16 * (p == q) + 32 * (p != q) + 64 * (p && q) +
                                                                   128 * (p || q) + 256 * (p ? q : !q));
}

TEST_CASE("floats become integers towards zero, the nearest there is where they do not fit, and NaN 0") {
  const auto to_i = [](auto a) { return to_int(a); };
  const auto to_u = [](auto a) { return to_uint(a); };
  CHECK(once<std::int32_t>(to_i, 2.9f) == 2);
  CHECK(once<std::int32_t>(to_i, -2.9f) == -2);
  CHECK(once<std::int32_t>(to_i, 3e9f) == largest);
  CHECK(once<std::int32_t>(to_i, -inf) == smallest);
  CHECK(once<std::int32_t>(to_i, -0x1p31f) == smallest);
  CHECK(once<std::int32_t>(to_i, not_a_number) == 0);
  CHECK(once<std::uint32_t>(to_u, 3e9f) == 3000000000u);
  CHECK(once<std::uint32_t>(to_u, 0x1.fffffep31f) == 0xffffff00u);
  CHECK(once<std::uint32_t>(to_u, -0.5f) == 0u);
  CHECK(once<std::uint32_t>(to_u, -7.0f) == 0u);
  CHECK(once<std::uint32_t>(to_u, inf) == 0xffffffffu);
  CHECK(once<std::uint32_t>(to_u, not_a_number) == 0u);
}

TEST_CASE("integers become the nearest float, ties to even") {
  for (std::uint32_t u :
       {0u, 1u, 0xffffffffu, 0x80000000u, 0x01000001u, 0x01000003u, 0xffffff7fu, 0xffffff80u, 123456789u})
    CHECK(once<float>([](auto a) { return to_float(a); }, u) == static_cast<float>(u));
  for (std::int32_t i : {0, -1, largest, smallest, 0x01000001, -0x01000003})
    CHECK(once<float>([](auto a) { return to_float(a); }, i) == static_cast<float>(i));
}

TEST_CASE("rounding keeps the sign of zero") {
  for (float x : {0.0f, -0.0f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 0.49999997f, 8388607.5f, 8388609.0f, -3e9f, inf}) {
    CAPTURE(x);
    const float rounded = once<float>([](auto a) { return round(a); }, x);
    CHECK(rounded == std::nearbyint(x));
    CHECK(std::signbit(rounded) == std::signbit(std::nearbyint(x)));
    CHECK(once<float>([](auto a) { return floor(a); }, x) == std::floor(x));
    CHECK(once<float>([](auto a) { return ceil(a); }, x) == std::ceil(x));
    CHECK(once<float>([](auto a) { return trunc(a); }, x) == std::trunc(x));
  }
}

TEST_CASE("literals take the type of what they stand beside, and a floating one makes integers float") {
  CHECK(once<std::uint32_t>([](auto a) { return a + 1; }, 0xffffffffu) == 0u);
  CHECK(once<float>([](auto a) { return a * 2; }, 1.5f) == 3.0f);
  CHECK(once<float>([](auto a) { return a * 0.5; }, 3) == 1.5f);
  CHECK(once<float>([](auto a) { return 1.0f - a; }, 3) == -2.0f);
  CHECK(once<float>([](auto a) { return select(a > 2, 1, 0.5f); }, 3) == 1.0f);
}
