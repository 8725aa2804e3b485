// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/spirv.hpp: the words of the SPIR-V 1.3 module of an element-wise kernel, for Vulkan 1.2 or newer.
// One function writes them, while the program compiles or later. Numbers and names of the instructions are those of the
// SPIR-V specification, version 1.3, and of the extended instruction set GLSL.std.450.
//
// The module's interface: descriptor set 0 has a storage buffer of 32-bit elements for each input, then for each
// output. The push constants are the bytes of the kernel's closure, then the number of elements as a uint32. The entry
// point is "main"; workgroups are `module_options::local_size` by 1 by 1, in one or two dimensions. Invocations past
// the number of elements do nothing.

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/kernel/builder.hpp>

namespace levada {

struct module_options {
  std::uint32_t local_size = 256;
  bool debug_names = false;
};

namespace ir {

namespace spirv {

enum op : std::uint16_t {
  op_name = 5,
  op_ext_inst_import = 11,
  op_ext_inst = 12,
  op_memory_model = 14,
  op_entry_point = 15,
  op_execution_mode = 16,
  op_capability = 17,
  op_type_void = 19,
  op_type_bool = 20,
  op_type_int = 21,
  op_type_float = 22,
  op_type_vector = 23,
  op_type_runtime_array = 29,
  op_type_struct = 30,
  op_type_pointer = 32,
  op_type_function = 33,
  op_constant_true = 41,
  op_constant_false = 42,
  op_constant = 43,
  op_function = 54,
  op_function_end = 56,
  op_variable = 59,
  op_load = 61,
  op_store = 62,
  op_access_chain = 65,
  op_decorate = 71,
  op_member_decorate = 72,
  op_composite_extract = 81,
  op_convert_f_to_s = 110,
  op_convert_s_to_f = 111,
  op_bitcast = 124,
  op_f_negate = 127,
  op_i_add = 128,
  op_f_add = 129,
  op_i_sub = 130,
  op_f_sub = 131,
  op_i_mul = 132,
  op_f_mul = 133,
  op_u_div = 134,
  op_s_div = 135,
  op_f_div = 136,
  op_logical_equal = 164,
  op_logical_not_equal = 165,
  op_logical_or = 166,
  op_logical_and = 167,
  op_logical_not = 168,
  op_select = 169,
  op_i_equal = 170,
  op_u_less_than = 176,
  op_s_less_than = 177,
  op_u_less_than_equal = 178,
  op_s_less_than_equal = 179,
  op_f_ord_equal = 180,
  op_f_ord_less_than = 184,
  op_f_ord_less_than_equal = 188,
  op_shift_right_logical = 194,
  op_shift_right_arithmetic = 195,
  op_shift_left_logical = 196,
  op_bitwise_or = 197,
  op_bitwise_xor = 198,
  op_bitwise_and = 199,
  op_not = 200,
  op_selection_merge = 247,
  op_label = 248,
  op_branch = 249,
  op_branch_conditional = 250,
  op_return = 253,
};

enum extended : std::uint32_t { round_even = 2, f_abs = 4, floor = 8, sqrt = 31 };

enum storage : std::uint32_t { storage_input = 1, storage_push_constant = 9, storage_buffer = 12 };

enum decoration : std::uint32_t {
  block = 2,
  array_stride = 6,
  built_in = 11,
  non_writable = 24,
  non_readable = 25,
  binding = 33,
  descriptor_set = 34,
  offset = 35,
  no_contraction = 42,
};

inline constexpr std::uint32_t built_in_num_workgroups = 24, built_in_global_invocation_id = 28;

/// Writes one module. Ids are given in advance: first those of what every module has, then of buffers and pushed
/// members, then one for each instruction of the kernel; ids that nothing needs stay unused.
class assembler {
 public:
  // Far more than the largest kernel needs: some 12 words an instruction.
  static constexpr std::uint32_t max_words = 1u << 15;

