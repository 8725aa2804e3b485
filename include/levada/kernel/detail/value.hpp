// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/value.hpp: what a kernel's lambda computes with. One set of operators for every machine: the tracer of
// kernel/detail/trace.hpp that writes instructions, the SIMD vectors of kernel/detail/xsimd.hpp.
//
// A machine M says what stands for a value, M::representation<T>, and has
//   M::apply<op, Result>(a, ...)   the instruction `op` of kernel/detail/ir.hpp on representations
//   M::literal<T>(like, x)         a constant, in the kernel that `like` belongs to
//   M::captured<T>(like, u)        a uniform<T>
//   M::shift<op, T>(a, n)          a shift by the number n
// Where values of several machines meet, kernel_detail::computing says which one computes, and that one has
//   M::from<T, Other>(rep)         what stands on M for a value of the machine Other

#include <cstdint>
#include <type_traits>

#include <levada/kernel/detail/uniform.hpp>

namespace levada {

template <class T, class Machine>
struct kernel_value;

namespace kernel_detail {

template <class>
inline constexpr bool never = false;

template <class V>
inline constexpr bool is_value = false;
template <class T, class M>
inline constexpr bool is_value<kernel_value<T, M>> = true;

template <class V>
inline constexpr bool is_uniform = false;
template <class T>
inline constexpr bool is_uniform<uniform<T>> = true;

/// The machine that computes `Op` on values of the machines M and Rest. There is one machine, unless
/// kernel/detail/grid_xsimd.hpp says otherwise.
template <ir::opcode Op, class M, class... Rest>
struct computing {
  static_assert((std::is_same_v<M, Rest> && ...));
  using machine = M;
};
/// The machine of the literals that stand beside values of M.
template <class M>
struct literals_beside {
  using machine = M;
};

template <class V>
concept value = is_value<V>;
template <class V>
concept number = std::is_arithmetic_v<V>;
/// What may stand beside a value: another one, a literal, a captured uniform.
template <class V>
concept operand = value<V> || number<V> || is_uniform<V>;
template <class... V>
concept operands = (operand<V> && ...) && (value<V> || ...);

template <class V>
struct element {
  using type = V;
};
template <class T, class M>
struct element<kernel_value<T, M>> {
  using type = T;
};
template <class T>
struct element<uniform<T>> {
  using type = T;
};
template <class V>
using element_t = typename element<V>::type;

/// The type that a kernel stores where it returns a `V`: numbers are float, int32 or uint32.
template <class V>
struct stored {
  using type = element_t<V>;
};
template <number V>
  requires(!std::is_same_v<V, bool>)
struct stored<V> {
  using type = std::conditional_t<std::is_floating_point_v<V>, float,
                                  std::conditional_t<std::is_same_v<V, std::uint32_t>, V, std::int32_t>>;
};
template <class V>
using stored_t = typename stored<V>::type;

/// The first value among the operands: it knows the machine.
template <class A, class... Rest>
constexpr const auto& first_value(const A& a, const Rest&... rest) {
  if constexpr (is_value<A>) {
    return a;
  } else {
    return first_value(rest...);
  }
}
template <class... V>
using first_value_t = std::remove_cvref_t<decltype(first_value(std::declval<const V&>()...))>;
template <class... V>
using machine_t = typename first_value_t<V...>::machine;

/// The type that `A` and `B` are computed in. A literal takes the type of what it stands beside; a floating literal
/// makes integers float. Void where they do not go together.
template <class A, class B>
constexpr auto common() {
  using X = element_t<A>;
  using Y = element_t<B>;
  if constexpr (number<A>) {
    if constexpr (std::is_floating_point_v<A> && !std::is_same_v<Y, bool>) {
      return std::type_identity<float>{};
    } else if constexpr (std::is_same_v<A, bool> == std::is_same_v<Y, bool>) {
      return std::type_identity<Y>{};
    } else {
      return std::type_identity<void>{};
    }
  } else if constexpr (number<B>) {
    return common<B, A>();
  } else if constexpr (std::is_same_v<X, Y>) {
    return std::type_identity<X>{};
  } else {
    return std::type_identity<void>{};
  }
}
template <class A, class B>
using common_t = typename decltype(common<A, B>())::type;

}  // namespace kernel_detail

/// One value of the kernel: of one element while tracing, of as many as a SIMD vector holds on the CPU.
template <class T, class Machine>
struct kernel_value {
  static_assert(ir::is_scalar<T>, "a kernel computes with float, int32, uint32 and bool");
  using element = T;
  using machine = Machine;

  typename Machine::template representation<T> rep;

