// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/spirv_grid.hpp: the words of the SPIR-V 1.3 module of a grid kernel, for Vulkan 1.2 or newer.
//
// The module's interface: descriptor set 0 has a storage buffer for each input, then for each output, of whole 32-bit
// words. The push constants are the bytes of the kernel's closure, if it captures anything. The entry point is "main",
// the workgroup's size and count are `grid.group` and `grid.group_counts()`. Invocations past the grid do nothing;
// where there are barriers they come along, read clamped into the buffers, and store nothing.

#include <algorithm>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/kernel/detail/spirv_writer.hpp>

namespace levada {

namespace ir::spirv {

/// Writes one module. A first pass finds out which types and constants it takes; the specification wants these before
/// the code.
class grid_assembler : public writer {
 public:
  constexpr grid_assembler(grid_program_view kernel, room& words)
      : writer(kernel.code, words), kernel_(kernel), buffers_(kernel.buffers.data()) {
    next_id_ = 1;
    main_ = fresh();
    extended_set_ = fresh();
    first_scalar_ = take(4);
    first_value_ = take(count_);
    first_buffer_ = take(kernel.buffers.size());
    first_shared_ = take(kernel.shared.size());
    first_local_ = take(kernel.locals.size());
    for (std::size_t axis = 0; axis < 3; ++axis)
      partial_[axis] = kernel.grid.extents[axis] % kernel.grid.group[axis] != 0;
    is_guarded_ = partial_[0] || partial_[1] || partial_[2];
    for (std::uint32_t i = 0; is_guarded_ && i < count_; ++i)
      if (code_[i].op == opcode::barrier) comes_along_ = true;
  }

  /// Writes the words. Not while the assembler is constructed: that costs twice as much in constant evaluation.
  constexpr void assemble(bool debug_names = false) {
    sort_out();
    find_needs();

    for (std::uint32_t word : {0x07230203u, 0x00010300u, 0u, 0u, 0u}) words_.push(word);
    preamble();
    if (debug_names) names();
    decorations();
    types();
    globals();
    body();
    words_.elements[3] = next_id_;
  }

 private:
  static constexpr scalar_type f32 = scalar_type::float32, i32 = scalar_type::int32, u32 = scalar_type::uint32,
                               boolean = scalar_type::boolean;

  /// Pointers to scalars, and to the vector of built-ins: made when first asked for, written with the types.
  struct pointer_type {
    storage where;
    std::uint32_t pointee, id;
  };
  /// A constant besides those of the kernel.
  struct extra_constant {
    scalar_type type;
    std::uint32_t word, id;
  };
  /// A loop or branch that is open.
  struct open_structure {
    std::uint32_t loop;  // the instruction, or `none`
    std::uint32_t header, proceed, merge, next_counter, false_target;
  };
  static constexpr std::uint32_t none = ~0u;

  constexpr std::uint32_t take(std::size_t count) {
    const std::uint32_t first = next_id_;
    next_id_ += static_cast<std::uint32_t>(count);
    return first;
  }

  // ---- the first pass ----

