// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/worker_threads.hpp: how many items a worker process runs at once, and how many messages it has in hand.

#include <cstddef>
#include <type_traits>

#include <levada/core/detail/device.hpp>

namespace levada::detail {

/// That a worker fetches beside those that its threads run, at least: else each waits for its next.
inline constexpr std::size_t messages_ahead = 1;

/// The threads that run items at once, by what a target says.
template <class... Device>
consteval std::size_t threads_of(target<Device...>) {
  const auto of = []<class D>(std::type_identity<D>) -> std::size_t {
    if constexpr (requires { D::max_threads; })
      return D::max_threads;
    else
      return 4;  // a device takes some ahead
  };
  return (std::size_t{0} + ... + of(std::type_identity<Device>{}));
}

}  // namespace levada::detail
