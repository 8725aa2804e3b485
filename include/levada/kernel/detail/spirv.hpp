// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/spirv.hpp: the words of the SPIR-V 1.3 module of an element-wise kernel, for Vulkan 1.2 or newer.
// One function writes them, while the program compiles or later.
//
// The module's interface: descriptor set 0 has a storage buffer of 32-bit elements for each input, then for each
// output. The push constants are the bytes of the kernel's closure, then the number of elements as a uint32. The entry
// point is "main"; workgroups are `module_options::local_size` by 1 by 1, in one or two dimensions. Invocations past
// the number of elements do nothing. What the options promise about the workgroups spares the code that provides for
// more.

#include <string_view>
#include <vector>

#include <levada/kernel/detail/spirv_writer.hpp>

namespace levada {

namespace ir {

namespace spirv {

/// Writes one module. Ids are given in advance: first those of what every module has, then of buffers and pushed
/// members, then one for each instruction of the kernel; ids that nothing needs stay unused.
class assembler : public writer {
 public:
  constexpr assembler(program_view kernel, module_options options, room& words)
      : writer(kernel.code, words), kernel_(kernel), options_(options) {
    first_scalar_ = id_scalar;
    extended_set_ = id_extended;
    sort_out();
    for (std::uint32_t l = 0; l < leaf_count_; ++l) insert_pushed({code_[leaves_[l]].a, code_[leaves_[l]].type});
    pushed_.push({kernel.uniform_bytes, scalar_type::uint32});  // the number of elements
    buffers_ = kernel.inputs + static_cast<std::uint32_t>(kernel.outputs.size());
    first_buffer_ = id_fixed_end;
    first_pushed_ = first_buffer_ + buffers_;  // the constants that index its members
    first_value_ = first_pushed_ + pushed_.size;
    next_id_ = first_value_ + static_cast<std::uint32_t>(kernel.code.size());
  }

  /// Writes the words. Not while the assembler is constructed: that costs twice as much in constant evaluation.
  constexpr void assemble() { write_module(*this, options_.debug_names); }

 private:
  friend writer;

  enum id : std::uint32_t {
    id_main = 1,
    id_void,
    id_main_type,
    id_extended,
    id_scalar,  // four types in the order of scalar_type
    id_vector = id_scalar + 4,
    id_vector_pointer,
    id_element_pointer,                          // three, in a storage buffer
    id_pushed_pointer = id_element_pointer + 3,  // three, in the push constants
    id_array = id_pushed_pointer + 3,            // three
    id_buffer_type = id_array + 3,               // three
    id_buffer_pointer = id_buffer_type + 3,      // three
    id_invocation = id_buffer_pointer + 3,
    id_workgroups,
    id_pushed_type,
    id_pushed_block_pointer,
    id_pushed,
    id_zero,
    id_local_size,
    id_index,
    id_guarded,
    id_end,
    id_fixed_end,
  };
  static constexpr std::uint32_t of(std::uint32_t first, scalar_type type) {
    return first + static_cast<std::uint32_t>(type);
  }
  constexpr scalar_type buffer_type(std::uint32_t buffer) const {
    return buffer < kernel_.inputs ? kernel_.type_of(buffer)
                                   : kernel_.type_of(kernel_.outputs[buffer - kernel_.inputs]);
  }
  constexpr bool stores(scalar_type type) const {
    for (std::uint32_t b = 0; b < buffers_; ++b)
      if (buffer_type(b) == type) return true;
    return false;
  }
  static constexpr scalar_type stored_types[] = {scalar_type::float32, scalar_type::int32, scalar_type::uint32};

  // ---- sections, in the order that the specification asks for ----

  constexpr void preamble() {
    emit(op_capability, 1);  // Shader
    emit_text(op_ext_inst_import, {id_extended}, "GLSL.std.450");
    emit(op_memory_model, 0, 1);  // Logical, GLSL450
    if (options_.one_row)
      emit_text(op_entry_point, {5, id_main}, "main", {id_invocation});  // GLCompute
    else
      emit_text(op_entry_point, {5, id_main}, "main", {id_invocation, id_workgroups});
    emit(op_execution_mode, id_main, 17, options_.local_size, 1, 1);  // LocalSize
  }

