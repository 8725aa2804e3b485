// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/kernel_stage.hpp: a grid kernel on vectors along x. Not under the umbrella: who writes such kernels
// includes it.

#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/kernel/detail/grid_xsimd.hpp>
#include <levada/nn/kernel_stage.hpp>

namespace levada {

template <class Arch, class In, class Kernel>
  requires op_takes<grid_kernel_op<Kernel>, In>
struct simd_kernel<Arch, In, grid_kernel_op<Kernel>> {
  using op_type = grid_kernel_op<Kernel>;

  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const op_type& op, parameter_values) : kernel_(op.kernel) {}

  void operator()(const In& in, typename op_type::out_type& out, std::byte*) const {
    const std::byte* const from = reinterpret_cast<const std::byte*>(in.data());
    std::byte* const to = reinterpret_cast<std::byte*>(out.data());
    run_on_cpu(kernel_, &from, &to);
  }

 private:
  Kernel kernel_;
};

}  // namespace levada
