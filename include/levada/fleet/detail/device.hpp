// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/device.hpp: any number of worker processes as one device of a target.

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada {

/// Worker processes that come and go, by a name, and the devices that each of them has: `target<cpu<2>, fleet<"detect",
/// cpu<4>>>`. As a pin the name is enough: `on<fleet<"detect">>(part)`. The name is of letters, digits, `-` and `_`.
template <fixed_string Name, class... Devices>
struct fleet {
  static constexpr device_id id{device_kind::fleet, detail::number_of_name(Name.view())};
  static constexpr auto name = Name;
};

namespace detail {

template <fixed_string Name, class... Devices>
struct elsewhere<fleet<Name, Devices...>> : is_elsewhere {
  static constexpr bool keeps_state = false;
  using device = fleet<Name>;
};

}  // namespace detail
}  // namespace levada
