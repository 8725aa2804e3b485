// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/ir.hpp: what a traced kernel is, a list of instructions in static single assignment form.
// Every value is one 32-bit word. kernel/evaluate.hpp says what each instruction means, kernel/builder.hpp makes the
// list.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace levada::ir {

/// The type of a value. Booleans are computed with and never stored.
enum class scalar_type : std::uint8_t { float32, int32, uint32, boolean };

template <class T>
inline constexpr bool is_scalar = false;
template <class T>
inline constexpr scalar_type scalar_type_of{};
#define LEVADA_IR_SCALAR(cpp, name)            \
  template <>                                  \
  inline constexpr bool is_scalar<cpp> = true; \
  template <>                                  \
  inline constexpr scalar_type scalar_type_of<cpp> = scalar_type::name;
LEVADA_IR_SCALAR(float, float32)
LEVADA_IR_SCALAR(std::int32_t, int32)
LEVADA_IR_SCALAR(std::uint32_t, uint32)
LEVADA_IR_SCALAR(bool, boolean)
#undef LEVADA_IR_SCALAR

/// What an instruction does. Integers wrap; `div` is never given a zero divisor or an overflow, nor `convert` a float
/// that does not fit, nor a shift an amount above 31: kernel/value.hpp guards them.
enum class opcode : std::uint8_t {
  input,     // a: which input; the element of this invocation
  uniform,   // a: byte offset in the push constants
  constant,  // a: the word
  add,
  sub,
  mul,
  div,
  negate,      // flips the sign of a float, of a NaN too
  abs,         // float
  floor,       // float
  round_even,  // float, to the nearest integer, ties to even
  sqrt,        // float
  min,         // b < a ? b : a, so a where either is NaN
  max,         // a < b ? b : a, so a where either is NaN
  equal,
  less,
  less_equal,
  bit_and,  // these four also of booleans
  bit_or,
  bit_xor,
  bit_not,
  shift_left,
  shift_right,  // brings in the sign of an int32
  select,       // a ? b : c
  convert,      // int32 to float32, rounded to nearest; float32 to int32, towards zero
  bitcast,
};

/// One value: its type, how it comes about, and the indices of the instructions that it is made of.
struct instruction {
  opcode op;
  scalar_type type;
  std::uint32_t a, b, c;

  instruction() = default;  // uninitialised: an array of thousands costs nothing while compiling
  constexpr instruction(opcode operation, scalar_type result, std::uint32_t first, std::uint32_t second = 0,
                        std::uint32_t third = 0)
      : op(operation), type(result), a(first), b(second), c(third) {}

  friend constexpr bool operator==(const instruction&, const instruction&) = default;
};

/// How many of `a`, `b`, `c` are instructions.
constexpr int operands(opcode op) {
  // A table: constant evaluation walks through a switch case by case.
  constexpr signed char counts[] = {
      0, 0, 0,           // input, uniform, constant
      2, 2, 2, 2,        // add, sub, mul, div
      1, 1, 1, 1, 1,     // negate, abs, floor, round_even, sqrt
      2, 2, 2, 2, 2,     // min, max, equal, less, less_equal
      2, 2, 2, 1, 2, 2,  // bit_and, bit_or, bit_xor, bit_not, shift_left, shift_right
      3, 1, 1,           // select, convert, bitcast
  };
  return counts[static_cast<int>(op)];
}

/// An element-wise kernel as the lowerings see it. The first `inputs` instructions are its inputs, in order.
struct program_view {
  std::span<const instruction> code;
  std::span<const std::uint32_t> outputs;  // which instructions are stored
  std::uint32_t inputs;
  std::uint32_t uniform_bytes;  // size of the captures, which are the head of the push constants

  constexpr scalar_type type_of(std::uint32_t value) const { return code[value].type; }
};

/// An element-wise kernel that owns its `Size` instructions.
template <std::size_t Size, std::size_t Outputs>
struct program {
  std::array<instruction, Size> code;
  std::array<std::uint32_t, Outputs> outputs;
  std::uint32_t inputs;
  std::uint32_t uniform_bytes;

  constexpr operator program_view() const { return {code, outputs, inputs, uniform_bytes}; }
  constexpr program_view view() const { return *this; }

  friend constexpr bool operator==(const program&, const program&) = default;
};

}  // namespace levada::ir
