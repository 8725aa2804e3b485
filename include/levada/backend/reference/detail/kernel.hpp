// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/kernel.hpp: the backend whose kernels read as the definitions of the ops; every other one is
// tested against it.

#include <cstddef>
#include <string_view>

#include <levada/core/detail/device.hpp>
#include <levada/graph/op.hpp>

namespace levada {

/// The reference kernel of one op for an input of type `In`; complete where the op is supported.
template <class In, class... Ops>
struct reference_kernel;

/// Naive kernels, one op at a time, in the order that the definition gives.
struct reference {
  static constexpr std::string_view name = "reference";
  static constexpr std::string_view more_kernels = "levada/backend/reference/ops.hpp";
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = 1;

  template <class In, class... Ops>
  using kernel = reference_kernel<In, Ops...>;
};

namespace detail {

/// What kernels without weights and scratch have in common.
template <class Op>
struct plain_kernel {
  static constexpr std::size_t scratch_bytes = 0;

  plain_kernel(const Op&, parameter_values) {}
};

}  // namespace detail
}  // namespace levada
