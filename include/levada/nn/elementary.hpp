// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/elementary.hpp: the elementary functions of one element: quotient, rounding and sign, of angles and hyperbolic
// (ONNX Reciprocal, Floor, Ceil, Round, Sign, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh). Of
// float in the kernel language, of double those of the C library. NaN stays NaN.

#include <levada/nn/element_wise.hpp>

namespace levada {

namespace kernel_detail {

/// (atan(x)/x - 1)/x^2 on |x| <= tan(pi/8), within 1e-9 of atan(x), and (asin(x)/x - 1)/x^2 on |x| <= 1/2, within 5e-9.
template <class M>
constexpr kernel_value<float, M> near_arc_tangent(const kernel_value<float, M>& x) {
  const auto x2 = x * x;
  return x + x * x2 * polynomial(x2, -0.33333316f, 0.1999849f, -0.14243849f, 0.105960035f, -0.06083458f);
}
template <class M>
constexpr kernel_value<float, M> near_arc_sine(const kernel_value<float, M>& x) {
  const auto x2 = x * x;
  return x + x * x2 * polynomial(x2, 0.16666754f, 0.07495242f, 0.045477096f, 0.024147618f, 0.042218534f);
}

inline constexpr float half_turn = 3.14159265f, quarter_turn = 1.57079633f;

}  // namespace kernel_detail

/// Within 3 ulp where C's result is a normal number; NaN outside of their domains.
template <class M>
constexpr kernel_value<float, M> tan(const kernel_value<float, M>& x) {
  return sin(x) / cos(x);
}
template <class M>
constexpr kernel_value<float, M> atan(const kernel_value<float, M>& x) {
  const auto a = abs(x);
  const auto steep = a > 2.41421356f, middle = a > 0.41421356f;
  const auto reduced = select(steep, -1.0f / a, select(middle, (a - 1.0f) / (a + 1.0f), a));
  const auto begin =
      select(steep, kernel_detail::quarter_turn, select(middle, 0.5f * kernel_detail::quarter_turn, 0.0f));
  return copysign(begin + kernel_detail::near_arc_tangent(reduced), x);
}
template <class M>
constexpr kernel_value<float, M> asin(const kernel_value<float, M>& x) {
  const auto a = abs(x);
  const auto far = kernel_detail::quarter_turn - 2.0f * kernel_detail::near_arc_sine(sqrt((1.0f - a) * 0.5f));
  return select(a <= 0.5f, kernel_detail::near_arc_sine(x), copysign(far, x));
}
template <class M>
constexpr kernel_value<float, M> acos(const kernel_value<float, M>& x) {
  const auto a = abs(x);
  const auto edge = 2.0f * kernel_detail::near_arc_sine(sqrt((1.0f - a) * 0.5f));
  const auto far = select(x < 0.0f, kernel_detail::half_turn - edge, edge);
  return select(a <= 0.5f, kernel_detail::quarter_turn - kernel_detail::near_arc_sine(x), far);
}
template <class M>
constexpr kernel_value<float, M> sinh(const kernel_value<float, M>& x) {
  const auto a = abs(x);
  const auto e = detail::exp_minus_one(min(a, 80.0f)), root = exp(a * 0.5f);
  return copysign(select(a < 80.0f, (e + e / (e + 1.0f)) * 0.5f, root * 0.5f * root), x);
}
template <class M>
constexpr kernel_value<float, M> cosh(const kernel_value<float, M>& x) {
  const auto root = exp(abs(x) * 0.5f);
  return root * 0.5f * root + 0.5f / (root * root);
}
template <class M>
constexpr kernel_value<float, M> asinh(const kernel_value<float, M>& x) {
  const auto a = abs(x), b = min(a, 1e9f);
  const auto near = detail::log_of_one_plus(b + b * b / (1.0f + sqrt(b * b + 1.0f)));
  return copysign(select(a <= 1e9f, near, log(a) + 0.6931472f), x);
}
template <class M>
constexpr kernel_value<float, M> acosh(const kernel_value<float, M>& x) {
  const auto beyond = x - 1.0f, b = min(beyond, 1e9f);
  const auto near = detail::log_of_one_plus(b + sqrt(b * (b + 2.0f)));
  return select(beyond <= 1e9f, near, log(x) + 0.6931472f);
}
template <class M>
constexpr kernel_value<float, M> atanh(const kernel_value<float, M>& x) {
  const auto a = abs(x);
  const auto inside = 0.5f * detail::log_of_one_plus(2.0f * a / (1.0f - a));
  return copysign(select(a == 1.0f, kernel_detail::infinity, inside), x);
}

namespace detail {

struct reciprocal_of {
  static constexpr std::string_view kind = "reciprocal";
  constexpr auto operator()(auto x) const { return 1.0f / x; }
};
struct floor_of {
  static constexpr std::string_view kind = "floor";
  constexpr auto operator()(auto x) const { return floor(x); }
};
struct ceil_of {
  static constexpr std::string_view kind = "ceil";
  constexpr auto operator()(auto x) const { return ceil(x); }
};
struct nearest_of {
  static constexpr std::string_view kind = "round";
  constexpr auto operator()(auto x) const { return round(x); }
};
struct sign_of {
  static constexpr std::string_view kind = "sign";
  constexpr auto operator()(auto x) const { return select(x > 0, 1, select(x < 0, -1, x)); }
};
struct sine_of {
  static constexpr std::string_view kind = "sin";
  constexpr auto operator()(auto x) const { return sin(x); }
};
struct cosine_of {
  static constexpr std::string_view kind = "cos";
  constexpr auto operator()(auto x) const { return cos(x); }
};
struct tangent_of {
  static constexpr std::string_view kind = "tan";
  constexpr auto operator()(auto x) const { return tan(x); }
};
struct arc_sine_of {
  static constexpr std::string_view kind = "asin";
  constexpr auto operator()(auto x) const { return asin(x); }
};
struct arc_cosine_of {
  static constexpr std::string_view kind = "acos";
  constexpr auto operator()(auto x) const { return acos(x); }
};
struct arc_tangent_of {
  static constexpr std::string_view kind = "atan";
  constexpr auto operator()(auto x) const { return atan(x); }
};
struct hyperbolic_sine_of {
  static constexpr std::string_view kind = "sinh";
  constexpr auto operator()(auto x) const { return sinh(x); }
};
struct hyperbolic_cosine_of {
  static constexpr std::string_view kind = "cosh";
  constexpr auto operator()(auto x) const { return cosh(x); }
};
struct area_sine_of {
  static constexpr std::string_view kind = "asinh";
  constexpr auto operator()(auto x) const { return asinh(x); }
};
struct area_cosine_of {
  static constexpr std::string_view kind = "acosh";
  constexpr auto operator()(auto x) const { return acosh(x); }
};
struct area_tangent_of {
  static constexpr std::string_view kind = "atanh";
  constexpr auto operator()(auto x) const { return atanh(x); }
};

}  // namespace detail

namespace nn {

/// 1 / x.
inline constexpr transform_stage<"reciprocal", detail::reciprocal_of> reciprocal{};
/// To an integer: below, above, the nearest, halves to the even one.
inline constexpr transform_stage<"floor", detail::floor_of> floor{};
inline constexpr transform_stage<"ceil", detail::ceil_of> ceil{};
inline constexpr transform_stage<"round", detail::nearest_of> round{};
/// -1, 0 or 1; of numbers of any type.
inline constexpr transform_stage<"sign", detail::sign_of> sign{};

/// Of angles in radians; of float NaN beyond 100000, where it no longer says an angle.
inline constexpr transform_stage<"sin", detail::sine_of> sin{};
inline constexpr transform_stage<"cos", detail::cosine_of> cos{};
inline constexpr transform_stage<"tan", detail::tangent_of> tan{};
inline constexpr transform_stage<"asin", detail::arc_sine_of> asin{};
inline constexpr transform_stage<"acos", detail::arc_cosine_of> acos{};
inline constexpr transform_stage<"atan", detail::arc_tangent_of> atan{};

inline constexpr transform_stage<"sinh", detail::hyperbolic_sine_of> sinh{};
inline constexpr transform_stage<"cosh", detail::hyperbolic_cosine_of> cosh{};
inline constexpr transform_stage<"asinh", detail::area_sine_of> asinh{};
inline constexpr transform_stage<"acosh", detail::area_cosine_of> acosh{};
inline constexpr transform_stage<"atanh", detail::area_tangent_of> atanh{};

}  // namespace nn
}  // namespace levada
