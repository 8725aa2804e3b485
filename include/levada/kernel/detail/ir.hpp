// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/ir.hpp: what a traced kernel is, a list of instructions in static single assignment form.
// Every value is one 32-bit word. kernel/detail/evaluate.hpp says what each instruction means,
// kernel/detail/builder.hpp makes the list.

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
/// that does not fit, nor a shift an amount above 31: kernel/detail/operators.hpp and functions.hpp
/// guard them.
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

  // These stand in grid kernels alone.
  built_in,      // a: a built_in_number
  load,          // a: index of the element; b: which buffer. Elements of 8 and 16 bits come as uint32
  store,         // a: index, b: value; c: which buffer
  load_shared,   // a: index; b: which array
  store_shared,  // a: index, b: value; c: which array
  load_local,    // a: which variable
  store_local,   // a: value; b: which variable
  loop,          // a: first, b: behind the last; the number of this round. What follows up to the `end` is repeated
  phi,           // behind a `loop`: a: at first, b: after each round. Behind the `end`: what it was last
  branch,        // a: condition; what follows up to `otherwise` or `end` is done where it holds
  otherwise,
  end,
  barrier,  // of the workgroup, for its shared arrays
};

/// How many loops and branches may stand inside each other.
inline constexpr std::uint32_t max_depth = 16;

/// Where an invocation stands, as int32: in the grid, in its workgroup, and where the workgroup stands among the
/// others.
enum built_in_number : std::uint32_t {
  global_x,
  global_y,
  global_z,
  local_x,
  local_y,
  local_z,
  group_x,
  group_y,
  group_z
};

/// One value: its type, how it comes about, and the indices of the instructions that it is made of.
/// Without a constructor, which costs more than the members while compiling; an array of thousands costs nothing.
struct instruction {
  opcode op;
  scalar_type type;
  std::uint32_t a, b, c;

  friend constexpr bool operator==(const instruction&, const instruction&) = default;
};

/// How many of `a`, `b`, `c` are instructions, by opcode: a table, as constant evaluation walks through a switch case
/// by case, and outside of the function, as it would make the table anew at each call.
inline constexpr signed char operand_counts[] = {
    0, 0, 0,           // input, uniform, constant
    2, 2, 2, 2,        // add, sub, mul, div
    1, 1, 1, 1, 1,     // negate, abs, floor, round_even, sqrt
    2, 2, 2, 2, 2,     // min, max, equal, less, less_equal
    2, 2, 2, 1, 2, 2,  // bit_and, bit_or, bit_xor, bit_not, shift_left, shift_right
    3, 1, 1,           // select, convert, bitcast
    0, 1, 2, 1, 2,     // built_in, load, store, load_shared, store_shared
    0, 1, 2, 2, 1,     // load_local, store_local, loop, phi, branch
    0, 0, 0,           // otherwise, end, barrier
};
constexpr int operands(opcode op) { return operand_counts[static_cast<int>(op)]; }

/// Made of nothing that happens before it: it is the same anywhere in the kernel, and lowerings compute it first.
constexpr bool is_leaf(opcode op) { return op <= opcode::constant || op == opcode::built_in; }

/// It is there for what it does, or holds the structure together, whether its value is used or not.
constexpr bool has_effect(opcode op) {
  return op >= opcode::store && op != opcode::load_shared && op != opcode::load_local;
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

/// A buffer of a grid kernel: elements of 1, 2 or 4 bytes, packed into 32-bit words, the first in the lowest bits.
struct buffer_info {
  std::uint32_t elements;
  std::uint32_t element_bytes;
  scalar_type type;  // of its elements where these are words, else uint32
  bool is_output;

  constexpr std::uint32_t words() const { return (elements * element_bytes + 3) / 4; }
  friend constexpr bool operator==(const buffer_info&, const buffer_info&) = default;
};

/// An array that the invocations of a workgroup share.
struct shared_info {
  scalar_type type;
  std::uint32_t elements;

  friend constexpr bool operator==(const shared_info&, const shared_info&) = default;
};

/// The invocations of a kernel along x, y and z, and how many of them are a workgroup.
struct grid_info {
  std::array<std::uint32_t, 3> extents, group;

  constexpr std::array<std::uint32_t, 3> group_counts() const {
    std::array<std::uint32_t, 3> counts{};
    for (std::size_t axis = 0; axis < 3; ++axis) counts[axis] = (extents[axis] + group[axis] - 1) / group[axis];
    return counts;
  }
  constexpr std::uint32_t group_size() const { return group[0] * group[1] * group[2]; }
  friend constexpr bool operator==(const grid_info&, const grid_info&) = default;
};

/// A grid kernel as the lowerings see it. What it gives is in its stores.
struct grid_program_view {
  std::span<const instruction> code;
  std::span<const buffer_info> buffers;  // inputs, then outputs
  std::span<const shared_info> shared;
  std::span<const scalar_type> locals;
  grid_info grid;
  std::uint32_t uniform_bytes;

  constexpr bool has_barrier() const {
    for (const instruction& i : code)
      if (i.op == opcode::barrier) return true;
    return false;
  }
};

/// A grid kernel that owns its instructions.
template <std::size_t Size, std::size_t Buffers, std::size_t Shared, std::size_t Locals>
struct grid_program {
  std::array<instruction, Size> code;
  std::array<buffer_info, Buffers> buffers;
  std::array<shared_info, Shared> shared;
  std::array<scalar_type, Locals> locals;
  grid_info grid;
  std::uint32_t uniform_bytes;

  constexpr operator grid_program_view() const { return {code, buffers, shared, locals, grid, uniform_bytes}; }
  constexpr grid_program_view view() const { return *this; }

  friend constexpr bool operator==(const grid_program&, const grid_program&) = default;
};

}  // namespace levada::ir
