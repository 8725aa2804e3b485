// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/operators.hpp: the operators of a kernel's values, and the choice between two of them.

#include <cstdint>
#include <type_traits>

#include <levada/kernel/detail/ir.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada {
namespace kernel_detail {

// The operators stand beside the value, so that they are found for values alone: in levada each `==` and `+` of the
// library would consider them.

// ---- arithmetic and comparisons ----

// One instruction. Of two values that are alike it is written at once: every call costs while compiling.
#define LEVADA_KERNEL_INSTRUCTION(symbol, op, ...)                                                         \
  template <class A, class B>                                                                              \
    requires kernel_detail::operands<A, B>                                                                 \
  constexpr auto operator symbol(const A& left, const B& right) {                                          \
    if constexpr (kernel_detail::is_beside_number<op, A, B>) {                                             \
      using T [[maybe_unused]] = typename A::element;                                                      \
      return kernel_value<__VA_ARGS__, typename A::machine>{                                               \
          A::machine::template apply<op, __VA_ARGS__>(left.rep, kernel_detail::lift<T>(left, right).rep)}; \
    } else if constexpr (kernel_detail::are_alike<op, A, B>) {                                             \
      using T [[maybe_unused]] = typename A::element;                                                      \
      return kernel_value<__VA_ARGS__, typename A::machine>{                                               \
          A::machine::template apply<op, __VA_ARGS__>(left.rep, right.rep)};                               \
    } else {                                                                                               \
      return kernel_detail::binary(left, right, [](const auto& a, const auto& b) {                         \
        using T [[maybe_unused]] = kernel_detail::element_t<std::remove_cvref_t<decltype(a)>>;             \
        return kernel_detail::apply<op, __VA_ARGS__>(a, b);                                                \
      });                                                                                                  \
    }                                                                                                      \
  }
#define LEVADA_KERNEL_OPERATOR(symbol, ...)                                                  \
  template <class A, class B>                                                                \
    requires kernel_detail::operands<A, B>                                                   \
  constexpr auto operator symbol(const A& left, const B& right) {                            \
    return kernel_detail::binary(left, right, [](const auto& a, const auto& b) {             \
      using T [[maybe_unused]] = kernel_detail::element_t<std::remove_cvref_t<decltype(a)>>; \
      __VA_ARGS__                                                                            \
    });                                                                                      \
  }

LEVADA_KERNEL_INSTRUCTION(+, ir::opcode::add, T)
LEVADA_KERNEL_INSTRUCTION(-, ir::opcode::sub, T)
LEVADA_KERNEL_INSTRUCTION(*, ir::opcode::mul, T)
// By zero an integer gives 0, and the smallest int32 by -1 itself, as wrapping would have it.
LEVADA_KERNEL_OPERATOR(
    /,
    if constexpr (std::is_same_v<T, float>) {
      return kernel_detail::apply<ir::opcode::div, T>(a, b);
    } else if constexpr (std::is_same_v<T, std::uint32_t>) {
      return select(b == 0, 0, kernel_detail::apply<ir::opcode::div, T>(a, select(b == 0, 1, b)));
    } else {
      const auto harmless = select((b == 0) | (b == -1), 1, b);
      return select(b == 0, 0, select(b == -1, -a, kernel_detail::apply<ir::opcode::div, T>(a, harmless)));
    })
LEVADA_KERNEL_OPERATOR(%, static_assert(!std::is_same_v<T, float>, "% is of integers: a float has no remainder here");
                       return a - a / b * b;)
LEVADA_KERNEL_INSTRUCTION(==, ir::opcode::equal, bool)
LEVADA_KERNEL_OPERATOR(!=, return !kernel_detail::apply<ir::opcode::equal, bool>(a, b);)
LEVADA_KERNEL_INSTRUCTION(<, ir::opcode::less, bool)
LEVADA_KERNEL_OPERATOR(>, return kernel_detail::apply<ir::opcode::less, bool>(b, a);)
LEVADA_KERNEL_INSTRUCTION(<=, ir::opcode::less_equal, bool)
LEVADA_KERNEL_OPERATOR(>=, return kernel_detail::apply<ir::opcode::less_equal, bool>(b, a);)

// ---- bits, of integers and booleans ----

LEVADA_KERNEL_OPERATOR(&, static_assert(!std::is_same_v<T, float>, "bits of a float: bit_cast_to_uint(x) gives them");
                       return kernel_detail::apply<ir::opcode::bit_and, T>(a, b);)
LEVADA_KERNEL_OPERATOR(|, static_assert(!std::is_same_v<T, float>, "bits of a float: bit_cast_to_uint(x) gives them");
                       return kernel_detail::apply<ir::opcode::bit_or, T>(a, b);)
LEVADA_KERNEL_OPERATOR(^, static_assert(!std::is_same_v<T, float>, "bits of a float: bit_cast_to_uint(x) gives them");
                       return kernel_detail::apply<ir::opcode::bit_xor, T>(a, b);)
#undef LEVADA_KERNEL_OPERATOR
#undef LEVADA_KERNEL_INSTRUCTION

/// Both sides are computed: there is nothing to be skipped.
template <class M, class N>
constexpr auto operator&&(const kernel_value<bool, M>& a, const kernel_value<bool, N>& b) {
  return a & b;
}
template <class M, class N>
constexpr auto operator||(const kernel_value<bool, M>& a, const kernel_value<bool, N>& b) {
  return a | b;
}
template <class M>
constexpr auto operator!(const kernel_value<bool, M>& a) {
  return kernel_detail::apply<ir::opcode::bit_not, bool>(a);
}
template <class T, class M>
  requires(std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::uint32_t>)
constexpr auto operator~(const kernel_value<T, M>& a) {
  return kernel_detail::apply<ir::opcode::bit_not, T>(a);
}

template <ir::opcode Op, class T, class M, class N>
constexpr auto shift(const kernel_value<T, M>& a, const N& amount) {
  if constexpr (number<N>) {
    using C = typename computing<Op, M>::machine;
    if constexpr (std::is_same_v<C, M>) {
      return kernel_value<T, M>{M::template shift<Op, T>(a.rep, static_cast<int>(amount) & 31)};
    } else {
      return kernel_value<T, C>{C::template shift<Op, T>(C::template from<T, M>(a.rep), static_cast<int>(amount) & 31)};
    }
  } else {
    return apply<Op, T>(a, lift<T>(a, amount) & 31);
  }
}

/// Shifts an int32 or uint32 by the amount modulo 32. To the right an int32 brings in its sign.
template <class T, class M, class N>
  requires(kernel_detail::operand<N> && (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::uint32_t>))
constexpr auto operator<<(const kernel_value<T, M>& a, const N& amount) {
  return kernel_detail::shift<ir::opcode::shift_left>(a, amount);
}
template <class T, class M, class N>
  requires(kernel_detail::operand<N> && (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::uint32_t>))
constexpr auto operator>>(const kernel_value<T, M>& a, const N& amount) {
  return kernel_detail::shift<ir::opcode::shift_right>(a, amount);
}

/// Flips the sign of a float; an integer wraps.
template <class T, class M>
  requires(!std::is_same_v<T, bool>)
constexpr auto operator-(const kernel_value<T, M>& a) {
  if constexpr (std::is_same_v<T, float>) {
    return kernel_detail::apply<ir::opcode::negate, float>(a);
  } else {
    return 0 - a;
  }
}

}  // namespace kernel_detail

