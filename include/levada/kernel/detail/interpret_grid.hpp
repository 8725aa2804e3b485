// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/interpret_grid.hpp: runs a grid kernel in lock step, one instruction for a whole workgroup, then the
// next, so that a barrier has nothing to do. Slow, needs no device, is what the other lowerings are compared with, and
// says where a kernel reaches outside its buffers.

#include <algorithm>
#include <cstring>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/kernel/detail/evaluate.hpp>

namespace levada {

namespace ir {

/// One workgroup's values, its shared arrays and its masks.
class grid_interpreter {
 public:
  grid_interpreter(grid_program_view kernel, std::span<const std::byte* const> inputs,
                   std::span<std::byte* const> outputs, std::span<const std::byte> uniforms)
      : kernel_(kernel), inputs_(inputs), outputs_(outputs), uniforms_(uniforms), lanes_(kernel.grid.group_size()) {
    const auto is_output = [](const buffer_info& buffer) { return buffer.is_output; };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(kernel.buffers, is_output));
    if (inputs.size() + count != kernel.buffers.size() || outputs.size() != count ||
        uniforms.size() != kernel.uniform_bytes)
      throw error("interpret: a kernel was given other inputs, outputs or uniforms than it was traced with");
    values_.resize(kernel.code.size() * lanes_);
    locals_.resize(kernel.locals.size() * lanes_);
    masks_.resize((max_depth + 1) * 2 * lanes_);
    inside_.resize(lanes_);
    next_.resize(kernel.code.size());
    for (const shared_info& array : kernel.shared) shared_.emplace_back(array.elements);
  }

  void run() {
    const auto counts = kernel_.grid.group_counts();
    for (std::uint32_t z = 0; z < counts[2]; ++z)
      for (std::uint32_t y = 0; y < counts[1]; ++y)
        for (std::uint32_t x = 0; x < counts[0]; ++x) run_group({x, y, z});
  }

 private:
  using mask = std::uint8_t*;  // one byte for each invocation of the workgroup

  std::uint32_t* row(std::uint32_t value) { return values_.data() + value * lanes_; }
  mask mask_at(std::size_t place) { return masks_.data() + place * lanes_; }

  void run_group(const std::array<std::uint32_t, 3>& group) {
    const bool has_barrier = kernel_.has_barrier();
    const auto& size = kernel_.grid.group;
    const mask active = mask_at(0);
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      const std::uint32_t local[] = {lane % size[0], lane / size[0] % size[1], lane / (size[0] * size[1])};
      bool inside = true;
      for (std::size_t axis = 0; axis < 3; ++axis)
        inside = inside && group[axis] * size[axis] + local[axis] < kernel_.grid.extents[axis];
      inside_[lane] = inside;
      active[lane] = inside || has_barrier;
      for (std::uint32_t i = 0; i < kernel_.code.size(); ++i) {
        const instruction& leaf = kernel_.code[i];
        std::uint32_t& value = row(i)[lane];
        if (leaf.op == opcode::constant) value = leaf.a;
        if (leaf.op == opcode::uniform) std::memcpy(&value, uniforms_.data() + leaf.a, 4);
        if (leaf.op != opcode::built_in) continue;
        const std::size_t axis = leaf.a % 3;
        value = leaf.a >= group_x   ? group[axis]
                : leaf.a >= local_x ? local[axis]
                                    : group[axis] * size[axis] + local[axis];
      }
    }
    run_from(0, static_cast<std::uint32_t>(kernel_.code.size()), active, 1);
  }

  /// Where the structure ends that is open before `i`, or goes on with `otherwise`.
  std::uint32_t end_of(std::uint32_t i) const {
    for (std::uint32_t depth = 0;; ++i) {
      const opcode op = kernel_.code[i].op;
      if (depth == 0 && (op == opcode::end || op == opcode::otherwise)) return i;
      if (op == opcode::loop || op == opcode::branch) ++depth;
      if (op == opcode::end) --depth;
    }
  }

  void run_from(std::uint32_t i, std::uint32_t last, mask active, std::size_t depth) {
    for (; i < last; ++i) {
      const instruction& done = kernel_.code[i];
      if (done.op == opcode::loop) {
        const std::uint32_t end = end_of(i + 1);
        run_loop(i, end, active, depth);
        i = end;
      } else if (done.op == opcode::branch) {
        i = run_branch(i, active, depth);
      } else {
        run_one(i, active);
      }
    }
  }