  constexpr void find_needs() {
    void_ = fresh();
    main_type_ = fresh();
    for (std::uint32_t n = 0; n < count_; ++n) {
      const instruction& i = code_[n];
      used_[static_cast<int>(i.type)] = true;
      if (i.op >= opcode::add && i.op < opcode::built_in) {
        if (i.op == opcode::min || i.op == opcode::max) uses(boolean);
        if (i.op == opcode::abs || i.op == opcode::floor || i.op == opcode::round_even || i.op == opcode::sqrt)
          uses_extended_ = true;
        continue;
      }
      switch (i.op) {
        case opcode::uniform:
          insert_pushed({i.a, i.type});
          break;
        case opcode::built_in:
          need_built_in(i.a / 3);
          break;
        case opcode::load:
        case opcode::store:
          need_access(buffers_[i.op == opcode::load ? i.b : i.c], i.op == opcode::store);
          break;
        case opcode::load_shared:
        case opcode::store_shared:
          pointer_to(storage_workgroup, i.type);
          break;
        case opcode::loop:
          uses(boolean);
          constant(i32, 1);
          break;
        case opcode::barrier:
          constant(u32, 2);
          constant(u32, 264);
          break;
        default:
          break;
      }
    }
    for (scalar_type type : kernel_.locals) pointer_to(storage_function, type);
    for (const shared_info& array : kernel_.shared) constant(u32, array.elements);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!partial_[axis]) continue;
      uses(boolean);
      need_built_in(0);
      constant(u32, kernel_.grid.extents[axis]);
    }
    for (const buffer_info& buffer : kernel_.buffers) uses(buffer.type);
    for (std::uint32_t m = 0; m < pushed_.size; ++m) {
      pointer_to(storage_push_constant, pushed_.elements[m].type);
      constant(u32, m);
    }
    if (pushed_.size > 0) pushed_type_ = fresh(), pushed_pointer_ = fresh(), pushed_variable_ = fresh();
    for (scalar_type type : {f32, i32, u32})
      for (const buffer_info& buffer : kernel_.buffers)
        if (buffer.type == type && buffer_types_[static_cast<int>(type)] == 0) {
          buffer_types_[static_cast<int>(type)] = take(3);  // the array, the block, the pointer to it
        }
  }
  constexpr void uses(scalar_type type) { used_[static_cast<int>(type)] = true; }
  constexpr void need_built_in(std::uint32_t which) {
    if (built_ins_[which] != 0) return;
    uses(u32);
    if (vector_ == 0) vector_ = fresh(), vector_pointer_ = fresh();
    built_ins_[which] = fresh();
  }
  constexpr void need_access(const buffer_info& buffer, bool stored) {
    pointer_to(storage_buffer, buffer.type);
    if (zero_ == 0) zero_ = constant(u32, 0);
    if (comes_along_) {
      uses_extended_ = true;
      constant(i32, buffer.elements - 1);
    }
    if (buffer.element_bytes == 4) return;
    const packing p = packing_of(buffer);
    for (std::uint32_t word : {p.index_bits, p.place_mask, p.shift}) constant(i32, word);
    constant(u32, p.mask);
    if (stored) constant(u32, 1);
  }
  /// How elements lie in words: the word is index >> index_bits, the bits begin at (index & place_mask) << shift.
  struct packing {
    std::uint32_t index_bits, place_mask, shift, mask;
  };
  static constexpr packing packing_of(const buffer_info& buffer) {
    return buffer.element_bytes == 1 ? packing{2, 3, 3, 0xff} : packing{1, 1, 4, 0xffff};
  }

  constexpr std::uint32_t pointer_to(storage where, scalar_type type) {
    std::uint32_t& id = pointer_ids_[where][static_cast<int>(type)];
    if (id == 0) {
      uses(type);
      id = fresh();
      pointers_.push({where, scalar(type), id});
    }
    return id;
  }
  /// The constant of the kernel with that value, else one more.
  constexpr std::uint32_t constant(scalar_type type, std::uint32_t word) {
    for (std::uint32_t i = 0; i < extras_.size; ++i)
      if (extras_.elements[i].type == type && extras_.elements[i].word == word) return extras_.elements[i].id;
    for (std::uint32_t c = 0; c < constant_count_; ++c) {
      const instruction& there = code_[constants_[c]];
      if (there.type == type && there.a == word) return value(constants_[c]);
    }
    uses(type);
    const std::uint32_t id = fresh();
    extras_.push({type, word, id});
    return id;
  }

  // ---- sections, in the order that the specification asks for ----

  constexpr void preamble() {
    emit(op_capability, 1);  // Shader
    if (uses_extended_) emit_text(op_ext_inst_import, {extended_set_}, "GLSL.std.450");
    emit(op_memory_model, 0, 1);  // Logical, GLSL450
    const std::uint32_t start = words_.size;
    emit_text(op_entry_point, {5, main_}, "main");  // GLCompute
    for (std::uint32_t variable : built_ins_)
      if (variable != 0) words_.push(variable);
    words_.elements[start] = (words_.size - start) << 16 | op_entry_point;
    const auto [x, y, z] = kernel_.grid.group;
    emit(op_execution_mode, main_, 17, x, y, z);  // LocalSize
  }

  constexpr void names() {
    emit_text(op_name, {main_}, "main");
    for (std::uint32_t b = 0; b < kernel_.buffers.size(); ++b) {
      const char name[] = {
          'b', 'u', 'f', 'f', 'e', 'r', static_cast<char>('0' + b / 10), static_cast<char>('0' + b % 10)};
      emit_text(op_name, {first_buffer_ + b}, {name, sizeof name});
    }
  }

  constexpr void decorations() {
    constexpr std::uint32_t built_in_names[] = {built_in_global_invocation_id, built_in_local_invocation_id,
                                                built_in_workgroup_id};
    for (std::size_t i = 0; i < 3; ++i)
      if (built_ins_[i] != 0) emit(op_decorate, built_ins_[i], built_in, built_in_names[i]);
    for (std::uint32_t type : buffer_types_) {
      if (type == 0) continue;
      emit(op_decorate, type, array_stride, 4);
      emit(op_decorate, type + 1, block);
      emit(op_member_decorate, type + 1, 0, offset, 0);
    }
    if (pushed_.size > 0) emit(op_decorate, pushed_type_, block);
    for (std::uint32_t m = 0; m < pushed_.size; ++m)
      emit(op_member_decorate, pushed_type_, m, offset, pushed_.elements[m].offset);
    for (std::uint32_t b = 0; b < kernel_.buffers.size(); ++b) {
      emit(op_decorate, first_buffer_ + b, descriptor_set, 0);
      emit(op_decorate, first_buffer_ + b, binding, b);
      if (!buffers_[b].is_output) emit(op_decorate, first_buffer_ + b, non_writable);
    }
    forbid_contraction();
  }

