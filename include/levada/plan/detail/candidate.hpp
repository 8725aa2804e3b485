// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/candidate.hpp: a run of ops together with a backend that computes it as one. Which candidates exist is
// asked of the backends' kernels where types are still known (run/deploy.hpp); from here on they are values.

#include <cstddef>
#include <string_view>

#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/device.hpp>
#include <levada/plan/detail/cost.hpp>

namespace levada {

namespace detail {
/// Items in flight where nothing else is said.
inline constexpr std::size_t usual_slots = 64;
}  // namespace detail

/// A region with the backend that could take it (Collage, TVM RFC 62).
struct candidate {
  std::size_t first = 0;          ///< the first node
  std::size_t count = 0;          ///< how many nodes
  std::size_t backend = 0;        ///< in the order of preference
  std::size_t scratch_bytes = 0;  ///< that the kernel wants while it runs
  std::size_t weight_bytes = 0;   ///< that its packed parameters take
  std::string_view method{};      ///< how it computes, where its backend has several ways
  std::size_t tiles = 1;          ///< that several threads may compute at once
};

/// A backend as a value.
struct backend_info {
  std::string_view name;
  device_kind device = device_kind::cpu;
  roofline own{};  ///< that it says it has itself, if any
};

/// A device of the target as a value.
struct device_info {
  device_id id{};
  int max_threads = 1;
  std::size_t l1_bytes = 32 << 10;
  std::size_t l2_bytes = 1 << 20;
  std::size_t memory_bytes = ~std::size_t{0};  ///< that a plan may keep on it
  std::size_t slots = detail::usual_slots;     ///< the items in flight that it keeps memory for
};

}  // namespace levada