  /// Instantiated by `if (x)`, `x ? a : b` and `while (x)` alone.
  template <class Never = void>
  explicit constexpr operator bool() const {
    static_assert(!std::is_void_v<Never>,
                  "the value is known on the device only: write select(condition, a, b), no `if` or `?:`");
    return false;
  }

  template <class V>
  constexpr kernel_value& operator+=(const V& v) {
    return replace(*this + v);
  }
  template <class V>
  constexpr kernel_value& operator-=(const V& v) {
    return replace(*this - v);
  }
  template <class V>
  constexpr kernel_value& operator*=(const V& v) {
    return replace(*this * v);
  }
  template <class V>
  constexpr kernel_value& operator/=(const V& v) {
    return replace(*this / v);
  }

 private:
  template <class V>
  constexpr kernel_value& replace(const V& v) {
    static_assert(
        std::is_same_v<V, kernel_value>,
        "a value keeps its type and cannot become one that differs along x: begin with g.value(x), and convert "
        "with to_float, to_int or to_uint");
    if constexpr (std::is_same_v<V, kernel_value>) *this = v;
    return *this;
  }
};

namespace kernel_detail {

template <ir::opcode Op, class Result, class First, class... Rest>
constexpr auto apply(const First& first, const Rest&... rest) {
  using M = typename First::machine;
  if constexpr ((std::is_same_v<M, typename Rest::machine> && ...) &&
                std::is_same_v<typename computing<Op, M>::machine, M>) {
    return kernel_value<Result, M>{M::template apply<Op, Result>(first.rep, rest.rep...)};
  } else {
    using C = typename computing<Op, M, typename Rest::machine...>::machine;
    return kernel_value<Result, C>{
        C::template apply<Op, Result>(C::template from<typename First::element, M>(first.rep),
                                      C::template from<typename Rest::element, typename Rest::machine>(rest.rep)...)};
  }
}

/// `x` as a value of type `T` on the machine of `like`; `x` itself where it is one, as copies cost time while
/// compiling.
template <class T, class Like, class X>
constexpr decltype(auto) lift(const Like& like, const X& x) {
  using M = typename literals_beside<typename Like::machine>::machine;
  using L = typename Like::element;
  if constexpr (is_value<X>) {
    if constexpr (std::is_same_v<typename X::element, T>) {
      return (x);
    } else {
      return to_float(x);
    }
  } else if constexpr (is_uniform<X>) {
    const kernel_value<element_t<X>, M> captured{M::template captured<element_t<X>, L>(like.rep, x)};
    return kernel_value<T, M>(lift<T>(captured, captured));
  } else {
    return kernel_value<T, M>{M::template literal<T, L>(like.rep, static_cast<T>(x))};
  }
}

template <class T, class... V>
inline constexpr bool types_agree = !std::is_void_v<T>;

template <class A, class B, class F>
constexpr auto binary(const A& a, const B& b, F f) {
  using T = common_t<A, B>;
  static_assert(!std::is_void_v<T>, "the operands have different types: convert one with to_float, to_int or to_uint");
  if constexpr (std::is_void_v<T>) {
    return first_value(a, b);
  } else if constexpr (is_value<A> && is_value<B>) {
    return f(a, b);
  } else {
    const auto& like = first_value(a, b);
    return f(lift<T>(like, a), lift<T>(like, b));
  }
}

/// The same type on the same machine, which computes `Op` itself.
template <ir::opcode Op, class A, class B>
inline constexpr bool are_alike = false;
template <ir::opcode Op, class T, class M>
inline constexpr bool are_alike<Op, kernel_value<T, M>, kernel_value<T, M>> =
    std::is_same_v<typename computing<Op, M>::machine, M>;

/// The same for a value and a number that takes its type.
template <ir::opcode Op, class A, class B>
inline constexpr bool is_beside_number = false;
template <ir::opcode Op, class T, class M, number B>
inline constexpr bool is_beside_number<Op, kernel_value<T, M>, B> =
    are_alike<Op, kernel_value<T, M>, kernel_value<T, typename literals_beside<M>::machine>> &&
    std::is_same_v<common_t<kernel_value<T, M>, B>, T>;

template <class V, class... T>
concept of = (std::is_same_v<typename V::element, T> || ...);

}  // namespace kernel_detail

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

namespace kernel_detail {
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
}  // namespace kernel_detail

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

// ---- conversions ----

/// The same bits as another type.
template <class T, class M>
constexpr auto bit_cast_to_float(const kernel_value<T, M>& a) {
  return kernel_detail::apply<ir::opcode::bitcast, float>(a);
}
template <class T, class M>
constexpr auto bit_cast_to_int(const kernel_value<T, M>& a) {
  return kernel_detail::apply<ir::opcode::bitcast, std::int32_t>(a);
}
template <class T, class M>
constexpr auto bit_cast_to_uint(const kernel_value<T, M>& a) {
  return kernel_detail::apply<ir::opcode::bitcast, std::uint32_t>(a);
}

/// The value as float, rounded to nearest; true is 1.
template <class T, class M>
constexpr auto to_float(const kernel_value<T, M>& a) {
  if constexpr (std::is_same_v<T, float>) {
    return a;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return kernel_detail::apply<ir::opcode::convert, float>(a);
  } else if constexpr (std::is_same_v<T, bool>) {
    return select(a, 1.0f, 0.0f);
  } else {
    // Both halves are exact, so that the sum is rounded once.
    return to_float(bit_cast_to_int(a >> 16)) * 65536.0f + to_float(bit_cast_to_int(a & 0xffffu));
  }
}

/// The value as int32: a float towards zero, the nearest int32 where it does not fit, 0 where it is NaN; a uint32
/// wraps.
template <class T, class M>
constexpr auto to_int(const kernel_value<T, M>& a) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    return a;
  } else if constexpr (std::is_same_v<T, bool>) {
    return select(a, 1, 0);
  } else if constexpr (std::is_same_v<T, float>) {
    const auto fits = (a >= -0x1p31f) & (a < 0x1p31f);
    const auto converted = kernel_detail::apply<ir::opcode::convert, std::int32_t>(select(fits, a, 0.0f));
    return select(a >= 0x1p31f, 0x7fffffff, select(a < -0x1p31f, -0x7fffffff - 1, converted));
  } else {
    return bit_cast_to_int(a);
  }
}

