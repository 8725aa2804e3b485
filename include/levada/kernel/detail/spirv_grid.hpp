// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/spirv_grid.hpp: the words of the SPIR-V 1.3 module of a grid kernel, for Vulkan 1.2 or newer.
//
// The module's interface: descriptor set 0 has a storage buffer for each input, then for each output, of whole 32-bit
// words. The push constants are the bytes of the kernel's closure, if it captures anything. The entry point is "main",
// the workgroup's size and count are `grid.group` and `grid.group_counts()`. Invocations past the grid do nothing;
// where there are barriers they come along, read clamped into the buffers, and store nothing.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/kernel/detail/builder.hpp>
#include <levada/kernel/detail/ir.hpp>
#include <levada/kernel/detail/spirv_grid_interface.hpp>
#include <levada/kernel/detail/spirv_writer.hpp>

namespace levada {
namespace ir::spirv {

/// Writes one module. A first pass finds out which types and constants it takes; the specification wants these before
/// the code.
class grid_assembler : public grid_interface {
 public:
  constexpr grid_assembler(grid_program_view kernel, room& words) : grid_interface(kernel, words) {}

  /// Writes the words. Not while the assembler is constructed: that costs twice as much in constant evaluation.
  constexpr void assemble(bool debug_names = false) {
    sort_out();
    find_needs();
    write_module(*this, debug_names);
  }

 private:
  friend writer;

  /// A loop or branch that is open.
  struct open_structure {
    std::uint32_t loop;  // the instruction, or `none`
    std::uint32_t header, proceed, merge, next_counter, false_target;
  };
  static constexpr std::uint32_t none = ~0u;

  constexpr void body() {
    emit(op_function, void_, main_, 0, main_type_);
    start_block(fresh());
    for (std::uint32_t l = 0; l < kernel_.locals.size(); ++l)
      emit(op_variable, pointer_to(storage_function, kernel_.locals[l]), first_local_ + l, storage_function);
    leaves();
    const bool skips = is_guarded_ && !comes_along_;
    const std::uint32_t end = fresh();
    if (is_guarded_) inside_ = inside_grid();
    if (skips) {
      const std::uint32_t guarded = fresh();
      emit(op_selection_merge, end, 0);
      emit(op_branch_conditional, inside_, guarded, end);
      start_block(guarded);
    }
    for (std::uint32_t i = 0; i < count_; ++i) write(i);
    if (skips) {
      emit(op_branch, end);
      start_block(end);
    }
    emit(op_return);
    emit(op_function_end);
  }

  constexpr void start_block(std::uint32_t label) {
    emit(op_label, label);
    block_ = label;
  }

  /// What stands anywhere in the kernel is computed first.
  constexpr void leaves() {
    std::uint32_t vectors[3]{};
    auto component = [&](std::uint32_t which, std::uint32_t axis) {
      if (vectors[which] == 0) {
        vectors[which] = fresh();
        emit(op_load, vector_, vectors[which], built_ins_[which]);
      }
      const std::uint32_t result = fresh();
      emit(op_composite_extract, scalar(u32), result, vectors[which], axis);
      return result;
    };
    for (std::uint32_t axis = 0; axis < 3; ++axis)
      if (partial_[axis]) place_[axis] = component(0, axis);
    for (std::uint32_t l = 0; l < leaf_count_; ++l) {
      const std::uint32_t i = leaves_[l];
      if (code_[i].op == opcode::built_in) {
        const std::uint32_t which = code_[i].a / 3, axis = code_[i].a % 3;
        const std::uint32_t place = which == 0 && place_[axis] != 0 ? place_[axis] : component(which, axis);
        emit(op_bitcast, scalar(i32), value(i), place);
      } else {
        const std::uint32_t member = constant(u32, member_at(code_[i].a, code_[i].type)), pointer = fresh();
        emit(op_access_chain, pointer_to(storage_push_constant, code_[i].type), pointer, pushed_variable_, member);
        emit(op_load, scalar(code_[i].type), value(i), pointer);
      }
    }
  }
  constexpr std::uint32_t inside_grid() {
    std::uint32_t all = 0;
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      if (!partial_[axis]) continue;
      const std::uint32_t one = fresh();
      emit(op_u_less_than, scalar(boolean), one, place_[axis], constant(u32, kernel_.grid.extents[axis]));
      if (all == 0) {
        all = one;
      } else {
        const std::uint32_t both = fresh();
        emit(op_logical_and, scalar(boolean), both, all, one);
        all = both;
      }
    }
    return all;
  }

