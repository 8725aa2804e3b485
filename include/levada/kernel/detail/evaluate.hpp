// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/evaluate.hpp: what an instruction makes of its operands. This is the meaning that every lowering has to
// keep; the interpreter runs it, the builder folds constants with it.

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include <levada/kernel/detail/ir.hpp>

namespace levada::ir {

namespace detail {

constexpr float as_float(std::uint32_t word) { return std::bit_cast<float>(word); }
constexpr std::int32_t as_int(std::uint32_t word) { return std::bit_cast<std::int32_t>(word); }
constexpr std::uint32_t word_of(float x) { return std::bit_cast<std::uint32_t>(x); }
constexpr std::uint32_t word_of(std::int32_t x) { return std::bit_cast<std::uint32_t>(x); }

inline constexpr std::uint32_t sign_bit = 0x80000000u;

/// Above 2^23 every float is an integer; adding 2^23 rounds what is below.
constexpr float round_even(float x) {
  const float magnitude = as_float(word_of(x) & ~sign_bit);
  if (!(magnitude < 0x1p23f)) return x;
  return as_float(word_of((magnitude + 0x1p23f) - 0x1p23f) | (word_of(x) & sign_bit));
}

constexpr float floor(float x) {
  const float nearest = round_even(x);
  return nearest > x ? nearest - 1.0f : nearest;
}

constexpr std::int32_t truncate(float x) {
  return x >= -0x1p31f && x < 0x1p31f ? static_cast<std::int32_t>(x) : std::numeric_limits<std::int32_t>::min();
}

template <class = void>
constexpr std::uint32_t divide(scalar_type type, std::uint32_t a, std::uint32_t b) {
  if (type == scalar_type::float32) return word_of(as_float(a) / as_float(b));
  if (b == 0) return 0;
  if (type == scalar_type::uint32) return a / b;
  return b == ~0u ? 0u - a : word_of(as_int(a) / as_int(b));
}

constexpr bool less(scalar_type type, std::uint32_t a, std::uint32_t b) {
  if (type == scalar_type::float32) return as_float(a) < as_float(b);
  return type == scalar_type::int32 ? as_int(a) < as_int(b) : a < b;
}

}  // namespace detail

/// The word that `op` gives for operands of type `operand` and a result of type `result`. Booleans are 0 and 1.
template <class = void>
constexpr std::uint32_t evaluate(opcode op, scalar_type operand, scalar_type result, std::uint32_t a, std::uint32_t b,
                                 std::uint32_t c) {
  using namespace detail;
  const bool floating = operand == scalar_type::float32;
  switch (op) {
    case opcode::input:
    case opcode::uniform:
    case opcode::constant:
      return a;
    case opcode::add:
      return floating ? word_of(as_float(a) + as_float(b)) : a + b;
    case opcode::sub:
      return floating ? word_of(as_float(a) - as_float(b)) : a - b;
    case opcode::mul:
      return floating ? word_of(as_float(a) * as_float(b)) : a * b;
    case opcode::div:
      return divide(operand, a, b);
    case opcode::negate:
      return a ^ sign_bit;
    case opcode::abs:
      return a & ~sign_bit;
    case opcode::floor:
      return word_of(detail::floor(as_float(a)));
    case opcode::round_even:
      return word_of(detail::round_even(as_float(a)));
    case opcode::sqrt:
      return word_of(std::sqrt(as_float(a)));
    case opcode::min:
      return detail::less(operand, b, a) ? b : a;
    case opcode::max:
      return detail::less(operand, a, b) ? b : a;
    case opcode::equal:
      return floating ? as_float(a) == as_float(b) : a == b;
    case opcode::less:
      return detail::less(operand, a, b);
    case opcode::less_equal:
      return floating ? as_float(a) <= as_float(b) : !detail::less(operand, b, a);
    case opcode::bit_and:
      return a & b;
    case opcode::bit_or:
      return a | b;
    case opcode::bit_xor:
      return a ^ b;
    case opcode::bit_not:
      return operand == scalar_type::boolean ? a ^ 1u : ~a;
    case opcode::shift_left:
      return a << (b & 31);
    case opcode::shift_right:
      return operand == scalar_type::int32 ? word_of(as_int(a) >> (b & 31)) : a >> (b & 31);
    case opcode::select:
      return a != 0 ? b : c;
    case opcode::convert:
      return result == scalar_type::float32 ? word_of(static_cast<float>(as_int(a))) : word_of(truncate(as_float(a)));
    case opcode::bitcast:
      return a;
    default:  // what a grid kernel does besides computing
      return 0;
  }
}

namespace detail {

/// A value that all devices agree on: not NaN, not infinite, and no denormal, which some flush.
constexpr bool is_plain(float x) {
  const std::uint32_t exponent = (word_of(x) >> 23) & 0xff;
  return exponent != 0xff && (exponent != 0 || (word_of(x) & ~sign_bit) == 0);
}

constexpr bool is_plain_range(double x) {
  return x == 0.0 || (x > -0x1.fffffep127 && x < 0x1.fffffep127 && !(x > -0x1p-126 && x < 0x1p-126));
}

}  // namespace detail

/// True if the instruction on these constants gives one and the same result wherever it runs, and so can be done while
/// compiling. (Constant evaluation accepts neither an overflow nor a NaN; the double that stands in for the result of a
/// float operation has neither.)
template <class = void>
constexpr bool folds(opcode op, scalar_type operand, std::uint32_t a, std::uint32_t b) {
  using namespace detail;
  if (operand != scalar_type::float32) return true;
  const double x = as_float(a), y = operands(op) == 2 ? as_float(b) : 0.0f;
  const bool plain = is_plain(as_float(a)) && (operands(op) < 2 || is_plain(as_float(b)));
  switch (op) {
    case opcode::add:
      return plain && is_plain_range(x + y);
    case opcode::sub:
      return plain && is_plain_range(x - y);
    case opcode::mul:
      return plain && is_plain_range(x * y);
    case opcode::div:
      return plain && y != 0.0 && is_plain_range(x / y);
    case opcode::convert:
      return plain && x >= -0x1p31 && x < 0x1p31;
    case opcode::sqrt:
      return false;  // not constant in every compiler
    case opcode::floor:
    case opcode::round_even:
    case opcode::equal:
    case opcode::less:
    case opcode::less_equal:
    case opcode::min:
    case opcode::max:
      return plain;
    default:
      return true;
  }
}

}  // namespace levada::ir