/// The value as uint32: a float towards zero, the nearest uint32 where it does not fit, 0 where it is NaN; an int32
/// wraps.
template <class T, class M>
constexpr auto to_uint(const kernel_value<T, M>& a) {
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    return a;
  } else if constexpr (std::is_same_v<T, bool>) {
    return select(a, 1u, 0u);
  } else if constexpr (std::is_same_v<T, float>) {
    const auto upper = a >= 0x1p31f;  // the half that an int32 lacks
    const auto fits = (a > -1.0f) & (a < 0x1p32f);
    const auto low = select(fits, select(upper, a - 0x1p31f, a), 0.0f);
    const auto converted = bit_cast_to_uint(kernel_detail::apply<ir::opcode::convert, std::int32_t>(low));
    return select(a >= 0x1p32f, ~0u, select(upper, converted + 0x80000000u, converted));
  } else {
    return bit_cast_to_uint(a);
  }
}

// ---- what the machines have ready ----

template <class T, class M>
  requires(std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>)
constexpr auto abs(const kernel_value<T, M>& a) {
  if constexpr (std::is_same_v<T, float>) {
    return kernel_detail::apply<ir::opcode::abs, float>(a);
  } else {
    return select(a < 0, -a, a);
  }
}
template <class M>
constexpr auto floor(const kernel_value<float, M>& a) {
  return kernel_detail::apply<ir::opcode::floor, float>(a);
}
template <class M>
constexpr auto ceil(const kernel_value<float, M>& a) {
  return -floor(-a);
}
/// To the nearest integer, ties to the even one, as ONNX's Round.
template <class M>
constexpr auto round(const kernel_value<float, M>& a) {
  return kernel_detail::apply<ir::opcode::round_even, float>(a);
}
template <class M>
constexpr auto trunc(const kernel_value<float, M>& a) {
  return copysign(floor(abs(a)), a);
}
template <class M>
constexpr auto sqrt(const kernel_value<float, M>& a) {
  return kernel_detail::apply<ir::opcode::sqrt, float>(a);
}
/// The magnitude of `a` with the sign of `sign`.
template <class M>
constexpr auto copysign(const kernel_value<float, M>& a, const kernel_value<float, M>& sign) {
  return bit_cast_to_float((bit_cast_to_uint(a) & 0x7fffffffu) | (bit_cast_to_uint(sign) & 0x80000000u));
}
/// True where `a` is NaN.
template <class M>
constexpr auto is_nan(const kernel_value<float, M>& a) {
  return a != a;
}
/// `x` between `low` and `high`; NaN stays NaN.
template <class M, class L, class H>
constexpr auto clamp(const kernel_value<float, M>& x, const L& low, const H& high) {
  return min(max(x, low), high);
}

}  // namespace levada
