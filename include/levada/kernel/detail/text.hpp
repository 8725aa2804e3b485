// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/text.hpp: a traced kernel to be read by people, as a list of its instructions and as GLSL.

#include <bit>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include <levada/kernel/detail/ir.hpp>

namespace levada {

namespace ir {

constexpr std::string_view name_of(scalar_type type) {
  constexpr std::string_view names[] = {"float32", "int32", "uint32", "boolean"};
  return names[static_cast<int>(type)];
}

constexpr std::string_view name_of(opcode op) {
  constexpr std::string_view names[] = {
      "input",       "uniform", "constant",   "add",     "sub",       "mul",         "div",          "negate",
      "abs",         "floor",   "round_even", "sqrt",    "min",       "max",         "equal",        "less",
      "less_equal",  "bit_and", "bit_or",     "bit_xor", "bit_not",   "shift_left",  "shift_right",  "select",
      "convert",     "bitcast", "built_in",   "load",    "store",     "load_shared", "store_shared", "load_local",
      "store_local", "loop",    "phi",        "branch",  "otherwise", "end",         "barrier"};
  return names[static_cast<int>(op)];
}

/// The number that `word` stands for, as C++ and GLSL read it where it is finite.
inline std::string number_text(scalar_type type, std::uint32_t word) {
  if (type == scalar_type::boolean) return word != 0 ? "true" : "false";
  char digits[32];
  auto print = [&](auto x) { return std::string(digits, std::to_chars(digits, digits + sizeof digits, x).ptr); };
  if (type == scalar_type::uint32) return print(word) + "u";
  if (type == scalar_type::int32) return print(std::bit_cast<std::int32_t>(word));
  std::string text = print(std::bit_cast<float>(word));
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace ir

/// One instruction a line: `%5 = add float32 %3 %4`.
inline std::string ir_text(ir::program_view kernel) {
  std::string text;
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    const auto [op, type, a, b, c] = kernel.code[i];
    const int count = ir::operands(op);
    text.append("%").append(std::to_string(i)).append(" = ").append(name_of(op)).append(" ").append(name_of(type));
    if (op == ir::opcode::constant) text.append(" ").append(ir::number_text(type, a));
    if (op == ir::opcode::input || op == ir::opcode::uniform) text.append(" ").append(std::to_string(a));
    if (count > 0) text.append(" %").append(std::to_string(a));
    if (count > 1) text.append(" %").append(std::to_string(b));
    if (count > 2) text.append(" %").append(std::to_string(c));
    text.append("\n");
  }
  for (std::uint32_t o = 0; o < kernel.outputs.size(); ++o)
    text.append("output ")
        .append(std::to_string(o))
        .append(" = %")
        .append(std::to_string(kernel.outputs[o]))
        .append("\n");
  return text;
}

namespace ir {

/// What each instruction reads like in GLSL.
class glsl_expressions {
 protected:
  explicit glsl_expressions(std::span<const instruction> code) : code_(code) {}

  static std::string_view type_name(scalar_type type) {
    constexpr std::string_view names[] = {"float", "int", "uint", "bool"};
    return names[static_cast<int>(type)];
  }
  static std::string input_name(std::uint32_t i) { return "input" + std::to_string(i); }
  static std::string output_name(std::uint32_t i) { return "output" + std::to_string(i); }
  static std::string uniform_name(std::uint32_t offset) { return "uniform" + std::to_string(offset); }

  std::string value(std::uint32_t i) const {
    if (code_[i].op != opcode::constant) return "v" + std::to_string(i);
    const auto [op, type, word, b, c] = code_[i];
    if (type == scalar_type::float32 && !std::isfinite(std::bit_cast<float>(word)))
      return "uintBitsToFloat(" + std::to_string(word) + "u)";
    if (type == scalar_type::int32 && word == 0x80000000u) return "int(0x80000000)";
    const std::string text = number_text(type, word);
    return text[0] == '-' ? "(" + text + ")" : text;
  }

