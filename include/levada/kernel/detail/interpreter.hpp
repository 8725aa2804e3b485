// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/interpreter.hpp: runs the instructions of a kernel in lock step, one instruction for all elements, then
// the next. Slow, needs no device, and is what the other lowerings are compared with.

#include <algorithm>
#include <cstring>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/kernel/detail/evaluate.hpp>

namespace levada {

/// Runs the kernel on `count` elements. Inputs and outputs are 32-bit words, as many as the kernel has; `uniforms` are
/// the bytes of its closure. Throws `error` where the numbers do not fit.
inline void interpret(ir::program_view kernel, std::size_t count, std::span<const std::uint32_t* const> inputs,
                      std::span<std::uint32_t* const> outputs, std::span<const std::byte> uniforms = {}) {
  if (inputs.size() != kernel.inputs || outputs.size() != kernel.outputs.size() ||
      uniforms.size() != kernel.uniform_bytes)
    throw error("interpret: a kernel was given other inputs, outputs or uniforms than it was traced with");
  std::vector<std::uint32_t> words(kernel.code.size() * count);
  auto row = [&](std::uint32_t value) { return words.data() + value * count; };
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    const auto [op, type, a, b, c] = kernel.code[i];
    const int used = ir::operands(op);
    for (std::size_t lane = 0; lane < count; ++lane) {
      std::uint32_t& result = row(i)[lane];
      if (op == ir::opcode::input) {
        result = inputs[a][lane];
      } else if (op == ir::opcode::uniform) {
        std::memcpy(&result, uniforms.data() + a, 4);
      } else if (op == ir::opcode::constant) {
        result = a;
      } else {
        result = ir::evaluate(op, kernel.type_of(a), type, row(a)[lane], used > 1 ? row(b)[lane] : 0,
                              used > 2 ? row(c)[lane] : 0);
      }
    }
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) std::copy_n(row(kernel.outputs[o]), count, outputs[o]);
}

}  // namespace levada
