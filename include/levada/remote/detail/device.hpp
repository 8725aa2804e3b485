// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/device.hpp: another machine as a device of a target.

#include <cstdint>
#include <string_view>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/error.hpp>

namespace levada {

namespace detail {

/// A device is known by a number in plans.
constexpr int number_of_name(std::string_view name) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return static_cast<int>(hash >> 1);
}

}  // namespace detail

/// Another machine, by a name, and the devices that it has: `target<cpu<2>, remote<"edge", cpu<4>>>`. As a pin the name
/// is enough: `on<remote<"edge">>(part)`. Plans write it as a number that is made of the name.
template <fixed_string Name, class... Devices>
struct remote {
  static constexpr device_id id{device_kind::remote, detail::number_of_name(Name.view())};
  static constexpr auto name = Name;
};

namespace detail {

/// What is known of a device whose parts run elsewhere; specialised by the header that brings it, with `device`, as a
/// pin names it. One that has a say of its own on states has `state_mistake<Place>()`.
template <class Device>
struct elsewhere {
  static constexpr bool is_one = false;
};
/// As most are.
struct is_elsewhere {
  static constexpr bool is_one = true;
  static constexpr bool keeps_state = true;      ///< its stages may, while it is there
  static constexpr bool carries_sides = true;    ///< side data go there and back
  static constexpr bool is_lost_alone = true;    ///< the driver goes on where it is gone
  static constexpr bool is_one_program = false;  ///< it is of the same build as the driver
};
template <fixed_string Name, class... Devices>
struct elsewhere<remote<Name, Devices...>> : is_elsewhere {
  using device = remote<Name>;
};

}  // namespace detail

/// What a part on another machine failed with, or that machine: the text names the device and the node.
class remote_error : public device_error {
 public:
  using device_error::device_error;
};

/// The version of a program, which both ends of a remote device have to have: `deploy<box, version<"1.4">>`. No other
/// part of what they compare sees that the body of a lambda changed.
template <fixed_string Text>
struct version {
  static constexpr auto text = Text;
};

/// Stages with state on other machines begin anew where their machine is lost.
struct state_restarts {};

}  // namespace levada