  // ---- instructions ----

  constexpr void write(std::uint32_t i) {
    const opcode operation = code_[i].op;
    if (operation <= opcode::constant || operation == opcode::built_in) return;
    if (operation < opcode::built_in) return compute(i);
    if (operation == opcode::load) return load(i);
    const auto [o, type, a, b, c] = code_[i];
    switch (operation) {
      case opcode::store:
        store(i);
        break;
      case opcode::load_shared:
        emit(op_load, scalar(type), value(i), shared_place(b, a, type));
        break;
      case opcode::store_shared:
        emit(op_store, shared_place(c, a, type), value(b));
        break;
      case opcode::load_local:
        emit(op_load, scalar(type), value(i), first_local_ + a);
        break;
      case opcode::store_local:
        emit(op_store, first_local_ + b, value(a));
        break;
      case opcode::loop:
        open_loop(i);
        break;
      case opcode::branch: {
        const std::uint32_t then = fresh(), merge = fresh();
        emit(op_selection_merge, merge, 0);
        emit(op_branch_conditional, value(a), then, merge);
        open_.push({none, 0, 0, merge, 0, words_.size - 1});
        start_block(then);
        break;
      }
      case opcode::otherwise: {
        const open_structure& s = open_.elements[open_.size - 1];
        const std::uint32_t other = fresh();
        words_.elements[s.false_target] = other;
        emit(op_branch, s.merge);
        start_block(other);
        break;
      }
      case opcode::end:
        close();
        break;
      case opcode::barrier:  // of the workgroup; acquires and releases its memory
        emit(op_control_barrier, constant(u32, 2), constant(u32, 2), constant(u32, 264));
        break;
      default:  // a phi is written with its loop
        break;
    }
  }

  constexpr void open_loop(std::uint32_t i) {
    const std::uint32_t header = fresh(), proceed = fresh(), merge = fresh(), inside = fresh(), next = fresh(),
                        goes_on = fresh(), before = block_;
    emit(op_branch, header);
    start_block(header);
    emit(op_phi, scalar(i32), value(i), value(code_[i].a), before, next, proceed);
    for (std::uint32_t k = i + 1; k < count_ && code_[k].op == opcode::phi; ++k)
      emit(op_phi, scalar(code_[k].type), value(k), value(code_[k].a), before, value(code_[k].b), proceed);
    emit(op_s_less_than, scalar(boolean), goes_on, value(i), value(code_[i].b));
    emit(op_loop_merge, merge, proceed, 0);
    emit(op_branch_conditional, goes_on, inside, merge);
    open_.push({i, header, proceed, merge, next, 0});
    start_block(inside);
  }
  constexpr void close() {
    const open_structure s = open_.elements[--open_.size];
    if (s.loop != none) {
      emit(op_branch, s.proceed);
      start_block(s.proceed);
      emit(op_i_add, scalar(i32), s.next_counter, value(s.loop), constant(i32, 1));
      emit(op_branch, s.header);
    } else {
      emit(op_branch, s.merge);
    }
    start_block(s.merge);
  }

  /// A new instruction of two operands.
  constexpr std::uint32_t two(op code, scalar_type type, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t result = fresh();
    emit(code, scalar(type), result, a, b);
    return result;
  }
  constexpr std::uint32_t shared_place(std::uint32_t array, std::uint32_t index, scalar_type type) {
    const std::uint32_t pointer = fresh();
    emit(op_access_chain, pointer_to(storage_workgroup, type), pointer, first_shared_ + array, value(index));
    return pointer;
  }
  constexpr std::uint32_t word_place(std::uint32_t buffer, std::uint32_t index) {
    const std::uint32_t pointer = fresh();
    emit(op_access_chain, pointer_to(storage_buffer, buffers_[buffer].type), pointer, first_buffer_ + buffer, zero_,
         index);
    return pointer;
  }
  constexpr std::uint32_t clamped(std::uint32_t index, const buffer_info& buffer) {
    if (!comes_along_) return index;
    const std::uint32_t result = fresh();
    emit(op_ext_inst, scalar(i32), result, extended_set_, u_min, index, constant(i32, buffer.elements - 1));
    return result;
  }