  constexpr assembler(program_view kernel, module_options options) : kernel_(kernel), options_(options) {
    for (const instruction& i : kernel.code)
      if (i.op == opcode::uniform) insert_pushed({i.a, i.type});
    pushed_.push({kernel.uniform_bytes, scalar_type::uint32});  // the number of elements
    buffers_ = kernel.inputs + static_cast<std::uint32_t>(kernel.outputs.size());
    first_buffer_ = id_fixed_end;
    first_pushed_ = first_buffer_ + buffers_;  // the constants that index its members
    first_value_ = first_pushed_ + pushed_.size;
    next_id_ = first_value_ + static_cast<std::uint32_t>(kernel.code.size());

    for (std::uint32_t word : {0x07230203u, 0x00010300u, 0u, 0u, 0u}) words_.push(word);
    preamble();
    if (options_.debug_names) names();
    decorations();
    types();
    globals();
    body();
    words_.elements[3] = next_id_;
  }

  constexpr std::span<const std::uint32_t> words() const { return {words_.elements, words_.size}; }

  /// The words in room for any module.
  struct scratch {
    std::uint32_t words[max_words];
    std::uint32_t size;
  };
  constexpr scratch finished() const {
    scratch all{};
    all.size = words_.size;
    for (std::uint32_t i = 0; i < words_.size; ++i) all.words[i] = words_.elements[i];
    return all;
  }

 private:
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
  struct pushed_member {
    std::uint32_t offset;
    scalar_type type;
  };

  // ---- words ----

  constexpr void emit(op code, std::initializer_list<std::uint32_t> operands) {
    std::uint32_t at = words_.size;
    words_.elements[at++] = static_cast<std::uint32_t>(operands.size() + 1) << 16 | code;
    for (std::uint32_t word : operands) words_.elements[at++] = word;
    words_.size = at;
  }
  /// An instruction that ends in a text: four characters a word, a zero behind them.
  constexpr void emit_text(op code, std::initializer_list<std::uint32_t> before, std::string_view text,
                           std::initializer_list<std::uint32_t> after = {}) {
    const std::uint32_t start = words_.size;
    words_.push(0);
    for (std::uint32_t word : before) words_.push(word);
    for (std::size_t i = 0; i <= text.size(); i += 4) {
      std::uint32_t word = 0;
      for (std::size_t k = 0; k < 4 && i + k < text.size(); ++k)
        word |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[i + k])) << (8 * k);
      words_.push(word);
    }
    for (std::uint32_t word : after) words_.push(word);
    words_.elements[start] = (words_.size - start) << 16 | code;
  }

  static constexpr std::uint32_t of(std::uint32_t first, scalar_type type) {
    return first + static_cast<std::uint32_t>(type);
  }
  constexpr std::uint32_t value(std::uint32_t index) const { return first_value_ + index; }
  constexpr scalar_type buffer_type(std::uint32_t buffer) const {
    return buffer < kernel_.inputs ? kernel_.type_of(buffer)
                                   : kernel_.type_of(kernel_.outputs[buffer - kernel_.inputs]);
  }
  constexpr bool stores(scalar_type type) const {
    for (std::uint32_t b = 0; b < buffers_; ++b)
      if (buffer_type(b) == type) return true;
    return false;
  }
  constexpr void insert_pushed(pushed_member member) {
    std::uint32_t place = pushed_.size;
    pushed_.push(member);
    for (; place > 0 && pushed_.elements[place - 1].offset > member.offset; --place)
      pushed_.elements[place] = pushed_.elements[place - 1];
    pushed_.elements[place] = member;
  }
  static constexpr scalar_type stored_types[] = {scalar_type::float32, scalar_type::int32, scalar_type::uint32};

  // ---- sections, in the order that the specification asks for ----

