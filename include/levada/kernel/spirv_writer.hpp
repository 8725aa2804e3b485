// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/spirv_writer.hpp: words of SPIR-V 1.3, and the instructions that compute. Numbers and names are those of the
// SPIR-V specification, version 1.3, and of the extended instruction set GLSL.std.450.

#include <initializer_list>
#include <string_view>
#include <utility>

#include <levada/kernel/builder.hpp>

namespace levada {

struct module_options {
  std::uint32_t local_size = 256;
  bool debug_names = false;
};

namespace ir::spirv {

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
  op_type_array = 28,
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
  op_control_barrier = 224,
  op_atomic_and = 240,
  op_atomic_or = 241,
  op_phi = 245,
  op_loop_merge = 246,
  op_selection_merge = 247,
  op_label = 248,
  op_branch = 249,
  op_branch_conditional = 250,
  op_return = 253,
};

enum extended : std::uint32_t { round_even = 2, f_abs = 4, floor = 8, sqrt = 31, u_min = 38 };

enum storage : std::uint32_t {
  storage_input = 1,
  storage_workgroup = 4,
  storage_function = 7,
  storage_push_constant = 9,
  storage_buffer = 12
};

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

inline constexpr std::uint32_t built_in_num_workgroups = 24, built_in_workgroup_id = 26,
                               built_in_local_invocation_id = 27, built_in_global_invocation_id = 28;

/// What the modules of all kernels have in common: room for the words, and one id for each instruction.
class writer {
 public:
  // Far more than the largest kernel needs: some 12 words an instruction.
  static constexpr std::uint32_t max_words = 1u << 15;

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

 protected:
  constexpr explicit writer(std::span<const instruction> code) : code_(code) {}

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

  constexpr std::uint32_t value(std::uint32_t index) const { return first_value_ + index; }
  constexpr std::uint32_t scalar(scalar_type type) const { return first_scalar_ + static_cast<std::uint32_t>(type); }
  constexpr std::uint32_t fresh() { return next_id_++; }

  /// Neither fused nor rearranged: then the result has the same bits everywhere.
  constexpr void forbid_contraction() {
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      const opcode operation = code_[i].op;
      const bool arithmetic = operation == opcode::add || operation == opcode::sub || operation == opcode::mul ||
                              operation == opcode::div || operation == opcode::negate;
      if (arithmetic && code_[i].type == scalar_type::float32) emit(op_decorate, {value(i), no_contraction});
    }
  }

  constexpr void constants() {
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      if (code_[i].op != opcode::constant) continue;
      if (code_[i].type == scalar_type::boolean)
        emit(code_[i].a != 0 ? op_constant_true : op_constant_false, {scalar(scalar_type::boolean), value(i)});
      else
        emit(op_constant, {scalar(code_[i].type), value(i), code_[i].a});
    }
  }

  constexpr void compute(std::uint32_t i) {
    const opcode operation = code_[i].op;
    const scalar_type type = code_[i].type;
    const std::uint32_t a = code_[i].a, b = code_[i].b, c = code_[i].c;
    const scalar_type operand = operands(operation) > 0 ? code_[a].type : type;
    const std::uint32_t result_type = scalar(type), result = value(i);
    auto extended_one = [&](extended number) {
      emit(op_ext_inst, {result_type, result, extended_set_, number, value(a)});
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
        emit(less, {scalar(scalar_type::boolean), other_first, value(left), value(right)});
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
      default:  // is no arithmetic
        break;
    }
  }

  // ---- push constants, in the order of their offsets ----

  struct pushed_member {
    std::uint32_t offset;
    scalar_type type;
  };
  constexpr void insert_pushed(pushed_member member) {
    std::uint32_t place = pushed_.size;
    pushed_.push(member);
    for (; place > 0 && pushed_.elements[place - 1].offset > member.offset; --place)
      pushed_.elements[place] = pushed_.elements[place - 1];
    pushed_.elements[place] = member;
  }
  constexpr std::uint32_t member_at(std::uint32_t byte_offset, scalar_type type) const {
    std::uint32_t m = 0;
    while (pushed_.elements[m].offset != byte_offset || pushed_.elements[m].type != type) ++m;
    return m;
  }

  std::span<const instruction> code_;
  growing<pushed_member, 33> pushed_;
  growing<std::uint32_t, max_words> words_;
  // The ids of the four scalar types, of the extended instruction set, and of the first instruction.
  std::uint32_t first_scalar_ = 0, extended_set_ = 0, first_value_ = 0, next_id_ = 0;
};

}  // namespace ir::spirv
}  // namespace levada
