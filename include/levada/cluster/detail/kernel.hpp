// SPDX-License-Identifier: Apache-2.0
#pragma once
// cluster/detail/kernel.hpp: the part of a rank as the driver's plan sees it.

#include <chrono>
#include <string_view>

#include <levada/cluster/detail/world.hpp>
#include <levada/core/detail/device.hpp>
#include <levada/remote/detail/kernel.hpp>

namespace levada::detail {

/// How the driver comes to a rank.
struct mpi_way {
  static constexpr std::string_view kind = "mpi";

  mpi_world* world = nullptr;
  int rank = 0;
  std::string_view identity;            ///< what both ends compare
  std::chrono::nanoseconds patience{};  ///< for the rank's first answer
};
using mpi_kernel = kernel_elsewhere<mpi_way>;

struct mpi_backend : backend_elsewhere<mpi_way, device_kind::mpi> {};

}  // namespace levada::detail