  constexpr void preamble() {
    emit(op_capability, {1});  // Shader
    emit_text(op_ext_inst_import, {id_extended}, "GLSL.std.450");
    emit(op_memory_model, {0, 1});                                                    // Logical, GLSL450
    emit_text(op_entry_point, {5, id_main}, "main", {id_invocation, id_workgroups});  // GLCompute
    emit(op_execution_mode, {id_main, 17, options_.local_size, 1, 1});                // LocalSize
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
    emit(op_decorate, {id_invocation, built_in, built_in_global_invocation_id});
    emit(op_decorate, {id_workgroups, built_in, built_in_num_workgroups});
    for (scalar_type type : stored_types) {
      if (!stores(type)) continue;
      emit(op_decorate, {of(id_array, type), array_stride, 4});
      emit(op_decorate, {of(id_buffer_type, type), block});
      emit(op_member_decorate, {of(id_buffer_type, type), 0, offset, 0});
    }
    emit(op_decorate, {id_pushed_type, block});
    for (std::uint32_t m = 0; m < pushed_.size; ++m)
      emit(op_member_decorate, {id_pushed_type, m, offset, pushed_.elements[m].offset});
    for (std::uint32_t b = 0; b < buffers_; ++b) {
      emit(op_decorate, {first_buffer_ + b, descriptor_set, 0});
      emit(op_decorate, {first_buffer_ + b, binding, b});
      emit(op_decorate, {first_buffer_ + b, b < kernel_.inputs ? non_writable : non_readable});
    }
    // Neither fused nor rearranged: then the result has the same bits everywhere.
    for (std::uint32_t i = 0; i < kernel_.code.size(); ++i) {
      const auto [operation, type, a, b, c] = kernel_.code[i];
      const bool arithmetic = operation == opcode::add || operation == opcode::sub || operation == opcode::mul ||
                              operation == opcode::div || operation == opcode::negate;
      if (arithmetic && type == scalar_type::float32) emit(op_decorate, {value(i), no_contraction});
    }
  }

  constexpr void types() {
    emit(op_type_void, {id_void});
    emit(op_type_function, {id_main_type, id_void});
    emit(op_type_float, {of(id_scalar, scalar_type::float32), 32});
    emit(op_type_int, {of(id_scalar, scalar_type::int32), 32, 1});
    emit(op_type_int, {of(id_scalar, scalar_type::uint32), 32, 0});
    emit(op_type_bool, {of(id_scalar, scalar_type::boolean)});
    emit(op_type_vector, {id_vector, of(id_scalar, scalar_type::uint32), 3});
    emit(op_type_pointer, {id_vector_pointer, storage_input, id_vector});
    for (scalar_type type : stored_types) {
      const std::uint32_t scalar = of(id_scalar, type);
      bool pushed = false;
      for (std::uint32_t m = 0; m < pushed_.size; ++m) pushed = pushed || pushed_.elements[m].type == type;
      if (pushed) emit(op_type_pointer, {of(id_pushed_pointer, type), storage_push_constant, scalar});
      if (!stores(type)) continue;
      emit(op_type_pointer, {of(id_element_pointer, type), storage_buffer, scalar});
      emit(op_type_runtime_array, {of(id_array, type), scalar});
      emit(op_type_struct, {of(id_buffer_type, type), of(id_array, type)});
      emit(op_type_pointer, {of(id_buffer_pointer, type), storage_buffer, of(id_buffer_type, type)});
    }
    words_.push((2 + pushed_.size) << 16 | op_type_struct);
    words_.push(id_pushed_type);
    for (std::uint32_t m = 0; m < pushed_.size; ++m) words_.push(of(id_scalar, pushed_.elements[m].type));
    emit(op_type_pointer, {id_pushed_block_pointer, storage_push_constant, id_pushed_type});
  }

  constexpr void globals() {
    const std::uint32_t uint_type = of(id_scalar, scalar_type::uint32);
    emit(op_variable, {id_vector_pointer, id_invocation, storage_input});
    emit(op_variable, {id_vector_pointer, id_workgroups, storage_input});
    emit(op_variable, {id_pushed_block_pointer, id_pushed, storage_push_constant});
    for (std::uint32_t b = 0; b < buffers_; ++b)
      emit(op_variable, {of(id_buffer_pointer, buffer_type(b)), first_buffer_ + b, storage_buffer});
    emit(op_constant, {uint_type, id_zero, 0});
    emit(op_constant, {uint_type, id_local_size, options_.local_size});
    for (std::uint32_t m = 0; m < pushed_.size; ++m) emit(op_constant, {uint_type, first_pushed_ + m, m});
    for (std::uint32_t i = 0; i < kernel_.code.size(); ++i) {
      const auto [operation, type, word, b, c] = kernel_.code[i];
      if (operation != opcode::constant) continue;
      if (type == scalar_type::boolean)
        emit(word != 0 ? op_constant_true : op_constant_false, {of(id_scalar, type), value(i)});
      else
        emit(op_constant, {of(id_scalar, type), value(i), word});
    }
  }

