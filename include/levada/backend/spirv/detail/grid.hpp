// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/grid.hpp: grid kernels as dispatches. The source is a class whose call operator is the lambda of
// kernel/detail/grid_kernel.hpp: what it is made with are its members, pushed where there are any.

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>

#include <levada/backend/spirv/detail/kernel.hpp>
#include <levada/kernel/detail/grid_kernel.hpp>

namespace levada {

namespace detail {

/// Appends weights at the next multiple of 256 bytes.
inline void add_weights(dispatch_kernel& to, const void* from, std::size_t bytes) {
  const std::size_t at = (to.weights.size() + 255) / 256 * 256;
  to.weights.resize(at + bytes);
  if (from != nullptr) std::memcpy(to.weights.data() + at, from, bytes);
}

}  // namespace detail

/// What a tensor of a grid kernel is: bytes of the kernel's input or output from `offset` on, a multiple of 256, or
/// weights that lie at `weights` (null: zeros). `bytes` says where there are fewer of them than the tensor has.
struct bound_tensor {
  buffer_role role = buffer_role::input;
  std::size_t offset = 0;
  const void* weights = nullptr;
  std::size_t bytes = 0;
  std::size_t which = 0;  ///< of several inputs
};

/// Adds a dispatch of `source` over `Grid`, from the tensors of the std::tuple `In` to those of `Out`, which are bound
/// in this order.
template <fixed_string Name, class In, class Out, class Grid, class Source>
void add_bound_grid(
    dispatch_kernel& to, const Source& source,
    const std::type_identity_t<std::array<bound_tensor, std::tuple_size_v<In> + std::tuple_size_v<Out>>>& tensors) {
  const auto kernel = grid_kernel<Name, In, Out>(Grid{}, source);
  dispatch d;
  d.name = Name.view();
  d.module = kernel.module();
  d.program = kernel.program().view();
  for (std::size_t b = 0; b < tensors.size(); ++b) {
    const std::size_t bytes = tensors[b].bytes != 0 ? tensors[b].bytes : kernel.buffers()[b].words() * 4;
    std::size_t offset = tensors[b].offset;
    if (tensors[b].role == buffer_role::weights) {
      detail::add_weights(to, tensors[b].weights, bytes);
      offset = to.weights.size() - bytes;
    }
    d.buffers.push_back({tensors[b].role, bytes, offset, tensors[b].which});
  }
  const std::span<const std::byte> pushed = kernel.push_constants();
  std::memcpy(d.pushed.data(), pushed.data(), pushed.size());
  d.pushed_bytes = static_cast<std::uint32_t>(pushed.size());
  d.groups = kernel.group_counts();
  d.local_size = kernel.workgroup_size();
  for (const ir::shared_info& s : kernel.program().shared) d.shared_bytes += s.elements * 4;
  to.dispatches.push_back(d);
}

/// Adds a dispatch of `source` over `Grid`. It reads the kernel's input, of type `In`, then a tensor for each of
/// `Weights`, and writes the kernel's output, of type `Out`. `weights` are where these are; null: zeros.
template <fixed_string Name, class In, class Out, class Grid, class... Weights, class Source>
void add_grid(dispatch_kernel& to, const Source& source,
              const std::type_identity_t<std::array<const void*, sizeof...(Weights)>>& weights = {}) {
  std::array<bound_tensor, sizeof...(Weights) + 2> tensors{};
  for (std::size_t w = 0; w < sizeof...(Weights); ++w) tensors[w + 1] = {buffer_role::weights, 0, weights[w]};
  tensors.back().role = buffer_role::output;
  add_bound_grid<Name, std::tuple<In, Weights...>, std::tuple<Out>, Grid>(to, source, tensors);
}

}  // namespace levada
