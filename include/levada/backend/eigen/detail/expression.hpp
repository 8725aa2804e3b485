// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eigen/detail/expression.hpp: element-wise functions as Eigen's array expressions, which are evaluated when
// they are assigned: as many as there are become one loop.

#include <string_view>
#include <type_traits>

#include <levada/backend/detail/one_of.hpp>
#include <levada/backend/eigen/detail/library.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/broadcast.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/nn/elementary.hpp>
#include <levada/nn/number.hpp>

namespace levada::detail {

/// The larger and the smaller, be it of an expression and a number; a NaN stays.
template <class Op>
auto bounded_by(const auto& x, const auto& bound) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(bound)>, float>)
    return x.binaryExpr(Eigen::ArrayXf::Constant(x.size(), bound), Op());
  else
    return x.binaryExpr(bound, Op());
}
auto bounded_below(const auto& x, const auto& bound) {
  return bounded_by<Eigen::internal::scalar_max_op<float, float, Eigen::PropagateNaN>>(x, bound);
}
auto bounded_above(const auto& x, const auto& bound) {
  return bounded_by<Eigen::internal::scalar_min_op<float, float, Eigen::PropagateNaN>>(x, bound);
}

/// A number that a function holds.
template <class Number>
float held(const Number& number) {
  if constexpr (requires { number.value; })
    return static_cast<float>(number.value);
  else
    return static_cast<float>(number);
}

using relu_function = std::remove_cv_t<decltype(relu_op::function)>;

// By type, since a function holds its numbers.
inline auto expression(const relu_function&, const auto& x) { return bounded_below(x, 0.0f); }
inline auto expression(const sigmoid_of&, const auto& x) { return x.logistic(); }
inline auto expression(const tanh_of&, const auto& x) { return x.tanh(); }
inline auto expression(const exp_of&, const auto& x) { return x.exp(); }
inline auto expression(const log_of&, const auto& x) { return x.log(); }
inline auto expression(const sqrt_of&, const auto& x) { return x.sqrt(); }
inline auto expression(const abs_of&, const auto& x) { return x.abs(); }
inline auto expression(const negative_of&, const auto& x) { return -x; }
inline auto expression(const reciprocal_of&, const auto& x) { return x.inverse(); }
inline auto expression(const silu_of&, const auto& x) { return x * x.logistic(); }
inline auto expression(const hard_swish_of&, const auto& x) {
  return x * bounded_below(bounded_above(x * (1.0f / 6.0f) + 0.5f, 1.0f), 0.0f);
}
inline auto expression(const hard_sigmoid_of& f, const auto& x) {
  return bounded_below(bounded_above(x * held(f.alpha) + held(f.beta), 1.0f), 0.0f);
}
inline auto expression(const leaky_relu_of& f, const auto& x) {
  return bounded_below(x, 0.0f) + bounded_above(x, 0.0f) * held(f.alpha);
}
inline auto expression(const clip_between& f, const auto& x) {
  return bounded_above(bounded_below(x, held(f.low)), held(f.high));
}
template <class K>
auto expression(const offset_by<K>& f, const auto& x) {
  return x + held(f.k);
}
template <class K>
auto expression(const scaled_by<K>& f, const auto& x) {
  return x * held(f.k);
}
template <class K>
auto expression(const divided_by<K>& f, const auto& x) {
  return x / held(f.k);
}
template <class K>
auto expression(const number_minus_element<K>& f, const auto& x) {
  return held(f.k) - x;
}
template <class K>
auto expression(const not_below<K>& f, const auto& x) {
  return bounded_below(x, held(f.k));
}
template <class K>
auto expression(const not_above<K>& f, const auto& x) {
  return bounded_above(x, held(f.k));
}
inline auto expression(const sum_of_two&, const auto& a, const auto& b) { return a + b; }
inline auto expression(const difference_of&, const auto& a, const auto& b) { return a - b; }
inline auto expression(const product_of&, const auto& a, const auto& b) { return a * b; }
inline auto expression(const quotient_of&, const auto& a, const auto& b) { return a / b; }
inline auto expression(const largest_among&, const auto& a, const auto& b) { return bounded_below(a, b); }
inline auto expression(const smallest_among&, const auto& a, const auto& b) { return bounded_above(a, b); }
inline auto expression(const sloped&, const auto& x, const auto& slope) {
  return bounded_below(x, 0.0f) + bounded_above(x, 0.0f) * slope;
}

/// Their ops.
constexpr bool is_expression(std::string_view kind) {
  constexpr std::string_view kinds[] = {
      "relu",    "sigmoid",    "tanh",         "exp",  "log",    "sqrt",  "abs",       "neg",          "reciprocal",
      "silu",    "hard_swish", "hard_sigmoid", "clip", "offset", "scale", "divide_by", "number_minus", "at_least",
      "at_most", "leaky_relu", "add",          "sub",  "mul",    "div",   "max",       "min",          "prelu"};
  return is_one_of(kind, kinds);
}

/// A function called with expressions.
template <class F>
struct eigen_function {
  [[no_unique_address]] F function;

  auto operator()(const auto&... x) const { return expression(function, x...); }
};

}  // namespace levada::detail
