// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/value.hpp: what a kernel's lambda computes with. One type of values, and one set of operators
// (kernel/detail/operators.hpp), for every machine: the tracer of kernel/detail/trace.hpp that writes instructions, the
// SIMD vectors of kernel/detail/simd_machine.hpp.
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
#include <utility>

#include <levada/kernel/detail/ir.hpp>
#include <levada/kernel/detail/uniform.hpp>

namespace levada {
namespace kernel_detail {

template <class T, class Machine>
struct kernel_value;

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
/// kernel/detail/lane_range.hpp says otherwise.
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
concept operands = (value<V> || ...) && (operand<V> && ...);

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

using kernel_detail::kernel_value;

}  // namespace levada
