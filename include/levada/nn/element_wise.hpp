// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/element_wise.hpp: functions of one element in the kernel language: what computes and fuses a
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

struct sigmoid_of {
  static constexpr std::string_view kind = "sigmoid";
  constexpr auto operator()(auto x) const { return sigmoid(x); }
};
struct tanh_of {
  static constexpr std::string_view kind = "tanh";
  constexpr auto operator()(auto x) const { return tanh(x); }
};
struct erf_of {
  static constexpr std::string_view kind = "erf";
  constexpr auto operator()(auto x) const { return erf(x); }
};
struct exp_of {
  static constexpr std::string_view kind = "exp";
  constexpr auto operator()(auto x) const { return exp(x); }
};
struct log_of {
  static constexpr std::string_view kind = "log";
  constexpr auto operator()(auto x) const { return log(x); }
};
struct sqrt_of {
  static constexpr std::string_view kind = "sqrt";
  constexpr auto operator()(auto x) const { return sqrt(x); }
};
struct abs_of {
  static constexpr std::string_view kind = "abs";
  constexpr auto operator()(auto x) const { return abs(x); }
};
struct negative_of {
  static constexpr std::string_view kind = "neg";
  constexpr auto operator()(auto x) const { return -x; }
};
struct hard_swish_of {
  static constexpr std::string_view kind = "hard_swish";
  constexpr auto operator()(auto x) const { return x * max(min(x * (1.0f / 6.0f) + 0.5f, 1.0f), 0.0f); }
};
struct silu_of {
  static constexpr std::string_view kind = "silu";
  constexpr auto operator()(auto x) const { return x * sigmoid(x); }
};
struct gelu_of {
  static constexpr std::string_view kind = "gelu";
  constexpr auto operator()(auto x) const { return x * 0.5f * (1.0f + erf(x * 0.70710678f)); }
};
struct softplus_of {
  static constexpr std::string_view kind = "softplus";
  constexpr auto operator()(auto x) const { return max(x, 0.0f) + log_of_one_plus(exp(-abs(x))); }
};
struct leaky_relu_of {
  static constexpr std::string_view kind = "leaky_relu";
  uniform<float> alpha;
  constexpr auto operator()(auto x) const { return select(x < 0, x * alpha, x); }
};
struct clip_between {
  static constexpr std::string_view kind = "clip";
  uniform<float> low, high;
  constexpr auto operator()(auto x) const { return min(max(x, low), high); }
};
struct hard_sigmoid_of {
  static constexpr std::string_view kind = "hard_sigmoid";
  uniform<float> alpha, beta;
  constexpr auto operator()(auto x) const { return max(min(x * alpha + beta, 1.0f), 0.0f); }
};
struct elu_of {
  static constexpr std::string_view kind = "elu";
  uniform<float> alpha;
  constexpr auto operator()(auto x) const { return select(x < 0, exp_minus_one(min(x, 0.0f)) * alpha, x); }
};

struct selu_of {
  static constexpr std::string_view kind = "selu";
  uniform<float> alpha, gamma;
  constexpr auto operator()(auto x) const { return select(x < 0, exp_minus_one(min(x, 0.0f)) * alpha, x) * gamma; }
};
struct celu_of {
  static constexpr std::string_view kind = "celu";
  uniform<float> alpha;
  constexpr auto operator()(auto x) const { return select(x < 0, exp_minus_one(min(x, 0.0f) / alpha) * alpha, x); }
};
struct mish_of {
  static constexpr std::string_view kind = "mish";
  constexpr auto operator()(auto x) const { return x * tanh(softplus_of()(x)); }
};
struct gelu_by_tanh {
  static constexpr std::string_view kind = "gelu_tanh";
  constexpr auto operator()(auto x) const {
    return x * 0.5f * (1.0f + tanh((x + x * x * x * 0.044715f) * 0.79788456f));
  }
};
struct shrunk_by {
  static constexpr std::string_view kind = "shrink";
  uniform<float> lambda, bias;
  constexpr auto operator()(auto x) const { return select(-x > lambda, x + bias, select(x <= lambda, 0.0f, x - bias)); }
};
struct softsign_of {
  static constexpr std::string_view kind = "softsign";
  constexpr auto operator()(auto x) const { return x / (abs(x) + 1.0f); }
};
struct thresholded_relu_of {
  static constexpr std::string_view kind = "thresholded_relu";
  uniform<float> alpha;
  constexpr auto operator()(auto x) const { return select(x <= alpha, 0.0f, x); }
};

}  // namespace detail