// ---- choice ----

/// Where `condition` holds `a`, else `b`; both are computed.
template <class M, class A, class B>
  requires kernel_detail::operands<kernel_value<bool, M>, A, B>
constexpr auto select(const kernel_value<bool, M>& condition, const A& a, const B& b) {
  using kernel_detail::lift;
  if constexpr (kernel_detail::number<A> && kernel_detail::number<B>) {
    using C = std::common_type_t<A, B>;
    using T = std::conditional_t<std::is_floating_point_v<C>, float,
                                 std::conditional_t<sizeof(C) < 4 && !std::is_same_v<C, bool>, int, C>>;
    return kernel_detail::apply<ir::opcode::select, T>(condition, lift<T>(condition, a), lift<T>(condition, b));
  } else {
    using T = kernel_detail::common_t<A, B>;
    static_assert(!std::is_void_v<T>,
                  "the operands have different types: convert one with to_float, to_int or to_uint");
    return kernel_detail::apply<ir::opcode::select, T>(condition, lift<T>(condition, a), lift<T>(condition, b));
  }
}

/// The smaller, as `b < a ? b : a`: where either is NaN, `a`.
template <class A, class B>
  requires kernel_detail::operands<A, B>
constexpr auto min(const A& left, const B& right) {
  return kernel_detail::binary(left, right, [](const auto& a, const auto& b) {
    return kernel_detail::apply<ir::opcode::min, kernel_detail::element_t<std::remove_cvref_t<decltype(a)>>>(a, b);
  });
}
/// The larger, as `a < b ? b : a`: where either is NaN, `a`.
template <class A, class B>
  requires kernel_detail::operands<A, B>
constexpr auto max(const A& left, const B& right) {
  return kernel_detail::binary(left, right, [](const auto& a, const auto& b) {
    return kernel_detail::apply<ir::opcode::max, kernel_detail::element_t<std::remove_cvref_t<decltype(a)>>>(a, b);
  });
}

}  // namespace levada