  /// Returns where the branch ends.
  std::uint32_t run_branch(std::uint32_t i, mask active, std::size_t depth) {
    const mask then = mask_at(2 * depth), other = mask_at(2 * depth + 1);
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      const bool holds = row(kernel_.code[i].a)[lane] != 0;
      then[lane] = active[lane] && holds;
      other[lane] = active[lane] && !holds;
    }
    const std::uint32_t middle = end_of(i + 1);
    run_from(i + 1, middle, then, depth + 1);
    if (kernel_.code[middle].op == opcode::end) return middle;
    const std::uint32_t end = end_of(middle + 1);
    run_from(middle + 1, end, other, depth + 1);
    return end;
  }

  void run_loop(std::uint32_t i, std::uint32_t end, mask active, std::size_t depth) {
    std::uint32_t body = i + 1;
    while (kernel_.code[body].op == opcode::phi) ++body;
    const mask goes_on = mask_at(2 * depth);
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      if (!active[lane]) continue;
      row(i)[lane] = row(kernel_.code[i].a)[lane];
      for (std::uint32_t phi = i + 1; phi < body; ++phi) row(phi)[lane] = row(kernel_.code[phi].a)[lane];
    }
    for (;;) {
      bool any = false;
      for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
        goes_on[lane] = active[lane] && detail::as_int(row(i)[lane]) < detail::as_int(row(kernel_.code[i].b)[lane]);
        any = any || goes_on[lane];
      }
      if (!any) return;
      run_from(body, end, goes_on, depth + 1);
      for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
        if (!goes_on[lane]) continue;
        ++row(i)[lane];
        // All at once: one may become what another was.
        for (std::uint32_t phi = i + 1; phi < body; ++phi) next_[phi] = row(kernel_.code[phi].b)[lane];
        for (std::uint32_t phi = i + 1; phi < body; ++phi) row(phi)[lane] = next_[phi];
      }
    }
  }

  void run_one(std::uint32_t i, mask active) {
    const auto [op, type, a, b, c] = kernel_.code[i];
    if (is_leaf(op) || op == opcode::barrier || op == opcode::phi) return;
    const int used = operands(op);
    const std::uint32_t *first = row(used > 0 ? a : 0), *second = row(used > 1 ? b : 0), *third = row(used > 2 ? c : 0);
    std::uint32_t* const result = row(i);
    if (!has_effect(op) && op != opcode::load && op != opcode::load_shared && op != opcode::load_local) {
      const scalar_type operand = kernel_.code[a].type;
      for (std::uint32_t lane = 0; lane < lanes_; ++lane)
        result[lane] = evaluate(op, operand, type, first[lane], second[lane], third[lane]);
      return;
    }
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      if (!active[lane]) continue;
      switch (op) {
        case opcode::load:
          result[lane] = load(b, first[lane], inside_[lane]);
          break;
        case opcode::store:
          if (inside_[lane]) store(c, first[lane], second[lane]);
          break;
        case opcode::load_shared:
          result[lane] = shared_at(b, first[lane]);
          break;
        case opcode::store_shared:
          shared_at(c, first[lane]) = second[lane];
          break;
        case opcode::load_local:
          result[lane] = locals_[a * lanes_ + lane];
          break;
        case opcode::store_local:
          locals_[b * lanes_ + lane] = first[lane];
          break;
        default:
          break;
      }
    }
  }

  std::uint32_t load(std::uint32_t buffer, std::uint32_t index, bool inside) const {
    const buffer_info& info = kernel_.buffers[buffer];
    if (index >= info.elements) {
      if (inside) outside("reads", buffer, index);
      index = info.elements - 1;
    }
    const std::byte* from = buffer < inputs_.size() ? inputs_[buffer] : outputs_[buffer - inputs_.size()];
    std::uint32_t word = 0;
    // The lowest bytes come first, as in the device's words.
    std::memcpy(&word, from + std::size_t{index} * info.element_bytes, info.element_bytes);
    return word;
  }
  void store(std::uint32_t buffer, std::uint32_t index, std::uint32_t word) const {
    const buffer_info& info = kernel_.buffers[buffer];
    if (index >= info.elements) outside("writes", buffer, index);
    std::memcpy(outputs_[buffer - inputs_.size()] + std::size_t{index} * info.element_bytes, &word, info.element_bytes);
  }
  std::uint32_t& shared_at(std::uint32_t array, std::uint32_t index) {
    if (index >= shared_[array].size()) throw error("interpret: a kernel reaches outside a shared array");
    return shared_[array][index];
  }
  [[noreturn]] static void outside(const char* does, std::uint32_t buffer, std::uint32_t index) {
    throw error(std::string("interpret: a kernel ") + does + " outside buffer " + std::to_string(buffer) +
                ", at element " + std::to_string(detail::as_int(index)));
  }

  grid_program_view kernel_;
  std::span<const std::byte* const> inputs_;
  std::span<std::byte* const> outputs_;
  std::span<const std::byte> uniforms_;
  std::uint32_t lanes_;
  std::vector<std::uint32_t> values_, locals_, next_;
  std::vector<std::vector<std::uint32_t>> shared_;
  std::vector<std::uint8_t> masks_, inside_;
};

}  // namespace ir

/// Runs the kernel on its whole grid. Buffers are the memory of its tensors; `uniforms` are the bytes of its closure.
/// Throws `error` where the numbers do not fit, and where the kernel reaches outside a buffer or shared array.
inline void interpret(ir::grid_program_view kernel, std::span<const std::byte* const> inputs,
                      std::span<std::byte* const> outputs, std::span<const std::byte> uniforms = {}) {
  ir::grid_interpreter(kernel, inputs, outputs, uniforms).run();
}

}  // namespace levada
