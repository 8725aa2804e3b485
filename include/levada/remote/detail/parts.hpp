// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/parts.hpp: the parts of a line that are pinned to other machines: found by both ends, and replaced by
// one stage each at the driver.

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/place.hpp>
#include <levada/graph/detail/region.hpp>
#include <levada/graph/detail/stage.hpp>
#include <levada/remote/detail/carried_sides.hpp>
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

/// The line, and behind it a stage that joins side data to its item, of type `T`, or takes them apart: `How`. Without
/// any: the line.
template <template <class, class...> class How, class T, class Line, class... Side>
constexpr auto sides_behind(Line line, type_list<Side...>) {
  if constexpr (sizeof...(Side) == 0)
    return line;
  else
    return std::move(line) | levada::stage<"side data">(How<T, Side...>{});
}
/// The same with one before the line, which takes them apart.
template <class T, class Line, class... Side>
constexpr auto parted_before(Line line, type_list<Side...>) {
  if constexpr (sizeof...(Side) == 0)
    return line;
  else
    return levada::stage<"side data">(part_sides<T, Side...>{}) | std::move(line);
}

/// The way of items to a part on another machine and back, with the side data that its stages take of what is there,
/// and that they attach.
template <class Device, class Before, class Part>
struct way_of_part {
  using given = items_behind<Before>;
  using made = items_behind<link<input_part<given>, Part>>;
  template <class Line>
  using sides_in_line = typename last_region<typename flatten<Line, void>::type>::flat::all_sides;

  static consteval auto find_there() {
    if constexpr (elsewhere<Device>::carries_sides)
      return sides_taken(sides_in_line<link<input_part<given>, Part>>{}, sides_attached(sides_in_line<Before>{}));
    else
      return type_list<>{};
  }
  static consteval auto find_back() {
    if constexpr (elsewhere<Device>::carries_sides && !std::same_as<made, nothing_more>)
      return sides_attached(sides_in_line<link<input_part<given>, Part>>{});
    else
      return type_list<>{};
  }
  using there = decltype(find_there());
  using back = decltype(find_back());

  /// The part as its node has it.
  static constexpr auto part_there(Part part) {
    return sides_behind<join_sides, made>(parted_before<given>(std::move(part), there{}), back{});
  }
  using place =
      remote_place<Device, typename item_joined_with<given, there>::type, decltype(part_there(std::declval<Part>()))>;

  /// The line as its driver has it, with `by` in the place of the part.
  template <class Line, class By>
  static constexpr auto line_here(Line before, By by) {
    return sides_behind<part_sides, made>(sides_behind<join_sides, given>(std::move(before), there{}) | std::move(by),
                                          back{});
  }
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
      using way = way_of_part<typename remote_pin<last>::device, decltype(split.before), decltype(split.part)>;
      return way::line_here(replace_remote_parts(std::move(split.before), replace),
                            replace(typename way::place{}, way::part_there(std::move(split.part))));
    } else {
      return replace_remote_parts(std::move(line.left), replace) | std::move(line.right);
    }
  } else {
    return line;
  }
}

}  // namespace levada::detail
