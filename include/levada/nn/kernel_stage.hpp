// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/kernel_stage.hpp: a grid kernel as a stage. One source runs wherever there is a backend for it.

#include <concepts>
#include <cstdint>
#include <tuple>

#include <levada/graph/detail/op_rules.hpp>
#include <levada/kernel/detail/grid_kernel.hpp>

namespace levada {

namespace detail {

template <class T>
inline constexpr bool is_grid_kernel = false;
template <fixed_string Name, class In, class Out, class Grid, class F>
inline constexpr bool is_grid_kernel<traced_kernel<Name, std::tuple<In>, std::tuple<Out>, Grid, F>> = true;

}  // namespace detail

/// A grid kernel from one tensor to one tensor.
template <class Kernel>
  requires detail::is_grid_kernel<Kernel>
struct grid_kernel_op : weightless_op {
  static constexpr std::string_view kind = "grid_kernel";
  static constexpr std::string_view expects = "the tensor that the kernel reads";
  using in_type = std::tuple_element_t<0, typename Kernel::inputs>;
  using out_type = std::tuple_element_t<0, typename Kernel::outputs>;

  [[no_unique_address]] Kernel kernel;

  template <std::same_as<in_type> In>
  using output = out_type;

  // One per element: what the kernel does is not known.
  template <class In>
  static constexpr double flops = static_cast<double>(out_type::elements);

  template <class In>
  static consteval std::uint64_t source() {
    return Kernel::source();
  }
};

/// The stage that a grid kernel is, under its own name: `kernel_stage(grid_kernel<"blur", image, image>(grid<64, 64>{},
/// f))`.
template <class Kernel>
  requires detail::is_grid_kernel<Kernel>
constexpr auto kernel_stage(const Kernel& kernel) {
  return op_stage<Kernel::name, grid_kernel_op<Kernel>>{{{}, kernel}, {}};
}

}  // namespace levada