  constexpr void names() {
    emit_text(op_name, {id_main}, "main");
    emit_text(op_name, {id_index}, "index");
    emit_text(op_name, {id_pushed}, "uniforms");
    for (std::uint32_t b = 0; b < buffers_; ++b) {
      const bool input = b < kernel_.inputs;
      const std::uint32_t number = input ? b : b - kernel_.inputs;
      char name[] = "output00";
      std::uint32_t length = input ? 5 : 6;
      for (std::uint32_t i = 0; i < length; ++i) name[i] = (input ? "input" : "output")[i];
      if (number > 9) name[length++] = static_cast<char>('0' + number / 10 % 10);
      name[length++] = static_cast<char>('0' + number % 10);
      emit_text(op_name, {first_buffer_ + b}, {name, length});
    }
  }

  constexpr void decorations() {
    emit(op_decorate, id_invocation, built_in, built_in_global_invocation_id);
    if (!options_.one_row) emit(op_decorate, id_workgroups, built_in, built_in_num_workgroups);
    for (scalar_type type : stored_types) {
      if (!stores(type)) continue;
      emit(op_decorate, of(id_array, type), array_stride, 4);
      emit(op_decorate, of(id_buffer_type, type), block);
      emit(op_member_decorate, of(id_buffer_type, type), 0, offset, 0);
    }
    emit(op_decorate, id_pushed_type, block);
    for (std::uint32_t m = 0; m < pushed_.size; ++m)
      emit(op_member_decorate, id_pushed_type, m, offset, pushed_.elements[m].offset);
    for (std::uint32_t b = 0; b < buffers_; ++b) {
      emit(op_decorate, first_buffer_ + b, descriptor_set, 0);
      emit(op_decorate, first_buffer_ + b, binding, b);
      emit(op_decorate, first_buffer_ + b, b < kernel_.inputs ? non_writable : non_readable);
    }
    forbid_contraction();
  }

  constexpr void types() {
    emit(op_type_void, id_void);
    emit(op_type_function, id_main_type, id_void);
    emit(op_type_float, of(id_scalar, scalar_type::float32), 32);
    emit(op_type_int, of(id_scalar, scalar_type::int32), 32, 1);
    emit(op_type_int, of(id_scalar, scalar_type::uint32), 32, 0);
    emit(op_type_bool, of(id_scalar, scalar_type::boolean));
    emit(op_type_vector, id_vector, of(id_scalar, scalar_type::uint32), 3);
    emit(op_type_pointer, id_vector_pointer, storage_input, id_vector);
    for (scalar_type type : stored_types) {
      const std::uint32_t scalar = of(id_scalar, type);
      bool pushed = false;
      for (std::uint32_t m = 0; m < pushed_.size; ++m) pushed = pushed || pushed_.elements[m].type == type;
      if (pushed) emit(op_type_pointer, of(id_pushed_pointer, type), storage_push_constant, scalar);
      if (!stores(type)) continue;
      emit(op_type_pointer, of(id_element_pointer, type), storage_buffer, scalar);
      emit(op_type_runtime_array, of(id_array, type), scalar);
      emit(op_type_struct, of(id_buffer_type, type), of(id_array, type));
      emit(op_type_pointer, of(id_buffer_pointer, type), storage_buffer, of(id_buffer_type, type));
    }
    words_.push((2 + pushed_.size) << 16 | op_type_struct);
    words_.push(id_pushed_type);
    for (std::uint32_t m = 0; m < pushed_.size; ++m) words_.push(of(id_scalar, pushed_.elements[m].type));
    emit(op_type_pointer, id_pushed_block_pointer, storage_push_constant, id_pushed_type);
  }

  constexpr void globals() {
    const std::uint32_t uint_type = of(id_scalar, scalar_type::uint32);
    emit(op_variable, id_vector_pointer, id_invocation, storage_input);
    if (!options_.one_row) emit(op_variable, id_vector_pointer, id_workgroups, storage_input);
    emit(op_variable, id_pushed_block_pointer, id_pushed, storage_push_constant);
    for (std::uint32_t b = 0; b < buffers_; ++b)
      emit(op_variable, of(id_buffer_pointer, buffer_type(b)), first_buffer_ + b, storage_buffer);
    emit(op_constant, uint_type, id_zero, 0);
    if (!options_.one_row) emit(op_constant, uint_type, id_local_size, options_.local_size);
    for (std::uint32_t m = 0; m < pushed_.size; ++m) emit(op_constant, uint_type, first_pushed_ + m, m);
    constants();
  }

