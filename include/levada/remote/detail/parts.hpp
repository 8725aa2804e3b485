// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/parts.hpp: the parts of a line that are pinned to other machines: found by both ends, and replaced by
// one stage each at the driver.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/place.hpp>
#include <levada/graph/detail/region.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

template <class Part>
struct remote_pin {
  static constexpr bool is_one = false;
};
template <class Pin, class Part>
  requires(elsewhere<Pin>::is_one)
struct remote_pin<pinned_part<Pin, Part>> {
  static constexpr bool is_one = true;
  using device = typename elsewhere<Pin>::device;
  static constexpr device_id id = device::id;
};

template <class Parts>
using last_region = region<Parts, rates_of<Parts>.count>;
/// Behind the last rate of a line, if any.
template <class Line>
using items_behind = typename last_region<typename flatten<Line, void>::type>::out;

/// A part on another machine in its line. `In`: what comes to it.
template <class Device, class InBefore, class PartThere>
struct remote_place {
  using device = Device;
  static constexpr auto name = Device::name;
  using in = InBefore;
  using part = PartThere;
  using pipeline = link<input_part<in>, part>;
};

template <class Before, class Part>
struct split_line {
  Before before;
  Part part;
};
/// The stages of the same device before that part belong to it.
template <device_id Id, class Line, class Part>
constexpr auto split_off(Line line, Part part) {
  if constexpr (is_link<Line>) {
    if constexpr (remote_pin<decltype(line.right)>::is_one) {
      if constexpr (remote_pin<decltype(line.right)>::id == Id)
        return split_off<Id>(std::move(line.left), std::move(line.right.part) | std::move(part));
      else
        return split_line<Line, Part>{std::move(line), std::move(part)};
    } else {
      return split_line<Line, Part>{std::move(line), std::move(part)};
    }
  } else {
    return split_line<Line, Part>{std::move(line), std::move(part)};
  }
}

/// The line with `replace(place, part)` in the place of each part on another machine.
template <class Line, class Replace>
constexpr auto replace_remote_parts(Line line, Replace& replace) {
  if constexpr (is_pipeline<Line>) {
    return replace_remote_parts(std::move(line.parts()), replace);
  } else if constexpr (is_link<Line>) {
    using last = decltype(line.right);
    if constexpr (remote_pin<last>::is_one) {
      auto split = split_off<remote_pin<last>::id>(std::move(line.left), std::move(line.right.part));
      using place =
          remote_place<typename remote_pin<last>::device, items_behind<decltype(split.before)>, decltype(split.part)>;
      return replace_remote_parts(std::move(split.before), replace) | replace(place{}, std::move(split.part));
    } else {
      return replace_remote_parts(std::move(line.left), replace) | std::move(line.right);
    }
  } else {
    return line;
  }
}

}  // namespace levada::detail
