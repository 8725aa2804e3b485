// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/spirv_writer.hpp: words of SPIR-V 1.3, and the instructions that compute. Numbers and names are those
// of the SPIR-V specification, version 1.3, and of the extended instruction set GLSL.std.450.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <levada/kernel/detail/builder.hpp>

namespace levada {

struct module_options {
  std::uint32_t local_size = 256;
  bool one_row = false;       ///< all workgroups lie along x
  bool whole_groups = false;  ///< the number of elements is a multiple of `local_size`, so that none is past it
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
  // Far more than the largest kernel needs: some 12 words an instruction, 60 where it stores a byte.
  static constexpr std::uint32_t max_words = 1u << 15;
  /// Where they go. Not a member: while compiling, what lies deeper in an object costs more to write. Zeros, so that it
  /// can be the value of a constant as it is.
  struct room {
    std::uint32_t elements[max_words]{};
    std::uint32_t size = 0;
    bool is_full = false;

    constexpr void push(std::uint32_t word) {
      if (size == max_words)
        is_full = true;
      else
        elements[size++] = word;
    }
  };

  constexpr std::span<const std::uint32_t> words() const { return {words_.elements, words_.size}; }

  /// More words than there is room for: the module is of no use.
  constexpr bool is_full() const { return words_.is_full; }

 protected:
  constexpr writer(std::span<const instruction> code, room& words)
      : code_(code.data()), count_(static_cast<std::uint32_t>(code.size())), words_(words) {}

  /// The parts of a module, in the order that the specification wants.
  template <class Module>
  static constexpr void write_module(Module& to, bool debug_names) {
    for (std::uint32_t word : {0x07230203u, 0x00010300u, 0u, 0u, 0u}) to.words_.push(word);
    to.preamble();
    if (debug_names) to.names();
    to.decorations();
    to.types();
    to.globals();
    to.body();
    to.words_.elements[3] = to.next_id_;
  }

