// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/kernel.hpp: the part of a fleet as the driver's plan sees it.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <levada/core/detail/device_queue.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/remote/detail/kernel.hpp>

namespace levada::detail {

class keyed_states;
struct keyed_shape;

/// How a driver comes to the workers of a fleet, known from start-up on.
struct fleet_way {
  static constexpr std::string_view kind = "fleet";

  std::string fleet;
  std::string_view identity;  ///< what both ends compare
  std::uint64_t program = 0;  ///< the same as a number
  jetstream to;
  const keyed_shape* by_key = nullptr;  ///< of a part by key
  std::function<std::unique_ptr<keyed_states>()> make_states;
};
using fleet_kernel = kernel_elsewhere<fleet_way>;

/// A session's way to its segment, which the keeper of a queue looks after.
class kept_lane : public device_lane {
 public:
  /// Every tenth of a second.
  virtual void keep() noexcept = 0;
};

struct fleet_backend : backend_elsewhere<fleet_way, device_kind::fleet> {};

}  // namespace levada::detail
