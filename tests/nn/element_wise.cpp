// SPDX-License-Identifier: Apache-2.0
// The functions of one element on `reference` and `simd` against the C library's in double, special values included.

#include <functional>

#include "backend/compare.hpp"
#include "nn/function_check.hpp"

#include <levada/nn/element_wise.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

/// Values of every kind: a dense sweep, powers of two up and down, zeros, infinities, NaN; an odd number of them.
using samples = tensor<float, 1013>;
const samples& inputs() {
  static const auto made = [] {
    auto t = std::make_unique<samples>();
    for (int i = 0; i < 800; ++i) (*t)[static_cast<std::size_t>(i)] = 0.05f * static_cast<float>(i - 400);
    for (int i = 0; i < 104; ++i) {
      (*t)[static_cast<std::size_t>(800 + 2 * i)] = std::ldexp(1.37f, i - 97);
      (*t)[static_cast<std::size_t>(801 + 2 * i)] = -std::ldexp(1.37f, i - 97);
    }
    const float special[] = {0.0f, -0.0f, infinity, -infinity, not_a_number};
    for (std::size_t i = 0; i < 5; ++i) (*t)[1008 + i] = special[i];
    return t;
  }();
  return *made;
}

template <class Stage>
void check_function(const Stage& stage, double (*expected)(double), double ulps, double absolute = 0) {
  check_function_on(inputs(), stage, expected, ulps, absolute);
}

}  // namespace

TEST_CASE("functions with one rounding are exact") {
  check_function(
      nn::sqrt, [](double x) { return std::sqrt(x); }, 0.5);
  check_function(
      nn::abs, [](double x) { return std::abs(x); }, 0);
  check_function(
      nn::neg, [](double x) { return -x; }, 0);
  check_function(
      nn::clip(-1.5f, 2.0f), [](double x) { return x < -1.5 ? -1.5
                                                   : x > 2  ? 2.0
                                                            : x; }, 0);
  check_function(
      nn::leaky_relu(0.25f), [](double x) { return x < 0 ? 0.25 * x : x; }, 0);
}

TEST_CASE("exp, log, tanh, sigmoid and erf keep the bounds of kernel/math.hpp") {
  check_function(
      nn::exp, [](double x) { return std::exp(x); }, 1.6);
  check_function(
      nn::log, [](double x) { return std::log(x); }, 1.6);
  check_function(
      nn::tanh, [](double x) { return std::tanh(x); }, 2);
  check_function(
      nn::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 3, 1e-44);
  check_function(
      nn::erf, [](double x) { return std::erf(x); }, 2);
}

TEST_CASE("elu and softplus keep their digits near and far from 0") {
  check_function(
      nn::elu(), [](double x) { return x < 0 ? std::expm1(x) : x; }, 5);
  check_function(
      nn::softplus, [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }, 5, 1e-44);
}

TEST_CASE("the hard functions, silu and gelu") {
  const auto hard = [](double x, double a) { return std::isnan(x) ? x : std::min(std::max(x * a + 0.5, 0.0), 1.0); };
  static const auto hard_of = hard;
  check_function(
      nn::hard_sigmoid(), [](double x) { return hard_of(x, 0.2); }, 0, 2 * epsilon);
  check_function(
      nn::hard_swish, [](double x) { return x * hard_of(x, 1.0 / 6); }, 4, 1e-6);
  check_function(
      nn::silu, [](double x) { return x / (1 + std::exp(-x)); }, 5, 1e-43);
  check_function(
      nn::gelu, [](double x) { return x * 0.5 * (1 + std::erf(x * std::sqrt(0.5))); }, 6, 1e-6);
}

TEST_CASE("a row of functions is one kernel, and double is computed as double") {
  check_agreement<tensor<float, 3, 7>>(2 * epsilon, nn::abs.description, nn::sqrt.description,
                                       nn::leaky_relu(0.1f).description, nn::clip(0.1f, 0.5f).description);
  const auto in = random_tensor<tensor<double, 37>>();
  const auto out = by_one_kernel<simd>(*in, {}, nn::softplus.description);
  static_assert(std::same_as<decltype(out)::element_type, tensor<double, 37>>);
  for (std::size_t i = 0; i < 37; ++i) CHECK(std::abs((*out)[i] - std::log1p(std::exp((*in)[i]))) < 1e-15 * 8);
  check_agreement<tensor<double, 37>>(1e-15, nn::elu(0.5f).description);
  check_agreement<tensor<std::int32_t, 19>>(0, nn::abs.description);
}
