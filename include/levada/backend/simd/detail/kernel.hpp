// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/kernel.hpp: the backend that computes on the CPU's vector registers through xsimd.

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <levada/backend/detail/region_kind.hpp>
#include <levada/core/detail/batch_tensor.hpp>
#include <levada/core/detail/device.hpp>
#include <levada/graph/detail/op_info.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/op.hpp>
#include <levada/kernel/detail/instruction_set.hpp>

namespace levada {

/// The kernel of a run of ops for an input of type `In` on the instruction set `Arch` of xsimd; complete where the run
/// is supported. `Arch` is part of every type here, so that translation units built for different instruction sets
/// share no symbol.
template <class Arch, class In, class... Ops>
struct simd_kernel;
/// The same of a batch, where it is worth more than the kernel of an item for each.
template <class Arch, class In, class... Ops>
struct simd_batch_kernel;
/// The kernel of a region that is no chain: backend/simd/detail/region.hpp.
template <class Arch, class Region>
struct simd_region_kernel;

/// Kernels for one instruction set.
template <class Arch>
struct simd_on {
  static constexpr std::string_view name = "simd";
  static constexpr std::string_view more_kernels = "levada/ops.hpp";
  static constexpr device_kind device = device_kind::cpu;
  /// conv2d, bias, relu, max_pool2d, flatten
  static constexpr std::size_t longest_run = 5;

  template <class In, class... Ops>
  using kernel = simd_kernel<Arch, In, Ops...>;
  template <class In, class... Ops>
  using batch_kernel = simd_batch_kernel<Arch, In, Ops...>;
  template <class Region>
  using region_kernel = simd_region_kernel<Arch, Region>;

  /// Of the kernels that are run.
  static std::string_view instruction_set() { return Arch::name(); }

  static constexpr bool takes(const region_info& region) {
    return detail::is_element_region(region) || detail::is_joined_region(region) || detail::is_gated_region(region) ||
           detail::is_separable_region(region) || detail::is_row_region(region) || detail::is_bfloat16_sum(region) ||
           detail::takes_operands(region);
  }
};

#ifdef LEVADA_INSTRUCTION_SETS  // by levada_add_kernels
/// Kernels for each of some instruction sets, of which the program takes one when it starts:
/// backend/simd/detail/kernels_of_sets.hpp.
using simd = simd_on<isa::one_of<LEVADA_INSTRUCTION_SETS>>;
#else
/// Kernels for the widest instruction set that the compiler's flags enable.
using simd = simd_on<isa::native>;
#endif

namespace detail {

// None of them has a pointer.
template <class Arch, class In, class... Ops>
inline constexpr bool is_packed<simd_kernel<Arch, In, Ops...>> =
    std::is_trivially_copyable_v<simd_kernel<Arch, In, Ops...>>;
template <class Arch, class In, class... Ops>
inline constexpr bool is_packed<simd_batch_kernel<Arch, In, Ops...>> =
    std::is_trivially_copyable_v<simd_batch_kernel<Arch, In, Ops...>>;
template <class Arch, class Region>
inline constexpr bool is_packed<simd_region_kernel<Arch, Region>> =
    std::is_trivially_copyable_v<simd_region_kernel<Arch, Region>>;

/// What kernels without weights and scratch have in common.
template <class Arch, class Op>
struct plain_simd_kernel {
  static constexpr std::size_t scratch_bytes = 0;

  plain_simd_kernel(const Op&, parameter_values) {}
};

}  // namespace detail
}  // namespace levada