  constexpr void load(std::uint32_t i) {
    const instruction& made = code_[i];
    const buffer_info& buffer = buffers_[made.b];
    const std::uint32_t type = first_scalar_ + static_cast<std::uint32_t>(made.type);
    const std::uint32_t index = comes_along_ ? clamped(value(made.a), buffer) : first_value_ + made.a;
    if (buffer.element_bytes == 4) {
      const std::uint32_t pointer = next_id_++;
      emit(op_access_chain, pointer_ids_[storage_buffer][static_cast<int>(made.type)], pointer, first_buffer_ + made.b,
           zero_, index);
      emit(op_load, type, first_value_ + i, pointer);
      return;
    }
    const packing p = packing_of(buffer);
    const std::uint32_t pointer =
        word_place(made.b, two(op_shift_right_logical, i32, index, constant(i32, p.index_bits)));
    const std::uint32_t word = fresh();
    emit(op_load, type, word, pointer);
    const std::uint32_t moved = two(op_shift_right_logical, u32, word, first_bit(index, p));
    emit(op_bitwise_and, type, value(i), moved, constant(u32, p.mask));
  }
  constexpr std::uint32_t first_bit(std::uint32_t index, const packing& p) {
    return two(op_shift_left_logical, i32, two(op_bitwise_and, i32, index, constant(i32, p.place_mask)),
               constant(i32, p.shift));
  }

  constexpr void store(std::uint32_t i) {
    const std::uint32_t end = comes_along_ ? fresh() : 0;
    if (comes_along_) {
      const std::uint32_t then = fresh();
      emit(op_selection_merge, end, 0);
      emit(op_branch_conditional, inside_, then, end);
      start_block(then);
    }
    store_element(code_[i].c, value(code_[i].a), value(code_[i].b));
    if (comes_along_) {
      emit(op_branch, end);
      start_block(end);
    }
  }
  constexpr void store_element(std::uint32_t number, std::uint32_t index, std::uint32_t stored) {
    const buffer_info& buffer = buffers_[number];
    if (buffer.element_bytes == 4) {
      emit(op_store, word_place(number, index), stored);
      return;
    }
    // Other invocations write the rest of the word: first the bits are cleared, then set.
    const packing p = packing_of(buffer);
    const std::uint32_t pointer =
        word_place(number, two(op_shift_right_logical, i32, index, constant(i32, p.index_bits)));
    const std::uint32_t shift = first_bit(index, p), mask = constant(u32, p.mask);
    const std::uint32_t hole = fresh(), place = two(op_shift_left_logical, u32, mask, shift);
    emit(op_not, scalar(u32), hole, place);
    const std::uint32_t bits = two(op_shift_left_logical, u32, two(op_bitwise_and, u32, stored, mask), shift);
    const std::uint32_t device = constant(u32, 1), relaxed = constant(u32, 0);
    emit(op_atomic_and, scalar(u32), fresh(), pointer, device, relaxed, hole);
    emit(op_atomic_or, scalar(u32), fresh(), pointer, device, relaxed, bits);
  }

  constexpr_vector<open_structure, max_depth> open_;
  std::uint32_t place_[3]{}, block_ = 0, inside_ = 0;
};

}  // namespace ir::spirv

namespace ir {

/// One evaluation with room for any module; what comes of it is then cut to size. (Of a lambda g++ would make two.)
template <const auto& Program, bool DebugNames>
constexpr spirv::writer::room assembled_grid_in_room() {
  spirv::writer::room words;
  spirv::grid_assembler module(Program, words);
  module.assemble(DebugNames);
  return words;
}

template <const auto& Program, bool DebugNames>
inline constexpr spirv::writer::room grid_room = assembled_grid_in_room<Program, DebugNames>();

template <const auto& Program, bool DebugNames>
constexpr auto assembled_grid() {
  static_assert(!grid_room<Program, DebugNames>.is_full,
                "the module of a kernel has at most 32,768 words: split the kernel, or loop with g.fold");
  return spirv::cut_to_size<grid_room<Program, DebugNames>>();
}

}  // namespace ir

/// The SPIR-V module of a grid kernel, made while the program compiles: `grid_module<grid_program_of<...>>`.
template <const auto& Program, bool DebugNames = false>
inline constexpr auto grid_module = ir::assembled_grid<Program, DebugNames>();

/// The same words at run time.
inline std::vector<std::uint32_t> assemble_grid(ir::grid_program_view kernel, bool debug_names = false) {
  std::vector<ir::spirv::writer::room> words(1);  // too large for a stack
  ir::spirv::grid_assembler module(kernel, words[0]);
  module.assemble(debug_names);
  if (module.is_full()) throw error("assemble_grid: the module of a kernel has at most 32,768 words");
  return {module.words().begin(), module.words().end()};
}

}  // namespace levada
