// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/simd_of_chains.hpp: what plans with regions are compared with.

#include <cstddef>
#include <string_view>

#include <levada/backend/simd.hpp>
#include <levada/core/detail/device.hpp>

namespace levada::testing {

/// `simd` as if it took chains alone.
struct simd_of_chains {
  static constexpr std::string_view name = "simd";
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = simd::longest_run;

  template <class In, class... Ops>
  using kernel = simd::kernel<In, Ops...>;
};

}  // namespace levada::testing
