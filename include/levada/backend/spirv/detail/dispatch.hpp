// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/dispatch.hpp: what a kernel for Vulkan is: modules with the buffers, pushed bytes and workgroups
// that they are dispatched with. Plain values, nothing of Vulkan: lane_memory.hpp makes commands of them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/device_queue.hpp>
#include <levada/kernel/detail/ir.hpp>

namespace levada {

/// What a binding of a module is: what the kernel takes, gives, was made with, or keeps while it runs.
enum class buffer_role : std::uint8_t { input, output, weights, scratch };

/// Bytes of a buffer. Offsets are multiples of 256, which every device takes.
struct dispatch_buffer {
  buffer_role role = buffer_role::input;
  std::size_t bytes = 0;
  std::size_t offset = 0;
  std::size_t which = 0;  ///< of several inputs
};

/// One dispatch of a module with entry point "main". Binding i of descriptor set 0 is the storage buffer `buffers[i]`.
struct dispatch {
  static constexpr std::size_t most_buffers = 8, most_pushed = 128;

  std::string_view name{};                  ///< for messages and debuggers
  std::span<const std::uint32_t> module{};  ///< lives as long as the kernel
  ir::grid_program_view program{};          ///< what the module was made of, likewise, where it is a grid kernel's
  bounded<dispatch_buffer, most_buffers> buffers{};
  std::array<std::byte, most_pushed> pushed{};
  std::uint32_t pushed_bytes = 0;
  std::array<std::uint32_t, 3> groups{1, 1, 1};      ///< how many workgroups
  std::array<std::uint32_t, 3> local_size{1, 1, 1};  ///< of one, as the module says
  std::uint32_t shared_bytes = 0;                    ///< of a workgroup

  /// Appends the bytes of `value` to the push constants.
  template <class T>
  void push(const T& value) {
    std::memcpy(pushed.data() + pushed_bytes, &value, sizeof value);
    pushed_bytes += static_cast<std::uint32_t>(sizeof value);
  }
};

/// A kernel for Vulkan: dispatches in order, each behind those whose memory it meets: lane_memory.hpp.
struct dispatch_kernel : detail::device_kernel {
  static constexpr std::size_t scratch_bytes = 0;  // a kernel with a scratchpad, or weights, has its own
  static constexpr std::size_t weight_bytes = 0;

  std::vector<dispatch> dispatches;
  std::vector<dispatch> dispatches_apart;  ///< of tensors that are inputs of their own, in place of one tuple
  std::vector<std::byte> weights;
};

}  // namespace levada
