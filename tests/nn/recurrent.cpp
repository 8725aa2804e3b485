// SPDX-License-Identifier: Apache-2.0
// Steps of gru and lstm: the definition against ONNX's formulas written as products of matrices, and `simd` against the
// definition.

#include "backend/compare.hpp"

#include <levada/backend/detail/define/recurrent.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/recurrent.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

/// Gate `g` of `weight` [gates * Hidden, Inputs] times `x`, in double.
template <std::size_t Hidden, class X>
double weighed(const float* weight, std::size_t gate, std::size_t unit, const X& x) {
  double sum = 0;
  for (std::size_t i = 0; i < X::elements; ++i)
    sum += static_cast<double>(weight[(gate * Hidden + unit) * X::elements + i]) * static_cast<double>(x[i]);
  return sum;
}
double sigma(double x) { return 1 / (1 + std::exp(-x)); }

template <class In>
on_heap<In> random_input() {
  on_heap<In> in;
  const auto fill = [](auto& self, auto& part) -> void {
    if constexpr (requires { part.data(); })
      part = *random_tensor<std::remove_reference_t<decltype(part)>>();
    else
      std::apply([&](auto&... parts) { (self(self, parts), ...); }, part);
  };
  fill(fill, *in);
  return in;
}

template <class In, class Op>
void check_step(double tolerance) {
  check_agreement(*random_input<In>(), tolerance, Op());
}

template <class T, std::size_t Inputs, std::size_t Hidden>
void check_all(double tolerance) {
  using x = tensor<T, Inputs>;
  using h = tensor<T, Hidden>;
  CAPTURE(Hidden);
  check_step<std::tuple<x, h>, gru_op<Hidden>>(tolerance);
  check_step<std::tuple<x, h>, gru_op<Hidden, linear_before_reset>>(tolerance);
  check_step<std::tuple<x, h, h>, lstm_op<Hidden>>(tolerance);
  check_step<std::tuple<x, std::tuple<h, h>>, lstm_op<Hidden, peepholes>>(tolerance);
}

}  // namespace

TEST_CASE("gru is what ONNX says, gates in the order update, reset, hidden") {
  using x_type = tensor<float, 3>;
  using h_type = tensor<float, 5>;
  const auto check = [](auto op, bool behind) {
    random_parameters parameters;
    parameters.add<std::tuple<x_type, h_type>, decltype(op)>();
    const auto in = random_input<std::tuple<x_type, h_type>>();
    const auto& [x, h] = *in;
    const auto* w = static_cast<const float*>(parameters.all()[0]);
    const auto* r = static_cast<const float*>(parameters.all()[1]);
    const auto* b = static_cast<const float*>(parameters.all()[2]);
    const auto wb = [&](std::size_t g, std::size_t u) { return static_cast<double>(b[g * 5 + u]); };
    const auto rb = [&](std::size_t g, std::size_t u) { return static_cast<double>(b[(3 + g) * 5 + u]); };
    const auto gate = [&](std::size_t g, std::size_t u) {
      return sigma(weighed<5>(w, g, u, x) + weighed<5>(r, g, u, h) + wb(g, u) + rb(g, u));
    };
    tensor<double, 5> kept;
    for (std::size_t u = 0; u < 5; ++u) kept[u] = gate(1, u) * static_cast<double>(h[u]);
    const auto out = by_one_kernel<reference>(*in, parameters.all(), op);
    for (std::size_t u = 0; u < 5; ++u) {
      const double of_state =
          behind ? gate(1, u) * (weighed<5>(r, 2, u, h) + rb(2, u)) : weighed<5>(r, 2, u, kept) + rb(2, u);
      const double made = std::tanh(weighed<5>(w, 2, u, x) + wb(2, u) + of_state);
      const double z = gate(0, u);
      CHECK(static_cast<double>((*out)[u]) ==
            doctest::Approx((1 - z) * made + z * static_cast<double>(h[u])).epsilon(1e-6));
    }
  };
  check(gru_op<5>(), false);
  check(gru_op<5, linear_before_reset>(), true);
}

TEST_CASE("lstm is what ONNX says, gates in the order input, output, forget, cell") {
  using x_type = tensor<float, 4>;
  using h_type = tensor<float, 6>;
  using in_type = std::tuple<x_type, h_type, h_type>;
  using op = lstm_op<6, peepholes>;
  random_parameters parameters;
  parameters.add<in_type, op>();
  const auto in = random_input<in_type>();
  const auto& [x, h, c] = *in;
  const auto* w = static_cast<const float*>(parameters.all()[0]);
  const auto* r = static_cast<const float*>(parameters.all()[1]);
  const auto* b = static_cast<const float*>(parameters.all()[2]);
  const auto* p = static_cast<const float*>(parameters.all()[3]);
  const auto out = by_one_kernel<reference>(*in, parameters.all(), op());
  for (std::size_t u = 0; u < 6; ++u) {
    const auto sum = [&](std::size_t g) {
      return weighed<6>(w, g, u, x) + weighed<6>(r, g, u, h) + static_cast<double>(b[g * 6 + u]) +
             static_cast<double>(b[(4 + g) * 6 + u]);
    };
    const auto see = [&](std::size_t g, double cell) { return static_cast<double>(p[g * 6 + u]) * cell; };
    const double before = static_cast<double>(c[u]);
    const double i = sigma(sum(0) + see(0, before)), f = sigma(sum(2) + see(2, before));
    const double cell = f * before + i * std::tanh(sum(3));
    const double o = sigma(sum(1) + see(1, cell));
    CHECK(static_cast<double>(std::get<0>(*out)[u]) == doctest::Approx(o * std::tanh(cell)).epsilon(1e-6));
    CHECK(static_cast<double>(std::get<1>(*out)[u]) == doctest::Approx(cell).epsilon(1e-6));
  }
}

TEST_CASE("steps of any size agree with their definition") {
  check_all<float, 3, 1>(2e-6);
  check_all<float, 5, 8>(2e-6);
  check_all<float, 40, 17>(4e-6);
  check_all<float, 33, 48>(8e-6);
  check_all<float, 64, 100>(1e-5);
  check_all<double, 7, 19>(1e-13);
  check_step<std::tuple<tensor<float, 9>, tensor<float, 33>>, gru_op<33, no_bias>>(4e-6);
  check_step<std::tuple<tensor<float, 9>, tensor<float, 33>, tensor<float, 33>>, lstm_op<33, no_bias, peepholes>>(4e-6);
}

TEST_CASE("gates that are far beyond what they tell apart are open or shut") {
  using in_type = std::tuple<tensor<float, 2>, tensor<float, 20>>;
  auto in = random_input<in_type>();
  std::get<0>(*in) = {4e4f, -4e4f};
  check_agreement(*in, 1e-5, gru_op<20>());
  check_agreement(*in, 1e-5, gru_op<20, linear_before_reset>());
  std::get<0>(*in)[0] = not_a_number;
  check_agreement(*in, 0, gru_op<20>());
}

static_assert(!op_takes<gru_op<4>, std::tuple<tensor<float, 3>, tensor<float, 5>>>);
static_assert(!op_takes<gru_op<4>, std::tuple<tensor<double, 3>, tensor<float, 4>>>);
static_assert(!op_takes<gru_op<4>, std::tuple<tensor<float, 1, 3>, tensor<float, 4>>>);
static_assert(!op_takes<lstm_op<4>, std::tuple<tensor<float, 3>, tensor<float, 4>>>);
