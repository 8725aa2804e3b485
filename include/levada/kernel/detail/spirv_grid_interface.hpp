// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/spirv_grid_interface.hpp: what the SPIR-V module of a grid kernel says ahead of its code: capabilities,
// decorations, types, constants, variables. A first pass over the kernel finds out which it takes.

#include <cstddef>
#include <cstdint>

#include <levada/kernel/detail/builder.hpp>
#include <levada/kernel/detail/ir.hpp>
#include <levada/kernel/detail/spirv_writer.hpp>

namespace levada::ir::spirv {

/// The sections of a module ahead of its code, in the order that the specification asks for.
class grid_interface : public writer {
 protected:
  constexpr grid_interface(grid_program_view kernel, room& words)
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

  grid_program_view kernel_;
  const buffer_info* buffers_;
  // Some invocations are past the grid; they stay to the end, for the barriers.
  bool is_guarded_ = false, comes_along_ = false, uses_extended_ = false;
  bool partial_[3]{}, used_[4]{};
  std::uint32_t pointer_ids_[storage_buffer + 1][4]{}, zero_ = 0;  // where they are known
  constexpr_vector<pointer_type, 24> pointers_;
  constexpr_vector<extra_constant, 256> extras_;
  std::uint32_t main_ = 0, void_ = 0, main_type_ = 0, vector_ = 0, vector_pointer_ = 0;
  std::uint32_t built_ins_[3]{}, buffer_types_[3]{};
  std::uint32_t pushed_type_ = 0, pushed_pointer_ = 0, pushed_variable_ = 0;
  std::uint32_t first_buffer_ = 0, first_shared_ = 0, first_local_ = 0;
};

}  // namespace levada::ir::spirv
