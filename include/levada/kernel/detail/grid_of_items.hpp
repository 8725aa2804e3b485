// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/grid_of_items.hpp: a grid kernel over several items that lie one behind the other, as one kernel: its
// grid is so many times as long along z, and each invocation finds out whose it is.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <levada/kernel/detail/ir.hpp>

namespace levada::ir {

/// The kernel can be made so: of a workgroup that is longer than one along z the items in it must not see each other.
constexpr bool takes_items(const grid_program_view& kernel) {
  if (kernel.grid.group[2] == 1) return true;
  if (!kernel.shared.empty()) return false;
  for (const instruction& i : kernel.code)
    if (i.op == opcode::barrier || (i.op == opcode::built_in && (i.a == local_z || i.a == group_z))) return false;
  return true;
}

class grid_of_items {
 public:
  /// `steps[b]`: how many elements of buffer `b` lie between the first of an item and that of the next; 0: they have it
  /// in common.
  grid_of_items(const grid_program_view& kernel, std::uint32_t items, std::span<const std::uint32_t> steps)
      : kernel_(kernel),
        steps_(steps.begin(), steps.end()),
        buffers_(kernel.buffers.begin(), kernel.buffers.end()),
        offset_(kernel.buffers.size()) {
    find_item();
    for (const instruction& i : kernel.code) place_.push_back(room_for(i));
    for (std::size_t i = 0; i < kernel.code.size(); ++i) copy(kernel.code[i], place_[i]);
    for (std::size_t b = 0; b < buffers_.size(); ++b) buffers_[b].elements += (items - 1) * steps_[b];
    kernel_.grid.extents[2] *= items;
  }
  grid_of_items(const grid_of_items&) = delete;
  grid_of_items& operator=(const grid_of_items&) = delete;

  grid_program_view view() const {
    grid_program_view all = kernel_;
    all.code = code_;
    all.buffers = buffers_;
    return all;
  }

 private:
  static constexpr scalar_type whole = scalar_type::int32;

  std::uint32_t add(const instruction& i) {
    code_.push_back(i);
    return static_cast<std::uint32_t>(code_.size() - 1);
  }
  std::uint32_t constant(std::uint32_t word) { return add({opcode::constant, whole, word, 0, 0}); }

  /// First of all: which item, its place along z, and where it begins in the buffers.
  void find_item() {
    const std::uint32_t extent = kernel_.grid.extents[2];
    const std::uint32_t z = add({opcode::built_in, whole, global_z, 0, 0});
    std::uint32_t item = z;
    z_ = constant(0);
    if (extent != 1) {
      const std::uint32_t length = constant(extent);
      item = add({opcode::div, whole, z, length, 0});
      z_ = add({opcode::sub, whole, z, add({opcode::mul, whole, item, length, 0}), 0});
    }
    for (std::size_t b = 0; b < steps_.size(); ++b)
      if (steps_[b] != 0) offset_[b] = add({opcode::mul, whole, item, constant(steps_[b]), 0});
  }

  static const std::uint32_t* buffer_of(const instruction& i) {
    return i.op == opcode::load ? &i.b : i.op == opcode::store ? &i.c : nullptr;
  }

  /// Where the instruction will stand. What it needs comes before it.
  std::uint32_t room_for(const instruction& i) {
    if (i.op == opcode::built_in && (i.a == global_z || i.a == group_z)) return z_;
    if (const std::uint32_t* const b = buffer_of(i); b != nullptr && steps_[*b] != 0)
      add({opcode::add, whole, i.a, offset_[*b], 0});
    return add(i);
  }
  /// With the places of what it is made of, some of which come behind it.
  void copy(instruction i, std::uint32_t to) {
    if (to == z_) return;
    const int count = operands(i.op);
    if (count > 0) i.a = place_[i.a];
    if (count > 1) i.b = place_[i.b];
    if (count > 2) i.c = place_[i.c];
    if (const std::uint32_t* const b = buffer_of(i); b != nullptr && steps_[*b] != 0) {
      code_[to - 1].a = i.a;
      i.a = to - 1;
    }
    code_[to] = i;
  }

  grid_program_view kernel_;
  std::vector<std::uint32_t> steps_;
  std::vector<buffer_info> buffers_;
  std::vector<std::uint32_t> offset_;  ///< of the item in each buffer
  std::vector<instruction> code_;
  std::vector<std::uint32_t> place_;  ///< of the kernel's instructions
  std::uint32_t z_ = 0;
};

}  // namespace levada::ir
