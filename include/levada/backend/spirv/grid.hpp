// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/grid.hpp: grid kernels as dispatches. The source is a class whose call operator is the lambda of
// kernel/grid_kernel.hpp: what it is made with are its members, pushed where there are any.

#include <cstddef>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>

#include <levada/backend/spirv/kernel.hpp>
#include <levada/kernel/grid_kernel.hpp>

namespace levada {

namespace detail {

/// Appends weights at the next multiple of 256 bytes.
inline void add_weights(dispatch_kernel& to, const void* from, std::size_t bytes) {
  const std::size_t at = (to.weights.size() + 255) / 256 * 256;
  to.weights.resize(at + bytes);
  if (from != nullptr) std::memcpy(to.weights.data() + at, from, bytes);
}

}  // namespace detail

/// Adds a dispatch of `source` over `Grid`. It reads the kernel's input, of type `In`, then a tensor for each of `Weights`,
/// and writes the kernel's output, of type `Out`. `weights` are where these are; null: zeros.
template <fixed_string Name, class In, class Out, class Grid, class... Weights, class Source>
void add_grid(dispatch_kernel& to, const Source& source,
              const std::type_identity_t<std::array<const void*, sizeof...(Weights)>>& weights = {}) {
  const auto kernel = grid_kernel<Name, std::tuple<In, Weights...>, Out>(Grid{}, source);
  dispatch d;
  d.name = Name.view();
  d.module = kernel.module();
  const std::span<const ir::buffer_info> buffers = kernel.buffers();
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const std::size_t bytes = buffers[b].words() * 4;
    if (b == 0) {
      d.buffers.push_back({buffer_role::input, bytes, 0});
    } else if (b <= sizeof...(Weights)) {
      detail::add_weights(to, weights[b - 1], bytes);
      d.buffers.push_back({buffer_role::weights, bytes, to.weights.size() - bytes});
    } else {
      d.buffers.push_back({buffer_role::output, bytes, 0});
    }
  }
  const std::span<const std::byte> pushed = kernel.push_constants();
  std::memcpy(d.pushed.data(), pushed.data(), pushed.size());
  d.pushed_bytes = static_cast<std::uint32_t>(pushed.size());
  d.groups = kernel.group_counts();
  d.local_size = kernel.workgroup_size();
  for (const ir::shared_info& s : kernel.program().shared) d.shared_bytes += s.elements * 4;
  to.dispatches.push_back(d);
}

}  // namespace levada
