// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/scalar.hpp: the machine whose values are one number each: of an invocation that runs alone, or the same
// for all lanes of a vector.

#include <bit>
#include <cmath>

#include <levada/kernel/detail/evaluate.hpp>
#include <levada/kernel/detail/math.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada {

struct scalar_machine {
  static constexpr std::size_t lanes = 1;

  template <class T>
  using representation = T;

  template <class T, class Like>
  static constexpr T literal(const auto&, T x) {
    return x;
  }
  template <class T, class Like>
  static constexpr T captured(const auto&, const uniform<T>& u) {
    return u.value;
  }
  template <class T, class Other>
  static constexpr T from(T x) {
    return x;
  }

  template <ir::opcode Op, class Result, class A>
  static constexpr Result apply(A a) {
    using enum ir::opcode;
    if constexpr (Op == negate) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) ^ 0x80000000u);
    if constexpr (Op == abs) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) & 0x7fffffffu);
    if constexpr (Op == floor) return ir::detail::floor(a);
    if constexpr (Op == round_even) return ir::detail::round_even(a);
    if constexpr (Op == sqrt) return std::sqrt(a);
    if constexpr (Op == bit_not && std::is_same_v<A, bool>) return !a;
    if constexpr (Op == bit_not && !std::is_same_v<A, bool>) return ~a;
    if constexpr (Op == convert && std::is_same_v<Result, float>) return static_cast<float>(a);
    if constexpr (Op == convert && !std::is_same_v<Result, float>) return ir::detail::truncate(a);
    if constexpr (Op == bitcast) return std::bit_cast<Result>(a);
  }
  template <ir::opcode Op, class Result, class A>
  static constexpr Result apply(A a, A b) {
    using enum ir::opcode;
    // Integers wrap.
    using W = std::conditional_t<std::is_same_v<A, std::int32_t>, std::uint32_t, A>;
    const W x = static_cast<W>(a), y = static_cast<W>(b);
    if constexpr (Op == add) return static_cast<Result>(x + y);
    if constexpr (Op == sub) return static_cast<Result>(x - y);
    if constexpr (Op == mul) return static_cast<Result>(x * y);
    if constexpr (Op == div) return a / b;
    if constexpr (Op == min) return b < a ? b : a;
    if constexpr (Op == max) return a < b ? b : a;
    if constexpr (Op == equal) return a == b;
    if constexpr (Op == less) return a < b;
    if constexpr (Op == less_equal) return a <= b;
    if constexpr (Op == bit_and) return static_cast<Result>(a & b);
    if constexpr (Op == bit_or) return static_cast<Result>(a | b);
    if constexpr (Op == bit_xor) return static_cast<Result>(a ^ b);
    if constexpr (Op == shift_left) return static_cast<Result>(x << (y & 31u));
    if constexpr (Op == shift_right) return a >> (y & 31u);
  }
  template <ir::opcode Op, class Result>
  static constexpr Result apply(bool condition, Result a, Result b) {
    static_assert(Op == ir::opcode::select);
    return condition ? a : b;
  }
  template <ir::opcode Op, class T>
  static constexpr T shift(T a, int amount) {
    return apply<Op, T>(a, static_cast<T>(amount));
  }
};

/// One number of a kernel that runs on the CPU.
template <class T>
using scalar_value = kernel_value<T, scalar_machine>;

}  // namespace levada