namespace nn {

/// ONNX's function of the same name, of float or double.
inline constexpr transform_stage<"sigmoid", detail::sigmoid_of> sigmoid{};
inline constexpr transform_stage<"tanh", detail::tanh_of> tanh{};
inline constexpr transform_stage<"erf", detail::erf_of> erf{};
inline constexpr transform_stage<"exp", detail::exp_of> exp{};
inline constexpr transform_stage<"log", detail::log_of> log{};
inline constexpr transform_stage<"sqrt", detail::sqrt_of> sqrt{};
inline constexpr transform_stage<"softplus", detail::softplus_of> softplus{};

/// Of numbers of any type.
inline constexpr transform_stage<"abs", detail::abs_of> abs{};
inline constexpr transform_stage<"neg", detail::negative_of> neg{};

/// x max(0, min(1, x / 6 + 1 / 2)).
inline constexpr transform_stage<"hard_swish", detail::hard_swish_of> hard_swish{};
/// x sigmoid(x); NaN at -infinity.
inline constexpr transform_stage<"silu", detail::silu_of> silu{};
/// x (1 + erf(x / sqrt(2))) / 2; NaN at -infinity.
inline constexpr transform_stage<"gelu", detail::gelu_of> gelu{};

/// alpha x below 0, x elsewhere.
constexpr auto leaky_relu(float alpha = 0.01f) { return transform<"leaky_relu">(detail::leaky_relu_of{{alpha}}); }
/// min(max(x, low), high).
constexpr auto clip(float low, float high) { return transform<"clip">(detail::clip_between{{low}, {high}}); }
/// max(0, min(1, alpha x + beta)).
constexpr auto hard_sigmoid(float alpha = 0.2f, float beta = 0.5f) {
  return transform<"hard_sigmoid">(detail::hard_sigmoid_of{{alpha}, {beta}});
}
/// alpha (exp(x) - 1) below 0, x elsewhere.
constexpr auto elu(float alpha = 1.0f) { return transform<"elu">(detail::elu_of{{alpha}}); }

/// gamma alpha (exp(x) - 1) below 0, gamma x elsewhere.
constexpr auto selu(float alpha = 1.67326319f, float gamma = 1.05070102f) {
  return transform<"selu">(detail::selu_of{{alpha}, {gamma}});
}
/// alpha (exp(x / alpha) - 1) below 0, x elsewhere.
constexpr auto celu(float alpha = 1.0f) { return transform<"celu">(detail::celu_of{{alpha}}); }
/// x tanh(softplus(x)); NaN at -infinity.
inline constexpr transform_stage<"mish", detail::mish_of> mish{};
/// gelu by the hyperbolic tangent, x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2; NaN at -infinity.
inline constexpr transform_stage<"gelu_tanh", detail::gelu_by_tanh> gelu_tanh{};
/// x + bias below -lambda, x - bias above lambda, 0 between.
constexpr auto shrink(float lambda = 0.5f, float bias = 0) {
  return transform<"shrink">(detail::shrunk_by{{lambda}, {bias}});
}
/// x / (1 + |x|); NaN at infinities.
inline constexpr transform_stage<"softsign", detail::softsign_of> softsign{};
/// x above alpha, 0 elsewhere.
constexpr auto thresholded_relu(float alpha = 1.0f) {
  return transform<"thresholded_relu">(detail::thresholded_relu_of{{alpha}});
}

}  // namespace nn
}  // namespace levada
