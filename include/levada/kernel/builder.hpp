// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/builder.hpp: writes the instructions of a kernel while its lambda runs. Equal instructions become one,
// constants are folded where every device would compute the same, and what no output needs is dropped at the end.

#include <utility>

#include <levada/kernel/evaluate.hpp>

namespace levada::ir {

/// An array that grows up to `Capacity`, also while compiling. What comes after that is dropped, and `is_full` says so.
template <class T, std::uint32_t Capacity>
struct growing {
  T elements[Capacity];  // uninitialised: a kernel pays for what it uses
  std::uint32_t size = 0;
  bool is_full = false;

  constexpr growing() {}

  constexpr void push(T element) {
    if (size == Capacity)
      is_full = true;
    else
      elements[size++] = element;
  }
};

inline constexpr std::uint32_t max_instructions = 2048, max_outputs = 16;

/// A kernel in room for any. `is_full`: more was asked for than there is room, and the rest is of no use.
struct scratch_program {
  instruction code[max_instructions];
  std::uint32_t outputs[max_outputs];
  std::uint32_t size, output_count;
  bool is_full;
};

class builder {
 public:
  /// `salt` tells the captures that are uniforms from those that are not, see kernel/trace.hpp.
  constexpr explicit builder(std::uint32_t salt = 0) : salt_(salt) {}

  constexpr std::uint32_t input(scalar_type type, std::uint32_t index) {
    return find_or_add({opcode::input, type, index});
  }
  constexpr std::uint32_t constant(scalar_type type, std::uint32_t word) {
    return find_or_add({opcode::constant, type, word});
  }
  constexpr std::uint32_t uniform(scalar_type type, std::uint32_t word) {
    return find_or_add({opcode::uniform, type, word ^ salt_});
  }
  constexpr std::uint32_t add(opcode op, scalar_type type, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
    if (code_.is_full) return 0;
    if (commutes(op) && b < a) std::swap(a, b);
    const instruction wanted{op, type, a, b, c};
    const std::uint32_t simpler = simplified(wanted);
    return simpler == none ? find_or_add(wanted) : simpler;
  }
  constexpr void output(std::uint32_t value) { outputs_.push(value); }

  /// Keeps what the outputs need, and the first `inputs` instructions.
  constexpr void finish(std::uint32_t inputs) {
    bool needed[max_instructions];
    for (std::uint32_t i = 0; i < code_.size; ++i) needed[i] = i < inputs;
    for (std::uint32_t i = 0; i < outputs_.size; ++i) needed[outputs_.elements[i]] = true;
    bool all = true;
    for (std::uint32_t i = code_.size; i-- > inputs;) {
      const instruction& user = code_.elements[i];
      if (!needed[i]) {
        all = false;
        continue;
      }
      const int count = operands(user.op);
      if (count > 0) needed[user.a] = true;
      if (count > 1) needed[user.b] = true;
      if (count > 2) needed[user.c] = true;
    }
    if (!all) remove_others(needed);
  }

  constexpr scratch_program finished() const {
    scratch_program all{};
    all.size = code_.size;
    all.output_count = outputs_.size;
    all.is_full = code_.is_full || outputs_.is_full;
    for (std::uint32_t i = 0; i < code_.size; ++i) all.code[i] = code_.elements[i];
    for (std::uint32_t i = 0; i < outputs_.size; ++i) all.outputs[i] = outputs_.elements[i];
    return all;
  }
  constexpr std::span<const instruction> code() const { return {code_.elements, code_.size}; }
  constexpr std::span<const std::uint32_t> outputs() const { return {outputs_.elements, outputs_.size}; }

 private:
  static constexpr std::uint32_t none = ~0u, buckets = 256;

  static constexpr bool commutes(opcode op) {
    return op == opcode::add || op == opcode::mul || op == opcode::equal || op == opcode::bit_and ||
           op == opcode::bit_or || op == opcode::bit_xor;
  }

  constexpr bool is_constant(std::uint32_t value) const { return code_.elements[value].op == opcode::constant; }
  constexpr bool is_constant(std::uint32_t value, std::uint32_t word) const {
    return is_constant(value) && code_.elements[value].a == word;
  }

  /// The instruction that `wanted` is equal to by the rules of arithmetic, or `none`.
  constexpr std::uint32_t simplified(const instruction& wanted) {
    const auto [op, type, a, b, c] = wanted;
    const scalar_type operand = code_.elements[a].type;
    if (op == opcode::bitcast && operand == type) return a;
    if (op == opcode::select) {
      if (is_constant(a)) return code_.elements[a].a != 0 ? b : c;
      return b == c ? b : none;
    }
    const bool constants = is_constant(a) && (operands(op) < 2 || is_constant(b));
    if (constants && folds(op, operand, code_.elements[a].a, code_.elements[b].a))
      return constant(type, evaluate(op, operand, type, code_.elements[a].a, code_.elements[b].a, 0));
    const std::uint32_t one = type == scalar_type::float32 ? 0x3f800000u : 1u;
    // Of two operands that commute the constant may stand first, if it was there first.
    if (op == opcode::mul) return is_constant(b, one) ? a : is_constant(a, one) ? b : none;
    if (op == opcode::div) return is_constant(b, one) ? a : none;
    if (op == opcode::sub) return is_constant(b, 0) ? a : none;
    if (op == opcode::shift_left || op == opcode::shift_right) return is_constant(b, 0) ? a : none;
    const bool whole = type == scalar_type::int32 || type == scalar_type::uint32;
    if ((whole && op == opcode::add) || op == opcode::bit_or || op == opcode::bit_xor)
      return is_constant(b, 0) ? a : is_constant(a, 0) ? b : none;
    return none;
  }

  constexpr void remove_others(const bool* needed) {
    std::uint32_t place[max_instructions];
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < code_.size; ++i) {
      if (!needed[i]) continue;
      instruction moved = code_.elements[i];
      const int count = operands(moved.op);
      if (count > 0) moved.a = place[moved.a];
      if (count > 1) moved.b = place[moved.b];
      if (count > 2) moved.c = place[moved.c];
      place[i] = kept;
      code_.elements[kept++] = moved;
    }
    code_.size = kept;
    for (std::uint32_t i = 0; i < outputs_.size; ++i) outputs_.elements[i] = place[outputs_.elements[i]];
  }

  constexpr std::uint32_t find_or_add(const instruction& wanted) {
    const std::uint32_t mixed = (wanted.a * 0x9e3779b1u) ^ (wanted.b * 0x85ebca77u) ^ (wanted.c * 0xc2b2ae3du) ^
                                (static_cast<std::uint32_t>(wanted.op) * 0x27d4eb2fu);
    std::uint32_t& head = heads_[(mixed ^ (mixed >> 15)) % buckets];
    for (std::uint32_t i = head; i != 0; i = next_[i - 1])
      if (code_.elements[i - 1] == wanted) return i - 1;
    const std::uint32_t added = code_.size;
    code_.push(wanted);
    if (added == max_instructions) return 0;
    next_[added] = head;
    head = added + 1;
    return added;
  }

  growing<instruction, max_instructions> code_;
  growing<std::uint32_t, max_outputs> outputs_;
  // Chains of instructions with the same hash; their numbers count from one, as zeros cost nothing while compiling.
  std::uint32_t heads_[buckets]{};
  std::uint32_t next_[max_instructions];
  std::uint32_t salt_;
};

}  // namespace levada::ir
