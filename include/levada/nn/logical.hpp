// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/logical.hpp: functions of truth values, of bits, and remainders (ONNX Not, And, Or, Xor, IsNaN, IsInf, Mod,
// BitShift, BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot).

#include <limits>

#include <levada/nn/broadcast.hpp>
#include <levada/nn/number.hpp>

namespace levada {

namespace detail {

struct is_not {
  static constexpr std::string_view kind = "logical_not";
  constexpr auto operator()(auto x) const { return x == 0; }
};
struct is_not_a_number {
  static constexpr std::string_view kind = "is_nan";
  constexpr auto operator()(auto x) const { return x != x; }
};
struct is_infinite {
  static constexpr std::string_view kind = "is_inf";
  uniform<float> negative, positive;  // NaN, which nothing is equal to, for one that is not asked for
  constexpr auto operator()(auto x) const { return (x == negative) | (x == positive); }
};
struct are_both {
  static constexpr std::string_view kind = "logical_and";
  constexpr auto operator()(auto a, auto b) const { return (a != 0) & (b != 0); }
};
struct is_either {
  static constexpr std::string_view kind = "logical_or";
  constexpr auto operator()(auto a, auto b) const { return (a != 0) | (b != 0); }
};
struct is_one_alone {
  static constexpr std::string_view kind = "logical_xor";
  constexpr auto operator()(auto a, auto b) const { return (a != 0) ^ (b != 0); }
};

/// The rest of a quotient that is rounded towards zero; of floating numbers as near as the quotient is.
template <class V>
constexpr auto rest_of_quotient(const V& a, const V& b) {
  if constexpr (std::is_floating_point_v<typename element_in<V>::type>) {
    const auto rest = a - trunc(a / b) * b;
    // Where the quotient is rounded up to an integer, the rest has the other sign.
    return select(((rest < 0) ^ (a < 0)) & (rest != 0), rest + select((a < 0) ^ (b < 0), -b, b), rest);
  } else {
    return a % b;
  }
}
struct remainder_like_dividend {
  static constexpr std::string_view kind = "fmod";
  constexpr auto operator()(auto a, auto b) const { return rest_of_quotient(a, b); }
};
struct remainder_like_divisor {
  static constexpr std::string_view kind = "mod";
  constexpr auto operator()(auto a, auto b) const {
    const auto rest = rest_of_quotient(a, b);
    return select(((rest < 0) ^ (b < 0)) & (rest != 0), rest + b, rest);
  }
};

struct bits_in_both {
  static constexpr std::string_view kind = "bit_and";
  constexpr auto operator()(auto a, auto b) const { return a & b; }
};
struct bits_in_either {
  static constexpr std::string_view kind = "bit_or";
  constexpr auto operator()(auto a, auto b) const { return a | b; }
};
struct bits_in_one_alone {
  static constexpr std::string_view kind = "bit_xor";
  constexpr auto operator()(auto a, auto b) const { return a ^ b; }
};
struct bits_turned {
  static constexpr std::string_view kind = "bit_not";
  constexpr auto operator()(auto x) const { return x ^ -1; }
};
struct bits_to_the_left {
  static constexpr std::string_view kind = "shift_left";
  constexpr auto operator()(auto a, auto b) const { return a << b; }
};
struct bits_to_the_right {
  static constexpr std::string_view kind = "shift_right";
  constexpr auto operator()(auto a, auto b) const { return a >> b; }
};

}  // namespace detail

namespace nn {

/// Of bool, or of numbers, of which all but 0 are true. They give bool.
inline constexpr transform_stage<"logical_not", detail::is_not> logical_not{};
inline constexpr broadcast_stage<"logical_and", detail::are_both> logical_and{};
inline constexpr broadcast_stage<"logical_or", detail::is_either> logical_or{};
inline constexpr broadcast_stage<"logical_xor", detail::is_one_alone> logical_xor{};

inline constexpr transform_stage<"is_nan", detail::is_not_a_number> is_nan{};
/// Of float or double; infinities of one sign alone where the other is not asked for.
constexpr auto is_inf(bool negative = true, bool positive = true) {
  using limits = std::numeric_limits<float>;
  return transform<"is_inf">(detail::is_infinite{{negative ? -limits::infinity() : limits::quiet_NaN()},
                                                 {positive ? limits::infinity() : limits::quiet_NaN()}});
}

/// The rest of a / b with the sign of b, and with that of a; integers or floating numbers.
inline constexpr broadcast_stage<"mod", detail::remainder_like_divisor> mod{};
inline constexpr broadcast_stage<"fmod", detail::remainder_like_dividend> fmod{};

/// Of integers, those narrower than int as int.
inline constexpr broadcast_stage<"bit_and", detail::bits_in_both> bit_and{};
inline constexpr broadcast_stage<"bit_or", detail::bits_in_either> bit_or{};
inline constexpr broadcast_stage<"bit_xor", detail::bits_in_one_alone> bit_xor{};
inline constexpr transform_stage<"bit_not", detail::bits_turned> bit_not{};
inline constexpr broadcast_stage<"shift_left", detail::bits_to_the_left> shift_left{};
inline constexpr broadcast_stage<"shift_right", detail::bits_to_the_right> shift_right{};

}  // namespace nn
}  // namespace levada