  /// Every invocation has one element; a second dimension of workgroups goes on where the first one ends.
  constexpr void body() {
    const std::uint32_t uint_type = of(id_scalar, scalar_type::uint32);
    emit(op_function, {id_void, id_main, 0, id_main_type});
    emit(op_label, {fresh()});
    const std::uint32_t invocation = load(id_vector, id_invocation), workgroups = load(id_vector, id_workgroups);
    const std::uint32_t x = fresh(), y = fresh(), across = fresh(), row = fresh(), skipped = fresh(), inside = fresh();
    emit(op_composite_extract, {uint_type, x, invocation, 0});
    emit(op_composite_extract, {uint_type, y, invocation, 1});
    emit(op_composite_extract, {uint_type, across, workgroups, 0});
    emit(op_i_mul, {uint_type, row, across, id_local_size});
    emit(op_i_mul, {uint_type, skipped, y, row});
    emit(op_i_add, {uint_type, id_index, skipped, x});
    const std::uint32_t count = load_pushed(pushed_.size - 1, fresh());
    emit(op_u_less_than, {of(id_scalar, scalar_type::boolean), inside, id_index, count});
    emit(op_selection_merge, {id_end, 0});
    emit(op_branch_conditional, {inside, id_guarded, id_end});
    emit(op_label, {id_guarded});
    for (std::uint32_t i = 0; i < kernel_.code.size(); ++i) compute(i);
    for (std::uint32_t o = 0; o < kernel_.outputs.size(); ++o)
      emit(op_store, {element_of(kernel_.inputs + o), value(kernel_.outputs[o])});
    emit(op_branch, {id_end});
    emit(op_label, {id_end});
    emit(op_return, {});
    emit(op_function_end, {});
  }

  constexpr std::uint32_t fresh() { return next_id_++; }

  constexpr std::uint32_t load(std::uint32_t type, std::uint32_t pointer) {
    const std::uint32_t result = fresh();
    emit(op_load, {type, result, pointer});
    return result;
  }
  constexpr std::uint32_t load_pushed(std::uint32_t member, std::uint32_t result) {
    const scalar_type type = pushed_.elements[member].type;
    const std::uint32_t pointer = fresh();
    emit(op_access_chain, {of(id_pushed_pointer, type), pointer, id_pushed, first_pushed_ + member});
    emit(op_load, {of(id_scalar, type), result, pointer});
    return result;
  }
  constexpr std::uint32_t element_of(std::uint32_t buffer) {
    const std::uint32_t pointer = fresh();
    emit(op_access_chain,
         {of(id_element_pointer, buffer_type(buffer)), pointer, first_buffer_ + buffer, id_zero, id_index});
    return pointer;
  }

