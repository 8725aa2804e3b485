// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/kernels_here.hpp: what a unit includes that instantiates kernels of another
// (run/detail/program/apart_kernels.hpp).

#include <levada/run/detail/program/apart_kernels.hpp>

namespace levada::detail {

template <class Kernel, class In, class Out>
void run_kernel_apart(unit_call& call) noexcept {
  run_kernel<Kernel, In, Out>(call);
}
template <class Kernel, class In, class Out>
void tile_kernel_apart(const void* kernel, const void* in, void* out, std::byte* scratch, tile_range some) noexcept {
  compute_tiles<Kernel, In, Out>(kernel, in, out, scratch, some);
}
template <class Kernel, class... Ops>
erased_object make_kernel_apart(const stage_address* stages) {
  return make_kernel<Kernel, Ops...>(stages);
}

}  // namespace levada::detail
