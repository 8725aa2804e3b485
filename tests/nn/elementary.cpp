// SPDX-License-Identifier: Apache-2.0
// Elementary functions, activations, truth values, bits and remainders on `reference` and `simd`, against the C
// library's.

#include <cmath>

#include "nn/direct.hpp"
#include "nn/function_check.hpp"

#include <levada/backend/reference/ops.hpp>
#include <levada/ops.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

using samples = tensor<float, 1013>;
const samples& inputs() {
  static const auto made = [] {
    auto t = random_tensor<samples>();
    for (int i = 0; i < 800; ++i) (*t)[static_cast<std::size_t>(i)] = 0.05f * static_cast<float>(i - 400);
    for (int i = 800; i < 900; ++i) (*t)[static_cast<std::size_t>(i)] = std::ldexp(1.37f, i - 890);
    for (int i = 900; i < 990; ++i) (*t)[static_cast<std::size_t>(i)] = -std::ldexp(1.37f, i - 980);
    const float special[] = {0.0f, -0.0f, infinity, -infinity, not_a_number, 1, -1, 0.5f, 1.5f, 2.5f, -0.5f, 88.9f};
    for (std::size_t i = 0; i < std::size(special); ++i) (*t)[1000 + i] = special[i];
    return t;
  }();
  return *made;
}

template <class Stage>
void check_function(const Stage& stage, double (*expected)(double), double ulps, double absolute = 0) {
  check_function_on(inputs(), stage, expected, ulps, absolute);
}
template <class Stage>
void check_double(const Stage& stage, double (*expected)(double), double scale = 1) {
  CAPTURE(std::string(Stage::name.view()));
  auto in = random_tensor<tensor<double, 19>>();
  for (double& x : *in) x *= scale;
  const auto results = both(*in, stage.description, 1e-14);
  for (std::size_t i = 0; i < 19; ++i) {
    const double got = (*results)[i], y = expected((*in)[i]);
    CHECK((std::isnan(y) ? std::isnan(got) : std::abs(got - y) <= 1e-14 * std::max(1.0, std::abs(y))));
  }
}

}  // namespace

#define LEVADA_AS_IN_C(name, ulps, absolute) \
  check_function(                            \
      nn::name, [](double x) { return std::name(x); }, ulps, absolute)

TEST_CASE("quotient, rounding and sign are exact") {
  check_function(
      nn::reciprocal, [](double x) { return 1 / x; }, 0.5);
  LEVADA_AS_IN_C(floor, 0, 0);
  LEVADA_AS_IN_C(ceil, 0, 0);
  check_function(
      nn::round, [](double x) { return std::nearbyint(x); }, 0);
  check_function(
      nn::sign, [](double x) { return x > 0   ? 1.0
                                      : x < 0 ? -1.0
                                              : x; }, 0);
  const tensor<std::int32_t, 4> whole{{-7, 0, 9, 1}};
  CHECK(*both(whole, nn::sign.description) == tensor<std::int32_t, 4>{{-1, 0, 1, 1}});
}

TEST_CASE("functions of angles and hyperbolic ones keep their digits") {
  check_function(
      nn::sin, [](double x) { return std::abs(x) > 100000 ? std::sqrt(-1.0) : std::sin(x); }, 2);
  check_function(
      nn::cos, [](double x) { return std::abs(x) > 100000 ? std::sqrt(-1.0) : std::cos(x); }, 2);
  check_function(
      nn::tan, [](double x) { return std::abs(x) > 100000 ? std::sqrt(-1.0) : std::tan(x); }, 5);
  LEVADA_AS_IN_C(asin, 3, 0);
  LEVADA_AS_IN_C(acos, 4, 0);
  LEVADA_AS_IN_C(atan, 3, 0);
  LEVADA_AS_IN_C(sinh, 5, 0);
  LEVADA_AS_IN_C(cosh, 5, 0);
  LEVADA_AS_IN_C(asinh, 5, 0);
  LEVADA_AS_IN_C(acosh, 5, 0);
  LEVADA_AS_IN_C(atanh, 5, 0);
}

TEST_CASE("activations") {
  check_function(
      nn::selu(2, 3), [](double x) { return x < 0 ? 6 * std::expm1(x) : 3 * x; }, 6);
  check_function(
      nn::celu(2), [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }, 6);
  check_function(
      nn::mish, [](double x) { return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)))); }, 8,
      1e-43);
  check_function(
      nn::gelu_tanh,
      [](double x) { return x * 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, 8, 2e-6);
  check_function(
      nn::shrink(0.5f, 0.25f), [](double x) { return x < -0.5   ? x + 0.25
                                                     : x <= 0.5 ? 0.0
                                                                : x - 0.25; }, 0.5);
  check_function(
      nn::softsign, [](double x) { return x / (1 + std::abs(x)); }, 1.5);
  check_function(
      nn::thresholded_relu(0.5f), [](double x) { return x <= 0.5 ? 0.0 : x; }, 0);
}

