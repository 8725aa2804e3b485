// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/grid_kernel.hpp: a grid kernel with its name, its tensors and its grid: all that a device needs to run
// it.

// First, as in kernel.hpp.
#include <levada/kernel/detail/value.hpp>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/kernel/detail/interpret_grid.hpp>
#include <levada/kernel/detail/spirv_grid.hpp>
#include <levada/kernel/detail/trace_grid.hpp>

namespace levada {

/// The kernel `F` for `Grid`, from the tensors of the std::tuple `In` to those of `Out`.
template <fixed_string Name, class In, class Out, class Grid, class F>
struct traced_kernel {
  using inputs = In;
  using outputs = Out;
  using grid_type = Grid;
  static constexpr auto name = Name;

  [[no_unique_address]] F function;

  /// Its instructions.
  static constexpr const auto& program() { return kernel_detail::grid_program_holder<Grid, In, Out, F>; }
  /// The hash of its lambda's source, the same in every program; 0 where this cannot be followed while compiling.
  static consteval std::uint64_t source() { return kernel_detail::grid_source_hash<Grid, In, Out, F>(); }
  /// Its SPIR-V module, made while the program compiles; kernel/detail/spirv_grid.hpp says what it expects.
  template <bool DebugNames = false>
  static constexpr const auto& module() {
    return grid_module<kernel_detail::grid_program_holder<Grid, In, Out, F>, DebugNames>;
  }
  /// Its storage buffers, inputs first, as many bindings of descriptor set 0.
  static constexpr std::span<const ir::buffer_info> buffers() { return program().buffers; }
  static constexpr std::array<std::uint32_t, 3> workgroup_size() { return Grid::info.group; }
  static constexpr std::array<std::uint32_t, 3> group_counts() { return Grid::info.group_counts(); }
  /// The bytes of its captures: as many as `program().uniform_bytes`.
  std::span<const std::byte> push_constants() const {
    return std::as_bytes(std::span(&function, 1)).first(program().uniform_bytes);
  }
};

/// `grid_kernel<"blur", In, Out>(grid<28, 28>{}, [](auto g, auto in, auto out) { ... })`. `In` and `Out` are tensors,
/// or std::tuples of tensors for a lambda that takes several.
template <fixed_string Name, class In, class Out, class Grid, class F>
constexpr auto grid_kernel(Grid, F function) {
  return traced_kernel<Name, typename kernel_detail::tensors_of<In>::type,
                       typename kernel_detail::tensors_of<Out>::type, Grid, F>{function};
}

/// Runs the kernel in lock step; see kernel/detail/interpret_grid.hpp.
template <fixed_string Name, class In, class Out, class Grid, class F>
void interpret(const traced_kernel<Name, In, Out, Grid, F>& kernel, std::span<const std::byte* const> inputs,
               std::span<std::byte* const> outputs) {
  interpret(kernel.program(), inputs, outputs, kernel.push_constants());
}

}  // namespace levada
