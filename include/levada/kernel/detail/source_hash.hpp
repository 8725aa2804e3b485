// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/source_hash.hpp: a number that tells the generic lambdas of kernels apart by their source: the lambda
// is called once, while the program compiles, with values that are hashes of the expressions they stand for.

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <levada/kernel/detail/captures.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada {

/// The machine that hashes: what stands for a value is the hash of what computes it.
struct source_hasher {
  template <class T>
  using representation = std::uint64_t;

  template <ir::opcode Op, class Result, std::same_as<std::uint64_t>... Operands>
  static constexpr std::uint64_t apply(Operands... of) {
    std::uint64_t hash = beginning_with(Op, ir::scalar_type_of<Result>);
    ((hash = mixed(hash, of)), ...);
    return hash;
  }
  template <ir::opcode Op, class T>
  static constexpr std::uint64_t shift(std::uint64_t a, int amount) {
    return apply<Op, T>(a, literal<T, T>(a, static_cast<T>(amount)));
  }
  template <class T, class Like>
  static constexpr std::uint64_t literal(std::uint64_t, T x) {
    return mixed(beginning_with(ir::opcode::constant, ir::scalar_type_of<T>), word_of(x));
  }
  /// Known by its place among the captures, which is the value that it has in a `stand_in`.
  template <class T, class Like>
  static constexpr std::uint64_t captured(std::uint64_t, const uniform<T>& u) {
    return mixed(beginning_with(ir::opcode::uniform, ir::scalar_type_of<T>), word_of(u.value));
  }
  static constexpr std::uint64_t input(ir::scalar_type type, std::uint64_t index) {
    return mixed(beginning_with(ir::opcode::input, type), index);
  }

  /// Of an ordered pair (the finalizer of MurmurHash3).
  static constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = a * 0x9e3779b97f4a7c15u + b;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
  }

 private:
  static constexpr std::uint64_t beginning_with(ir::opcode op, ir::scalar_type type) {
    return mixed(static_cast<std::uint64_t>(op), static_cast<std::uint64_t>(type));
  }
  template <class T>
  static constexpr std::uint64_t word_of(T x) {
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<std::uint32_t>(x);
    else
      return x ? 1 : 0;
  }
};

namespace kernel_detail {

template <class F, class... In>
constexpr std::uint64_t hashed_source() {
  const auto result =
      [&]<std::uint64_t... I>(const F& function, std::integer_sequence<std::uint64_t, I...>) {
        return function(kernel_value<In, source_hasher>{source_hasher::input(ir::scalar_type_of<In>, I)}...);
      }(
          [] {
            if constexpr (captures_nothing<F>)
              return F{};
            else
              return stand_in<F, 0>();
          }(),
          std::make_integer_sequence<std::uint64_t, sizeof...(In)>());
  using made = std::remove_const_t<decltype(result)>;
  return lift<stored_t<made>>(kernel_value<float, source_hasher>{0}, result).rep;
}

/// The lambda is constant enough for that.
template <class F, class... In>
concept hashable_source = (captures_nothing<F> || captures_plain_words<F>)&&requires {
  typename std::integral_constant<std::uint64_t, hashed_source<F, In...>()>;
};

}  // namespace kernel_detail

/// The hash of the source of `F` on inputs of the types `In`, the same in every program and with every compiler; 0
/// where its source cannot be followed while compiling.
template <class F, class... In>
consteval std::uint64_t source_hash() {
  if constexpr ((ir::is_scalar<In> && ...)) {
    if constexpr (kernel_detail::hashable_source<F, In...>) return kernel_detail::hashed_source<F, In...>();
  }
  return 0;
}

}  // namespace levada