TEST_CASE("double is computed as double") {
  check_double(nn::sin, std::sin, 50);
  check_double(nn::atan, std::atan, 5);
  check_double(nn::asin, std::asin);
  check_double(nn::cosh, std::cosh, 3);
  check_double(nn::floor, std::floor, 9);
  check_double(nn::round, std::nearbyint, 9);
  check_double(nn::log, std::log);
  check_double(nn::celu(), [](double x) { return x < 0 ? std::expm1(x) : x; });
}

TEST_CASE("truth values") {
  using bools = tensor<bool, 2, 2>;
  const std::tuple<bools, bools> in{bools{{false, false, true, true}}, bools{{false, true, false, true}}};
  CHECK(*both(in, nn::logical_and.description) == bools{{false, false, false, true}});
  CHECK(*both(in, nn::logical_or.description) == bools{{false, true, true, true}});
  CHECK(*both(in, nn::logical_xor.description) == bools{{false, true, true, false}});
  CHECK(*both(std::get<0>(in), nn::logical_not.description) == bools{{true, true, false, false}});
  const tensor<float, 4> numbers{{infinity, not_a_number, -infinity, 3e38f}};
  using four = tensor<bool, 4>;
  CHECK(*both(numbers, nn::is_nan.description) == four{{false, true, false, false}});
  CHECK(*both(numbers, nn::is_inf().description) == four{{true, false, true, false}});
  CHECK(*both(numbers, nn::is_inf(false).description) == four{{true, false, false, false}});
  CHECK(*both(numbers, nn::is_inf(true, false).description) == four{{false, false, true, false}});
  const tensor<double, 2> large{{1e300, -std::numeric_limits<double>::infinity()}};
  CHECK(*both(large, nn::is_inf().description) == tensor<bool, 2>{{false, true}});
}

TEST_CASE("remainders and bits of every type") {
  const auto check = []<class T>(std::type_identity<T>, const auto& stage, T a, T b, T expected) {
    CHECK((*both(std::tuple(tensor<T, 1>{{a}}, tensor<T, 1>{{b}}), stage.description))[0] == expected);
  };
  constexpr std::type_identity<std::int32_t> of_int;
  constexpr std::type_identity<std::int64_t> of_long;
  constexpr std::type_identity<float> of_float;
  constexpr std::type_identity<double> of_double;
  check(of_int, nn::mod, -7, 3, 2);
  check(of_int, nn::mod, 7, -3, -2);
  check(of_int, nn::mod, 6, -3, 0);
  check(of_int, nn::fmod, -7, 3, -1);
  check(of_long, nn::mod, std::int64_t{-7} << 40, std::int64_t{3} << 40, std::int64_t{2} << 40);
  check(of_float, nn::fmod, -4.25f, 2.0f, -0.25f);
  check(of_float, nn::mod, -4.25f, 2.0f, 1.75f);
  check(of_double, nn::fmod, 7.5, -2.0, 1.5);
  const auto in = random_input<std::tuple<tensor<float, 99>, tensor<float, 99>>>();
  const auto rests = both(*in, nn::fmod.description, 1e-6);
  for (std::size_t i = 0; i < 99; ++i)
    CHECK(std::abs((*rests)[i] - std::fmod(std::get<0>(*in)[i], std::get<1>(*in)[i])) <= 1e-6f);
  check(of_int, nn::bit_and, 12, 10, 8);
  check(of_int, nn::bit_or, 12, 10, 14);
  check(of_int, nn::bit_xor, 12, 10, 6);
  check(of_long, nn::shift_left, std::int64_t{3}, std::int64_t{40}, std::int64_t{3} << 40);
  check(std::type_identity<std::uint32_t>(), nn::shift_right, 0x80000000u, 3u, 0x10000000u);
  CHECK((*both(tensor<std::int32_t, 1>{{5}}, nn::bit_not.description))[0] == -6);
  const std::tuple<tensor<float, 2>, tensor<float, 2>, tensor<float, 1>> three{{{1, 2}}, {{3, 4}}, {{5}}};
  CHECK(*both(three, nn::sum.description) == tensor<float, 2>{{9, 11}});
  CHECK(*both(three, nn::mean.description) == tensor<float, 2>{{3, 11.0f / 3}});
}
