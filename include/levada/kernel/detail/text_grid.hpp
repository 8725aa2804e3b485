// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/text_grid.hpp: a grid kernel to be read by people, as a list of its instructions and as GLSL.

#include <vector>

#include <levada/kernel/detail/text.hpp>

namespace levada {

namespace ir {

/// One instruction a line, indented by the loops and branches around it.
inline std::string instruction_text(const grid_program_view& kernel, std::uint32_t i) {
  const auto [op, type, a, b, c] = kernel.code[i];
  std::string text = "%" + std::to_string(i) + " = " + std::string(name_of(op)) + " " + std::string(name_of(type));
  const std::uint32_t operand[] = {a, b, c};
  for (int k = 0; k < operands(op); ++k) text += " %" + std::to_string(operand[k]);
  switch (op) {
    case opcode::constant:
      return text + " " + number_text(type, a);
    case opcode::uniform:
    case opcode::load_local:
      return text + " " + std::to_string(a);
    case opcode::built_in: {
      constexpr std::string_view names[] = {"x",       "y",       "z",       "local_x", "local_y",
                                            "local_z", "group_x", "group_y", "group_z"};
      return text + " " + std::string(names[a]);
    }
    case opcode::load:
    case opcode::load_shared:
    case opcode::store_local:
      return text + " [" + std::to_string(b) + "]";
    case opcode::store:
    case opcode::store_shared:
      return text + " [" + std::to_string(c) + "]";
    default:
      return text;
  }
}

class grid_glsl_writer : glsl_expressions {
 public:
  explicit grid_glsl_writer(const grid_program_view& kernel) : glsl_expressions(kernel.code), kernel_(kernel) {
    head();
    text_ += "void main() {\n";
    for (std::uint32_t i = 0; i < code_.size(); ++i)
      if (code_[i].op == opcode::built_in || code_[i].op == opcode::uniform)
        line(declared(i) + (code_[i].op == opcode::uniform ? uniform_name(code_[i].a) : place(code_[i].a)));
    for (std::uint32_t l = 0; l < kernel.locals.size(); ++l)
      line(std::string(type_name(kernel.locals[l])) + " local" + std::to_string(l));
    guard();
    for (std::uint32_t i = 0; i < code_.size(); ++i) write(i);
    text_ += "}\n";
  }

  std::string text() && { return std::move(text_); }

 private:
  void head() {
    const auto [x, y, z] = kernel_.grid.group;
    text_ = "#version 450\nlayout(local_size_x = " + std::to_string(x) + ", local_size_y = " + std::to_string(y) +
            ", local_size_z = " + std::to_string(z) + ") in;\n";
    for (std::uint32_t b = 0; b < kernel_.buffers.size(); ++b)
      text_ += "layout(std430, set = 0, binding = " + std::to_string(b) + ") " +
               (kernel_.buffers[b].is_output ? "buffer " : "readonly buffer ") + buffer(b) + "_words { " +
               std::string(type_name(kernel_.buffers[b].type)) + " " + buffer(b) + "[]; };\n";
    for (std::uint32_t s = 0; s < kernel_.shared.size(); ++s)
      text_ += "shared " + std::string(type_name(kernel_.shared[s].type)) + " shared" + std::to_string(s) + "[" +
               std::to_string(kernel_.shared[s].elements) + "];\n";
    std::string members;
    for (std::uint32_t at = 0; at < kernel_.uniform_bytes; at += 4)
      for (const instruction& i : code_)
        if (i.op == opcode::uniform && i.a == at)
          members += "  layout(offset = " + std::to_string(at) + ") " + std::string(type_name(i.type)) + " " +
                     uniform_name(at) + ";\n";
    if (!members.empty()) text_ += "layout(push_constant) uniform closure {\n" + members + "};\n";
  }

  /// Invocations past the grid: gone, or without stores where there are barriers.
  void guard() {
    constexpr std::string_view axes[] = {"x", "y", "z"};
    std::string inside;
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (kernel_.grid.extents[axis] % kernel_.grid.group[axis] != 0)
        inside += (inside.empty() ? "" : " && ") + std::string("gl_GlobalInvocationID.") + std::string(axes[axis]) +
                  " < " + std::to_string(kernel_.grid.extents[axis]) + "u";
    if (inside.empty()) return;
    if (kernel_.has_barrier()) {
      line("bool inside = " + inside);
      guards_stores_ = true;
    } else {
      line("if (!(" + inside + ")) return");
    }
  }

  void write(std::uint32_t i) {
    const auto [op, type, a, b, c] = code_[i];
    switch (op) {
      case opcode::constant:
      case opcode::uniform:
      case opcode::built_in:
      case opcode::phi:
        return;
      case opcode::load:
        return line(declared(i) + loaded(b, index_of(b, a)));
      case opcode::store:
        return store(c, value(a), value(b));
      case opcode::load_shared:
        return line(declared(i) + "shared" + std::to_string(b) + "[" + value(a) + "]");
      case opcode::store_shared:
        return line("shared" + std::to_string(c) + "[" + value(a) + "] = " + value(b));
      case opcode::load_local:
        return line(declared(i) + "local" + std::to_string(a));
      case opcode::store_local:
        return line("local" + std::to_string(b) + " = " + value(a));
      case opcode::loop:
        return open_loop(i);
      case opcode::branch:
        open_.push_back(none);
        return block("if (" + value(a) + ") {");
      case opcode::otherwise:
        depth_ -= 2;
        return block("} else {");
      case opcode::end:
        return close();
      case opcode::barrier:
        return line("barrier()");
      default:
        return line(declared(i) + expression(code_[i]));
    }
  }