  constexpr void types() {
    emit(op_type_void, void_);
    emit(op_type_function, main_type_, void_);
    if (used_[0]) emit(op_type_float, scalar(f32), 32);
    if (used_[1]) emit(op_type_int, scalar(i32), 32, 1);
    if (used_[2]) emit(op_type_int, scalar(u32), 32, 0);
    if (used_[3]) emit(op_type_bool, scalar(boolean));
    if (vector_ != 0) {
      emit(op_type_vector, vector_, scalar(u32), 3);
      emit(op_type_pointer, vector_pointer_, storage_input, vector_);
    }
    for (std::uint32_t i = 0; i < pointers_.size; ++i)
      emit(op_type_pointer, pointers_.elements[i].id, pointers_.elements[i].where, pointers_.elements[i].pointee);
    for (scalar_type type : {f32, i32, u32}) {
      const std::uint32_t array = buffer_types_[static_cast<int>(type)];
      if (array == 0) continue;
      emit(op_type_runtime_array, array, scalar(type));
      emit(op_type_struct, array + 1, array);
      emit(op_type_pointer, array + 2, storage_buffer, array + 1);
    }
    if (pushed_.size == 0) return;
    words_.push((2 + pushed_.size) << 16 | op_type_struct);
    words_.push(pushed_type_);
    for (std::uint32_t m = 0; m < pushed_.size; ++m) words_.push(scalar(pushed_.elements[m].type));
    emit(op_type_pointer, pushed_pointer_, storage_push_constant, pushed_type_);
  }

  constexpr void globals() {
    constants();
    for (std::uint32_t i = 0; i < extras_.size; ++i)
      emit(op_constant, scalar(extras_.elements[i].type), extras_.elements[i].id, extras_.elements[i].word);
    for (std::uint32_t variable : built_ins_)
      if (variable != 0) emit(op_variable, vector_pointer_, variable, storage_input);
    if (pushed_.size > 0) emit(op_variable, pushed_pointer_, pushed_variable_, storage_push_constant);
    for (std::uint32_t b = 0; b < kernel_.buffers.size(); ++b)
      emit(op_variable, buffer_types_[static_cast<int>(buffers_[b].type)] + 2, first_buffer_ + b, storage_buffer);
    for (std::uint32_t s = 0; s < kernel_.shared.size(); ++s) {
      const std::uint32_t array = fresh(), pointer = fresh();
      emit(op_type_array, array, scalar(kernel_.shared[s].type), constant(u32, kernel_.shared[s].elements));
      emit(op_type_pointer, pointer, storage_workgroup, array);
      emit(op_variable, pointer, first_shared_ + s, storage_workgroup);
    }
  }

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

  grid_program_view kernel_;
  const buffer_info* buffers_;
  // Some invocations are past the grid; they stay to the end, for the barriers.
  bool is_guarded_ = false, comes_along_ = false, uses_extended_ = false;
  bool partial_[3]{}, used_[4]{};
  std::uint32_t pointer_ids_[storage_buffer + 1][4]{}, zero_ = 0;  // where they are known
  constexpr_vector<pointer_type, 24> pointers_;
  constexpr_vector<extra_constant, 256> extras_;
  constexpr_vector<open_structure, max_depth> open_;
  std::uint32_t main_ = 0, void_ = 0, main_type_ = 0, vector_ = 0, vector_pointer_ = 0;
  std::uint32_t built_ins_[3]{}, place_[3]{}, buffer_types_[3]{};
  std::uint32_t pushed_type_ = 0, pushed_pointer_ = 0, pushed_variable_ = 0;
  std::uint32_t first_buffer_ = 0, first_shared_ = 0, first_local_ = 0, block_ = 0, inside_ = 0;
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
constexpr auto assembled_grid() {
  constexpr auto whole = assembled_grid_in_room<Program, DebugNames>();
  static_assert(!whole.is_full,
                "the module of a kernel has at most 32,768 words: split the kernel, or loop with g.fold");
  std::uint32_t words[whole.size];  // not a std::array: its operator costs more than the word
  for (std::size_t i = 0; i < whole.size; ++i) words[i] = whole.elements[i];
  return std::bit_cast<std::array<std::uint32_t, whole.size>>(words);
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