  /// Every invocation has one element. What is pushed is loaded first: inside a branch it costs more on some devices.
  constexpr void body() {
    emit(op_function, id_void, id_main, 0, id_main_type);
    emit(op_label, fresh());
    for (std::uint32_t l = 0; l < leaf_count_; ++l) {
      const instruction& leaf = code_[leaves_[l]];
      load_pushed(member_at(leaf.a, leaf.type), value(leaves_[l]));
    }
    index();
    if (!options_.whole_groups) {
      const std::uint32_t count = load_pushed(pushed_.size - 1, fresh()), inside = fresh();
      emit(op_u_less_than, of(id_scalar, scalar_type::boolean), inside, id_index, count);
      emit(op_selection_merge, id_end, 0);
      emit(op_branch_conditional, inside, id_guarded, id_end);
      emit(op_label, id_guarded);
    }
    for (std::uint32_t i = 0; i < count_; ++i) write(i);
    for (std::uint32_t o = 0; o < kernel_.outputs.size(); ++o)
      emit(op_store, element_of(kernel_.inputs + o), value(kernel_.outputs[o]));
    if (!options_.whole_groups) {
      emit(op_branch, id_end);
      emit(op_label, id_end);
    }
    emit(op_return);
    emit(op_function_end);
  }

  /// A second dimension of workgroups goes on where the first one ends.
  constexpr void index() {
    const std::uint32_t uint_type = of(id_scalar, scalar_type::uint32);
    const std::uint32_t invocation = load(id_vector, id_invocation);
    if (options_.one_row) return emit(op_composite_extract, uint_type, id_index, invocation, 0);
    const std::uint32_t workgroups = load(id_vector, id_workgroups);
    const std::uint32_t x = fresh(), y = fresh(), across = fresh(), row = fresh(), skipped = fresh();
    emit(op_composite_extract, uint_type, x, invocation, 0);
    emit(op_composite_extract, uint_type, y, invocation, 1);
    emit(op_composite_extract, uint_type, across, workgroups, 0);
    emit(op_i_mul, uint_type, row, across, id_local_size);
    emit(op_i_mul, uint_type, skipped, y, row);
    emit(op_i_add, uint_type, id_index, skipped, x);
  }

  constexpr std::uint32_t load(std::uint32_t type, std::uint32_t pointer) {
    const std::uint32_t result = fresh();
    emit(op_load, type, result, pointer);
    return result;
  }
  constexpr std::uint32_t load_pushed(std::uint32_t member, std::uint32_t result) {
    const scalar_type type = pushed_.elements[member].type;
    const std::uint32_t pointer = fresh();
    emit(op_access_chain, of(id_pushed_pointer, type), pointer, id_pushed, first_pushed_ + member);
    emit(op_load, of(id_scalar, type), result, pointer);
    return result;
  }
  constexpr std::uint32_t element_of(std::uint32_t buffer) {
    const std::uint32_t pointer = fresh();
    emit(op_access_chain, of(id_element_pointer, buffer_type(buffer)), pointer, first_buffer_ + buffer, id_zero,
         id_index);
    return pointer;
  }

  constexpr void write(std::uint32_t i) {
    const opcode operation = code_[i].op;
    if (operation == opcode::input)
      emit(op_load, scalar(code_[i].type), value(i), element_of(code_[i].a));
    else if (operation > opcode::constant)
      compute(i);
  }

  program_view kernel_;
  module_options options_;
  std::uint32_t buffers_, first_buffer_, first_pushed_;
};

}  // namespace spirv

/// One evaluation with room for any module; what comes of it is then cut to size. (Of a lambda g++ would make two.)
template <const auto& Program, module_options Options>
constexpr spirv::writer::room assembled_in_room() {
  spirv::writer::room words;
  spirv::assembler module(Program, Options, words);
  module.assemble();
  return words;
}

template <const auto& Program, module_options Options>
inline constexpr spirv::writer::room module_room = assembled_in_room<Program, Options>();

template <const auto& Program, module_options Options>
constexpr auto assembled() {
  static_assert(!module_room<Program, Options>.is_full);
  return spirv::cut_to_size<module_room<Program, Options>>();
}

}  // namespace ir

/// The SPIR-V module of a traced kernel, made while the program compiles: `spirv_module<program_of<decltype(f),
/// float>>`.
template <const auto& Program, module_options Options = module_options{}>
inline constexpr auto spirv_module = ir::assembled<Program, Options>();

/// The same words at run time.
inline std::vector<std::uint32_t> assemble_spirv(ir::program_view kernel, module_options options = {}) {
  std::vector<ir::spirv::writer::room> words(1);  // too large for a stack
  ir::spirv::assembler module(kernel, options, words[0]);
  module.assemble();
  return {module.words().begin(), module.words().end()};
}

}  // namespace levada