  constexpr void compute(std::uint32_t i) {
    const opcode operation = kernel_.code[i].op;
    const scalar_type type = kernel_.code[i].type;
    const std::uint32_t a = kernel_.code[i].a, b = kernel_.code[i].b, c = kernel_.code[i].c;
    const scalar_type operand = operands(operation) > 0 ? kernel_.type_of(a) : type;
    const std::uint32_t result_type = of(id_scalar, type), result = value(i);
    auto extended_one = [&](extended number) {
      emit(op_ext_inst, {result_type, result, id_extended, number, value(a)});
    };
    auto one = [&](op code) { emit(code, {result_type, result, value(a)}); };
    auto two = [&](op code) { emit(code, {result_type, result, value(a), value(b)}); };
    // The instruction for floats, for int32, for uint32, for booleans.
    auto by_type = [&](op f, op s, op u, op logical) {
      two(operand == scalar_type::float32  ? f
          : operand == scalar_type::int32  ? s
          : operand == scalar_type::uint32 ? u
                                           : logical);
    };
    switch (operation) {
      case opcode::input:
        emit(op_load, {result_type, result, element_of(a)});
        break;
      case opcode::uniform:
        load_pushed(member_at(a, type), result);
        break;
      case opcode::constant:
        break;
      case opcode::add:
        by_type(op_f_add, op_i_add, op_i_add, op_i_add);
        break;
      case opcode::sub:
        by_type(op_f_sub, op_i_sub, op_i_sub, op_i_sub);
        break;
      case opcode::mul:
        by_type(op_f_mul, op_i_mul, op_i_mul, op_i_mul);
        break;
      case opcode::div:
        by_type(op_f_div, op_s_div, op_u_div, op_u_div);
        break;
      case opcode::negate:
        one(op_f_negate);
        break;
      case opcode::abs:
        extended_one(f_abs);
        break;
      case opcode::floor:
        extended_one(spirv::floor);
        break;
      case opcode::round_even:
        extended_one(spirv::round_even);
        break;
      case opcode::sqrt:
        extended_one(spirv::sqrt);
        break;
      case opcode::min:
      case opcode::max: {  // FMin and FMax may give anything where an operand is NaN
        const std::uint32_t other_first = fresh();
        const auto [left, right] = operation == opcode::min ? std::pair(b, a) : std::pair(a, b);
        const op less = operand == scalar_type::float32 ? op_f_ord_less_than
                        : operand == scalar_type::int32 ? op_s_less_than
                                                        : op_u_less_than;
        emit(less, {of(id_scalar, scalar_type::boolean), other_first, value(left), value(right)});
        emit(op_select, {result_type, result, other_first, value(b), value(a)});
        break;
      }
      case opcode::equal:
        by_type(op_f_ord_equal, op_i_equal, op_i_equal, op_logical_equal);
        break;
      case opcode::less:
        by_type(op_f_ord_less_than, op_s_less_than, op_u_less_than, op_u_less_than);
        break;
      case opcode::less_equal:
        by_type(op_f_ord_less_than_equal, op_s_less_than_equal, op_u_less_than_equal, op_u_less_than_equal);
        break;
      case opcode::bit_and:
        by_type(op_bitwise_and, op_bitwise_and, op_bitwise_and, op_logical_and);
        break;
      case opcode::bit_or:
        by_type(op_bitwise_or, op_bitwise_or, op_bitwise_or, op_logical_or);
        break;
      case opcode::bit_xor:
        by_type(op_bitwise_xor, op_bitwise_xor, op_bitwise_xor, op_logical_not_equal);
        break;
      case opcode::bit_not:
        one(operand == scalar_type::boolean ? op_logical_not : op_not);
        break;
      case opcode::shift_left:
        two(op_shift_left_logical);
        break;
      case opcode::shift_right:
        two(operand == scalar_type::int32 ? op_shift_right_arithmetic : op_shift_right_logical);
        break;
      case opcode::select:
        emit(op_select, {result_type, result, value(a), value(b), value(c)});
        break;
      case opcode::convert:
        one(type == scalar_type::float32 ? op_convert_s_to_f : op_convert_f_to_s);
        break;
      case opcode::bitcast:
        one(op_bitcast);
        break;
    }
  }

  constexpr std::uint32_t member_at(std::uint32_t byte_offset, scalar_type type) const {
    std::uint32_t m = 0;
    while (pushed_.elements[m].offset != byte_offset || pushed_.elements[m].type != type) ++m;
    return m;
  }

  program_view kernel_;
  module_options options_;
  growing<std::uint32_t, max_words> words_;
  growing<pushed_member, 33> pushed_;
  std::uint32_t buffers_, first_buffer_, first_pushed_, first_value_, next_id_;
};

}  // namespace spirv

/// One evaluation with room for any module; what comes of it is then cut to size.
template <const auto& Program, module_options Options>
constexpr auto assembled() {
  constexpr spirv::assembler::scratch whole = spirv::assembler(Program, Options).finished();
  std::array<std::uint32_t, whole.size> words{};
  for (std::size_t i = 0; i < whole.size; ++i) words[i] = whole.words[i];
  return words;
}

}  // namespace ir

/// The SPIR-V module of a traced kernel, made while the program compiles: `spirv_module<program_of<decltype(f),
/// float>>`.
template <const auto& Program, module_options Options = module_options{}>
inline constexpr auto spirv_module = ir::assembled<Program, Options>();

/// The same words at run time.
inline std::vector<std::uint32_t> assemble_spirv(ir::program_view kernel, module_options options = {}) {
  std::vector<ir::spirv::assembler> module;  // a vector of one: too large for a stack
  module.emplace_back(kernel, options);
  return {module[0].words().begin(), module[0].words().end()};
}

}  // namespace levada