  void open_loop(std::uint32_t i) {
    for (std::uint32_t phi = i + 1; code_[phi].op == opcode::phi; ++phi)
      line(std::string(type_name(code_[phi].type)) + " " + value(phi) + " = " + value(code_[phi].a));
    open_.push_back(i);
    const std::string counter = value(i);
    block("for (int " + counter + " = " + value(code_[i].a) + "; " + counter + " < " + value(code_[i].b) + "; ++" +
          counter + ") {");
  }
  void close() {
    const std::uint32_t opened = open_.back();
    open_.pop_back();
    if (opened != none) {
      // All at once: a new number may be the old one of another.
      for (std::uint32_t phi = opened + 1; code_[phi].op == opcode::phi; ++phi)
        line(std::string(type_name(code_[phi].type)) + " next_" + value(phi) + " = " + value(code_[phi].b));
      for (std::uint32_t phi = opened + 1; code_[phi].op == opcode::phi; ++phi)
        line(value(phi) + " = next_" + value(phi));
    }
    depth_ -= 2;
    text_ += std::string(depth_, ' ') + "}\n";
  }

  std::string index_of(std::uint32_t number, std::uint32_t index) const {
    if (!kernel_.has_barrier()) return value(index);
    return "min(uint(" + value(index) + "), " + std::to_string(kernel_.buffers[number].elements - 1) + "u)";
  }
  /// Elements of 1 or 2 bytes lie in words, the first in the lowest bits.
  std::string loaded(std::uint32_t number, const std::string& index) const {
    const std::uint32_t bytes = kernel_.buffers[number].element_bytes;
    if (bytes == 4) return buffer(number) + "[" + index + "]";
    return "bitfieldExtract(" + word(number, index) + ", " + first_bit(bytes, index) + ", " +
           std::to_string(8 * bytes) + ")";
  }
  void store(std::uint32_t number, const std::string& index, const std::string& stored) {
    const std::uint32_t bytes = kernel_.buffers[number].element_bytes;
    const std::string guard = guards_stores_ ? "if (inside) " : "";
    if (bytes == 4) return line(guard + buffer(number) + "[" + index + "] = " + stored);
    const std::string place = word(number, index), bit = first_bit(bytes, index), count = std::to_string(8 * bytes);
    line(guard + "atomicAnd(" + place + ", ~bitfieldInsert(0u, ~0u, " + bit + ", " + count + "))");
    line(guard + "atomicOr(" + place + ", bitfieldInsert(0u, " + stored + ", " + bit + ", " + count + "))");
  }
  static std::string word(std::uint32_t number, const std::string& index, std::uint32_t shift) {
    return buffer(number) + "[(" + index + ") >> " + std::to_string(shift) + "]";
  }
  std::string word(std::uint32_t number, const std::string& index) const {
    return word(number, index, kernel_.buffers[number].element_bytes == 1 ? 2 : 1);
  }
  static std::string first_bit(std::uint32_t bytes, const std::string& index) {
    return "int((" + index + ") & " + (bytes == 1 ? "3" : "1") + ") * " + std::to_string(8 * bytes);
  }

  std::string declared(std::uint32_t i) const {
    return (code_[i].type == scalar_type::float32 ? "precise " : "") + std::string(type_name(code_[i].type)) + " " +
           value(i) + " = ";
  }
  static std::string place(std::uint32_t number) {
    constexpr std::string_view names[] = {"gl_GlobalInvocationID", "gl_LocalInvocationID", "gl_WorkGroupID"};
    constexpr std::string_view axes[] = {".x", ".y", ".z"};
    return "int(" + std::string(names[number / 3]) + std::string(axes[number % 3]) + ")";
  }
  static std::string buffer(std::uint32_t number) { return "buffer" + std::to_string(number); }
  static std::string uniform_name(std::uint32_t offset) { return "uniform" + std::to_string(offset); }

  void line(const std::string& statement) { text_ += std::string(depth_, ' ') + statement + ";\n"; }
  void block(const std::string& head) {
    text_ += std::string(depth_, ' ') + head + "\n";
    depth_ += 2;
  }

  static constexpr std::uint32_t none = ~0u;
  const grid_program_view& kernel_;
  std::string text_;
  std::vector<std::uint32_t> open_;
  std::size_t depth_ = 2;
  bool guards_stores_ = false;
};

}  // namespace ir

/// One instruction a line, indented by the loops and branches around it: `%5 = load float32 %4 [0]`.
inline std::string ir_text(const ir::grid_program_view& kernel) {
  std::string text;
  std::size_t depth = 0;
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    const ir::opcode op = kernel.code[i].op;
    if (op == ir::opcode::end || op == ir::opcode::otherwise) depth -= 2;
    text += std::string(depth, ' ') + ir::instruction_text(kernel, i) + "\n";
    if (op == ir::opcode::loop || op == ir::opcode::branch || op == ir::opcode::otherwise) depth += 2;
  }
  return text;
}

/// A compute shader with the meaning and the interface of the module of kernel/detail/spirv_grid.hpp.
inline std::string glsl_text(const ir::grid_program_view& kernel) { return ir::grid_glsl_writer(kernel).text(); }

}  // namespace levada
