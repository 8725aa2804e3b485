// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/element_wise.hpp: functions of one element, each a lambda in the kernel language: what computes and fuses a
// `transform` computes and fuses these. Their accuracy is that of kernel/detail/math.hpp. NaN stays NaN.

#include <levada/nn/transform.hpp>

namespace levada {

namespace detail {

/// log(1 + x) and exp(x) - 1 without the loss of digits near 0 (Kahan: the error of 1 + x cancels in the quotient).
inline constexpr auto log_of_one_plus = [](const auto& x) {
  const auto u = 1.0f + x;
  return select(u == 1.0f, x, log(u) * (x / (u - 1.0f)));
};
inline constexpr auto exp_minus_one = [](const auto& x) {
  const auto u = exp(x);
  return select(u == 1.0f, x, select(u == 0.0f, -1.0f, (u - 1.0f) * (x / log(u))));
};

inline constexpr auto sigmoid_of = [](auto x) { return sigmoid(x); };
inline constexpr auto tanh_of = [](auto x) { return tanh(x); };
inline constexpr auto erf_of = [](auto x) { return erf(x); };
inline constexpr auto exp_of = [](auto x) { return exp(x); };
inline constexpr auto log_of = [](auto x) { return log(x); };
inline constexpr auto sqrt_of = [](auto x) { return sqrt(x); };
inline constexpr auto abs_of = [](auto x) { return abs(x); };
inline constexpr auto negative_of = [](auto x) { return -x; };
inline constexpr auto hard_swish_of = [](auto x) { return x * max(min(x * (1.0f / 6.0f) + 0.5f, 1.0f), 0.0f); };
inline constexpr auto silu_of = [](auto x) { return x * sigmoid(x); };
inline constexpr auto gelu_of = [](auto x) { return x * 0.5f * (1.0f + erf(x * 0.70710678f)); };
inline constexpr auto softplus_of = [](auto x) { return max(x, 0.0f) + log_of_one_plus(exp(-abs(x))); };

constexpr auto leaky_relu_of(float alpha) {
  return [a = uniform{alpha}](auto x) { return select(x < 0, x * a, x); };
}
constexpr auto clip_between(float low, float high) {
  return [l = uniform{low}, h = uniform{high}](auto x) { return min(max(x, l), h); };
}
constexpr auto hard_sigmoid_of(float alpha, float beta) {
  return [a = uniform{alpha}, b = uniform{beta}](auto x) { return max(min(x * a + b, 1.0f), 0.0f); };
}
constexpr auto elu_of(float alpha) {
  return [a = uniform{alpha}](auto x) { return select(x < 0, exp_minus_one(min(x, 0.0f)) * a, x); };
}

}  // namespace detail

namespace nn {

/// ONNX's function of the same name, of float or double.
inline constexpr auto sigmoid = transform<"sigmoid">(detail::sigmoid_of);
inline constexpr auto tanh = transform<"tanh">(detail::tanh_of);
inline constexpr auto erf = transform<"erf">(detail::erf_of);
inline constexpr auto exp = transform<"exp">(detail::exp_of);
inline constexpr auto log = transform<"log">(detail::log_of);
inline constexpr auto sqrt = transform<"sqrt">(detail::sqrt_of);
inline constexpr auto softplus = transform<"softplus">(detail::softplus_of);

/// Of numbers of any type.
inline constexpr auto abs = transform<"abs">(detail::abs_of);
inline constexpr auto neg = transform<"neg">(detail::negative_of);

/// x max(0, min(1, x / 6 + 1 / 2)).
inline constexpr auto hard_swish = transform<"hard_swish">(detail::hard_swish_of);
/// x sigmoid(x); NaN at -infinity.
inline constexpr auto silu = transform<"silu">(detail::silu_of);
/// x (1 + erf(x / sqrt(2))) / 2; NaN at -infinity.
inline constexpr auto gelu = transform<"gelu">(detail::gelu_of);

/// alpha x below 0, x elsewhere.
constexpr auto leaky_relu(float alpha = 0.01f) { return transform<"leaky_relu">(detail::leaky_relu_of(alpha)); }
/// min(max(x, low), high).
constexpr auto clip(float low, float high) { return transform<"clip">(detail::clip_between(low, high)); }
/// max(0, min(1, alpha x + beta)).
constexpr auto hard_sigmoid(float alpha = 0.2f, float beta = 0.5f) {
  return transform<"hard_sigmoid">(detail::hard_sigmoid_of(alpha, beta));
}
/// alpha (exp(x) - 1) below 0, x elsewhere.
constexpr auto elu(float alpha = 1.0f) { return transform<"elu">(detail::elu_of(alpha)); }

}  // namespace nn
}  // namespace levada
