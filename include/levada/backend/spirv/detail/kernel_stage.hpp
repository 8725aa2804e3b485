// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/kernel_stage.hpp: a grid kernel as one dispatch.

#include <levada/backend/spirv/detail/batch.hpp>
#include <levada/backend/spirv/detail/element_wise.hpp>
#include <levada/backend/spirv/detail/grid.hpp>
#include <levada/nn/kernel_stage.hpp>

namespace levada {

template <class In, fixed_string Name, class Out, class Grid, class F>
  requires detail::pushable<F>
struct spirv_kernel<In, grid_kernel_op<traced_kernel<Name, std::tuple<In>, std::tuple<Out>, Grid, F>>>
    : dispatch_kernel {
  using kernel = traced_kernel<Name, std::tuple<In>, std::tuple<Out>, Grid, F>;

  spirv_kernel(const grid_kernel_op<kernel>& op, parameter_values) {
    in_bytes = sizeof(In);
    out_bytes = sizeof(Out);
    add_grid<Name, In, Out, Grid>(*this, op.kernel.function);
  }
};

namespace detail {

template <class Item, class Kernel>
inline constexpr bool goes_over_items<Item, grid_kernel_op<Kernel>> = ir::takes_items(Kernel::program());

}  // namespace detail
}  // namespace levada