  std::string expression(const instruction& i) const {
    const bool logical = i.type == scalar_type::boolean;
    auto infix = [&](const char* symbol) { return value(i.a) + " " + symbol + " " + value(i.b); };
    auto call = [&](const std::string& function) { return function + "(" + value(i.a) + ")"; };
    auto chosen = [&](std::uint32_t less, std::uint32_t than) {
      return value(less) + " < " + value(than) + " ? " + value(i.b) + " : " + value(i.a);
    };
    switch (i.op) {
      case opcode::input:
        return input_name(i.a) + "[index]";
      case opcode::uniform:
        return uniform_name(i.a);
      case opcode::constant:
        return number_text(i.type, i.a);
      case opcode::add:
        return infix("+");
      case opcode::sub:
        return infix("-");
      case opcode::mul:
        return infix("*");
      case opcode::div:
        return infix("/");
      case opcode::negate:
        return "-" + value(i.a);
      case opcode::abs:
        return call("abs");
      case opcode::floor:
        return call("floor");
      case opcode::round_even:
        return call("roundEven");
      case opcode::sqrt:
        return call("sqrt");
      case opcode::min:
        return chosen(i.b, i.a);
      case opcode::max:
        return chosen(i.a, i.b);
      case opcode::equal:
        return infix("==");
      case opcode::less:
        return infix("<");
      case opcode::less_equal:
        return infix("<=");
      case opcode::bit_and:
        return infix(logical ? "&&" : "&");
      case opcode::bit_or:
        return infix(logical ? "||" : "|");
      case opcode::bit_xor:
        return infix(logical ? "^^" : "^");
      case opcode::bit_not:
        return (logical ? "!" : "~") + value(i.a);
      case opcode::shift_left:
        return infix("<<");
      case opcode::shift_right:
        return infix(">>");
      case opcode::select:
        return value(i.a) + " ? " + value(i.b) + " : " + value(i.c);
      case opcode::convert:
        return call(std::string(type_name(i.type)));
      case opcode::bitcast:
        return call(bitcast_name(code_[i.a].type, i.type));
      default:  // what a grid kernel does besides computing
        return {};
    }
  }

  static std::string bitcast_name(scalar_type from, scalar_type to) {
    if (to == scalar_type::float32) return from == scalar_type::int32 ? "intBitsToFloat" : "uintBitsToFloat";
    if (from == scalar_type::float32) return to == scalar_type::int32 ? "floatBitsToInt" : "floatBitsToUint";
    return std::string(type_name(to));
  }

  std::span<const instruction> code_;
};

class glsl_writer : glsl_expressions {
 public:
  glsl_writer(program_view kernel, std::uint32_t local_size) : glsl_expressions(kernel.code) {
    text_ = "#version 450\nlayout(local_size_x = " + std::to_string(local_size) + ") in;\n";
    const auto buffers = kernel.inputs + kernel.outputs.size();
    for (std::uint32_t b = 0; b < buffers; ++b) {
      const bool input = b < kernel.inputs;
      const std::string name = input ? input_name(b) : output_name(b - kernel.inputs);
      const scalar_type type = kernel.type_of(input ? b : kernel.outputs[b - kernel.inputs]);
      text_ += "layout(std430, set = 0, binding = " + std::to_string(b) + ") " + (input ? "readonly" : "writeonly") +
               " buffer " + name + "_buffer { " + std::string(type_name(type)) + " " + name + "[]; };\n";
    }
    text_ += "layout(push_constant) uniform closure {\n";
    // In the order of their offsets.
    for (std::uint32_t at = 0; at < kernel.uniform_bytes; at += 4)
      for (const instruction& i : kernel.code)
        if (i.op == opcode::uniform && i.a == at)
          text_ += "  layout(offset = " + std::to_string(at) + ") " + std::string(type_name(i.type)) + " " +
                   uniform_name(at) + ";\n";
    text_ += "  layout(offset = " + std::to_string(kernel.uniform_bytes) + ") uint count;\n};\n";
    text_ +=
        "void main() {\n"
        "  uint index = gl_GlobalInvocationID.y * (gl_NumWorkGroups.x * gl_WorkGroupSize.x) + "
        "gl_GlobalInvocationID.x;\n"
        "  if (index >= count) return;\n";
    for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
      const instruction& written = kernel.code[i];
      if (written.op == opcode::constant) continue;
      text_ += written.type == scalar_type::float32 ? "  precise " : "  ";
      text_ += std::string(type_name(written.type)) + " " + value(i) + " = " + expression(written) + ";\n";
    }
    for (std::uint32_t o = 0; o < kernel.outputs.size(); ++o)
      text_ += "  " + output_name(o) + "[index] = " + value(kernel.outputs[o]) + ";\n";
    text_ += "}\n";
  }

  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace ir

/// A compute shader that does what the SPIR-V module of kernel/detail/spirv.hpp does, with the same interface.
inline std::string glsl_text(ir::program_view kernel, std::uint32_t local_size = 256) {
  return ir::glsl_writer(kernel, local_size).text();
}

}  // namespace levada
