// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/scalar.hpp: the lambda of a kernel called with one element at a time, as kernel/evaluate.hpp defines it.

#include <bit>

#include <levada/kernel/evaluate.hpp>
#include <levada/kernel/math.hpp>
#include <levada/kernel/value.hpp>

namespace levada {

/// The machine whose values are single numbers.
struct scalar_machine {
  template <class T>
  using representation = T;

  template <class T, class Like>
  static constexpr T literal(Like, T x) {
    return x;
  }
  template <class T, class Like>
  static constexpr T captured(Like, const uniform<T>& u) {
    return u.value;
  }

  template <ir::opcode Op, class Result, class First, class... Rest>
  static constexpr Result apply(First first, Rest... rest) {
    using namespace ir;
    using Operand = std::conditional_t<Op == opcode::select, Result, First>;
    const std::uint32_t words[3] = {word_of(first), word_of(rest)...};
    const std::uint32_t word =
        evaluate(Op, scalar_type_of<Operand>, scalar_type_of<Result>, words[0], words[1], words[2]);
    if constexpr (std::is_same_v<Result, bool>)
      return word != 0;
    else
      return std::bit_cast<Result>(word);
  }
  template <ir::opcode Op, class T>
  static constexpr T shift(T a, int amount) {
    return apply<Op, T>(a, static_cast<T>(amount));
  }

 private:
  template <class T>
  static constexpr std::uint32_t word_of(T x) {
    if constexpr (std::is_same_v<T, bool>)
      return x ? 1 : 0;
    else
      return std::bit_cast<std::uint32_t>(x);
  }
};

/// One element of a kernel that runs on the CPU, one at a time.
template <class T>
using scalar_value = kernel_value<T, scalar_machine>;

}  // namespace levada