  /// An instruction of these words. Without a loop, an array or a pointer, which cost more while compiling.
  template <class... Operand>
  constexpr void emit(op code, Operand... operands) {
    constexpr std::uint32_t length = sizeof...(Operand) + 1;
    std::uint32_t at = words_.size;
    if (at + length > max_words) {
      words_.is_full = true;
      return;
    }
    words_.size = at + length;
    words_.elements[at] = length << 16 | code;
    ((words_.elements[++at] = static_cast<std::uint32_t>(operands)), ...);
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

  /// Notes the instructions that are asked for before the others: every pass over all of them costs while compiling.
  constexpr void sort_out() {
    for (std::uint32_t i = 0; i < count_; ++i) {
      const opcode op = code_[i].op;
      if (op >= opcode::add && op <= opcode::negate) {
        if (code_[i].type == scalar_type::float32) rounded_[rounded_count_++] = i;
      } else if (op == opcode::constant) {
        constants_[constant_count_++] = i;
      } else if (op == opcode::uniform || op == opcode::built_in) {
        leaves_[leaf_count_++] = i;
      }
    }
  }

  /// Neither fused nor rearranged: then the result has the same bits everywhere.
  constexpr void forbid_contraction() {
    for (std::uint32_t r = 0; r < rounded_count_; ++r) emit(op_decorate, first_value_ + rounded_[r], no_contraction);
  }

  constexpr void constants() {
    for (std::uint32_t c = 0; c < constant_count_; ++c) {
      const std::uint32_t i = constants_[c];
      const instruction& made = code_[i];
      if (made.type == scalar_type::boolean)
        emit(made.a != 0 ? op_constant_true : op_constant_false, scalar(scalar_type::boolean), value(i));
      else
        emit(op_constant, scalar(made.type), value(i), made.a);
    }
  }

  /// An instruction that computes.
  constexpr void compute(std::uint32_t i) {
    const instruction& made = code_[i];
    const opcode operation = made.op;
    if (operation == opcode::min || operation == opcode::max) return smaller_or_larger(i);
    const int count = operand_counts[static_cast<int>(operation)];
    const std::uint16_t number =
        numbers[static_cast<int>(operation) - static_cast<int>(opcode::add)][static_cast<int>(code_[made.a].type)];
    const std::uint32_t values = first_value_, type = first_scalar_ + static_cast<std::uint32_t>(made.type);
    if (count == 2)
      emit(op{number}, type, values + i, values + made.a, values + made.b);
    else if (count == 3)
      emit(op{number}, type, values + i, values + made.a, values + made.b, values + made.c);
    else if (operation >= opcode::abs && operation <= opcode::sqrt)
      emit(op_ext_inst, type, values + i, extended_set_, number, values + made.a);
    else
      emit(op{number}, type, values + i, values + made.a);
  }
  /// FMin and FMax may give anything where an operand is NaN.
  constexpr void smaller_or_larger(std::uint32_t i) {
    const instruction& made = code_[i];
    const std::uint32_t other_first = fresh(), a = value(made.a), b = value(made.b);
    const std::uint16_t less =
        numbers[static_cast<int>(opcode::less) - static_cast<int>(opcode::add)][static_cast<int>(made.type)];
    const bool is_min = made.op == opcode::min;
    emit(op{less}, scalar(scalar_type::boolean), other_first, is_min ? b : a, is_min ? a : b);
    emit(op_select, scalar(made.type), value(i), other_first, b, a);
  }

  /// From `add` on, for operands that are float32, int32, uint32, boolean: a table, as constant evaluation walks
  /// through a switch case by case.
  static constexpr std::uint16_t numbers[][4] = {
      {op_f_add, op_i_add, op_i_add},
      {op_f_sub, op_i_sub, op_i_sub},
      {op_f_mul, op_i_mul, op_i_mul},
      {op_f_div, op_s_div, op_u_div},
      {op_f_negate},
      {f_abs},
      {floor},
      {round_even},
      {sqrt},
      {},  // min
      {},  // max
      {op_f_ord_equal, op_i_equal, op_i_equal, op_logical_equal},
      {op_f_ord_less_than, op_s_less_than, op_u_less_than},
      {op_f_ord_less_than_equal, op_s_less_than_equal, op_u_less_than_equal},
      {0, op_bitwise_and, op_bitwise_and, op_logical_and},
      {0, op_bitwise_or, op_bitwise_or, op_logical_or},
      {0, op_bitwise_xor, op_bitwise_xor, op_logical_not_equal},
      {0, op_not, op_not, op_logical_not},
      {0, op_shift_left_logical, op_shift_left_logical},
      {0, op_shift_right_arithmetic, op_shift_right_logical},
      {0, 0, 0, op_select},
      {op_convert_f_to_s, op_convert_s_to_f},
      {op_bitcast, op_bitcast, op_bitcast},
  };

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

  // No span: its functions cost time while compiling.
  const instruction* code_;
  std::uint32_t count_;
  constexpr_vector<pushed_member, 33> pushed_;
  std::uint32_t constants_[max_instructions], constant_count_ = 0;
  std::uint32_t rounded_[max_instructions], rounded_count_ = 0;
  std::uint32_t leaves_[max_instructions], leaf_count_ = 0;  // but constants
  room& words_;
  // The ids of the four scalar types, of the extended instruction set, and of the first instruction.
  std::uint32_t first_scalar_ = 0, extended_set_ = 0, first_value_ = 0, next_id_ = 0;
};

/// The words of a module that was made with room for any.
template <const writer::room& Whole>
constexpr auto cut_to_size() {
  std::uint32_t words[Whole.size];  // not a std::array: its operator costs more than the word
  for (std::size_t i = 0; i < Whole.size; ++i) words[i] = Whole.elements[i];
  return std::bit_cast<std::array<std::uint32_t, Whole.size>>(words);
}

}  // namespace ir::spirv
}  // namespace levada
