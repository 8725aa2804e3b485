// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/kernel.hpp: the backend that computes on Vulkan devices, by SPIR-V modules made while the
// program compiles.

#include <cstddef>
#include <string_view>

#include <levada/backend/detail/region_kind.hpp>
#include <levada/backend/spirv/detail/dispatch.hpp>
#include <levada/core/detail/device.hpp>
#include <levada/graph/detail/op_info.hpp>
#include <levada/graph/op.hpp>

namespace levada {

/// The kernel of a run of ops for an input of type `In`: a dispatch_kernel, complete where the run is supported.
template <class In, class... Ops>
struct spirv_kernel;
/// The same for a batch of such items.
template <class In, class... Ops>
struct spirv_batch_kernel;
/// The kernel of a region that is no chain: backend/spirv/detail/region.hpp, joined_region.hpp, row_region.hpp.
template <class Region>
struct spirv_region_kernel;

/// Kernels for Vulkan devices.
struct spirv {
  static constexpr std::string_view name = "spirv";
  static constexpr std::string_view more_kernels = "levada/backend/spirv/ops.hpp";
  static constexpr device_kind device = device_kind::vulkan;
  static constexpr std::size_t longest_run = 8;

  template <class In, class... Ops>
  using kernel = spirv_kernel<In, Ops...>;
  template <class In, class... Ops>
  using batch_kernel = spirv_batch_kernel<In, Ops...>;
  template <class Region>
  using region_kernel = spirv_region_kernel<Region>;

  static constexpr bool takes(const region_info& region) {
    return detail::is_element_region(region) || detail::is_joined_region(region) || detail::is_row_region(region) ||
           detail::takes_operands(region);
  }
};

}  // namespace levada
