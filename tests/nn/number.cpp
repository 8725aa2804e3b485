// SPDX-License-Identifier: Apache-2.0
// Arithmetic with one number on `reference` and `simd`, against the C library's.

#include <cmath>
#include <limits>

#include "nn/direct.hpp"

#include <levada/nn/number.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

template <class Stage>
using op_of = typename Stage::op_type;
template <class T>
constexpr bool gives_same(auto stage) {
  return std::same_as<out<typename decltype(stage)::op_type, T>, T>;
}
using floats = tensor<float, 37>;
static_assert(gives_same<floats>(nn::offset(0.5f)) && gives_same<floats>(nn::scale(2)) &&
              gives_same<floats>(nn::power(2.0f)));
static_assert(gives_same<tensor<double, 5>>(nn::offset(0.1)) && gives_same<tensor<std::int64_t, 5>>(nn::scale(3)));
static_assert(gives_same<tensor<std::int32_t, 5>>(nn::at_most(7)) &&
              gives_same<tensor<std::int32_t, 5>>(nn::scale(3L)));
static_assert(std::same_as<decltype(nn::offset(1.0f)), decltype(nn::offset(2.0f))>, "one type for all numbers");
static_assert(!op_takes<decltype(nn::offset(0.5f))::op_type, tensor<std::int32_t, 5>>,
              "a fraction and integers do not go together");

/// Both backends give `expected` of each element within some units in the last place.
template <class In, class Stage, class F>
void check_function(const In& in, const Stage& stage, F expected, double ulps = 0) {
  using T = typename In::value_type;
  const auto results = both(in, stage.description, std::numeric_limits<double>::infinity());
  const auto by_reference = by_one_kernel<reference>(in, {}, stage.description);
  for (std::size_t i = 0; i < In::elements; ++i) {
    CAPTURE(in[i]);
    const T y = static_cast<T>(expected(in[i]));
    for (const T got : {(*results)[i], (*by_reference)[i]}) {
      if (y != y) {
        CHECK(got != got);
      } else {
        const double difference = std::abs(static_cast<double>(got) - static_cast<double>(y));
        const double unit = static_cast<double>(std::numeric_limits<T>::epsilon()) * std::abs(static_cast<double>(y));
        CHECK((got == y || difference <= ulps * unit));
        CHECK(std::signbit(static_cast<double>(got)) == std::signbit(static_cast<double>(y)));
      }
    }
  }
}

const floats& samples() {
  static const auto made = [] {
    auto t = random_tensor<floats>();
    for (float& x : *t) x *= 9;
    const float special[] = {0.0f, -0.0f, infinity, -infinity, not_a_number, 1.0f, -1.0f, 1e-42f};
    for (std::size_t i = 0; i < std::size(special); ++i) (*t)[3 * i] = special[i];
    return t;
  }();
  return *made;
}

}  // namespace

TEST_CASE("sums, products, quotients and bounds with a number are rounded once") {
  check_function(samples(), nn::offset(0.3f), [](float x) { return x + 0.3f; });
  check_function(samples(), nn::scale(-1.7f), [](float x) { return x * -1.7f; });
  check_function(samples(), nn::scale(3), [](float x) { return x * 3; });
  check_function(samples(), nn::divide_by(3.0f), [](float x) { return x / 3.0f; });
  check_function(samples(), nn::number_over(2.0f), [](float x) { return 2.0f / x; });
  check_function(samples(), nn::number_minus(1.0f), [](float x) { return 1.0f - x; });
  check_function(samples(), nn::at_least(0.5f), [](float x) { return x < 0.5f ? 0.5f : x; });
  check_function(samples(), nn::at_most(0.5f), [](float x) { return x > 0.5f ? 0.5f : x; });
}

TEST_CASE("powers are those of C, exact where they are products, a root or a quotient") {
  for (const float k : {2.0f, 0.5f, -1.0f})
    check_function(
        samples(), nn::power(k), [k](float x) { return std::pow(x, k); }, 0.5);
  for (const float k : {3.0f, 0.0f, 1.0f, -2.0f, 1.5f, 1.0f / 3, 2.0000002f})
    check_function(
        samples(), nn::power(k), [k](float x) { return std::pow(x, k); }, 3);
  for (const float k : {2.0f, 0.5f, 1.0f, 10.0f})
    check_function(
        samples(), nn::number_power(k), [k](float x) { return std::pow(k, x); }, 3);
}

TEST_CASE("double and integers keep their type and their digits") {
  const auto doubles = random_tensor<tensor<double, 19>>();
  check_function(*doubles, nn::offset(0.1), [](double x) { return x + 0.1; });
  check_function(*doubles, nn::power(3.0), [](double x) { return x * x * x; });
  check_function(
      *doubles, nn::power(0.25), [](double x) { return std::pow(x, 0.25); }, 2);
  check_function(
      *doubles, nn::number_power(2.0), [](double x) { return std::pow(2.0, x); }, 2);
  const tensor<std::int64_t, 4> large{{(std::int64_t{1} << 40) + 1, -3, 7, 0}};
  check_function(large, nn::offset(std::int64_t{1} << 40), [](std::int64_t x) { return x + (std::int64_t{1} << 40); });
  check_function(large, nn::scale(-3), [](std::int64_t x) { return x * -3; });
  const tensor<std::int32_t, 5> small{{1, -3, 7, 0, 100}};
  check_function(small, nn::divide_by(2), [](int x) { return x / 2; });
  check_function(small, nn::at_least(3), [](int x) { return x < 3 ? 3 : x; });
}

TEST_CASE("a row of them is one kernel") {
  check_agreement<tensor<float, 3, 7>>(4 * epsilon, nn::scale(0.5f).description, nn::offset(1.5f).description,
                                       nn::power(0.5f).description, nn::number_over(1.0f).description);
}
