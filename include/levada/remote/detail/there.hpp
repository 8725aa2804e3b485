// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/there.hpp: the part of a pipeline that runs on a device elsewhere, as the program compiles it that runs
// it: its place in the line, the target that it has, and what is wrong with it.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/remote/detail/by_cost.hpp>
#include <levada/remote/detail/mistakes.hpp>
#include <levada/remote/detail/parts.hpp>
#include <levada/run/deploy.hpp>

namespace levada::detail {

/// The devices behind a device that is known by its name.
template <class Device, class Target>
struct target_there : type_tag<void> {};
template <class Device, class First, class... Rest>
struct target_there<Device, target<First, Rest...>> : target_there<Device, target<Rest...>> {};
template <template <fixed_string, class...> class Kind, fixed_string Name, class... Devices, class... Rest>
  requires(sizeof...(Devices) != 0)
struct target_there<Kind<Name>, target<Kind<Name, Devices...>, Rest...>> : type_tag<target<Devices...>> {};

template <class Device, class Pipeline>
struct place_there {
  using places = remote_places_of<Pipeline>;
  using type = type_at<places, find_place(Device::id, places{})>;
};

/// The part of that device, which is there.
template <device_id Id, class Line>
constexpr auto part_on(Line line) {
  if constexpr (is_pipeline<Line>) {
    return part_on<Id>(std::move(line.parts()));
  } else if constexpr (remote_pin<decltype(line.right)>::is_one) {
    auto split = split_off<remote_pin<decltype(line.right)>::id>(std::move(line.left), std::move(line.right.part));
    if constexpr (remote_pin<decltype(line.right)>::id == Id)
      return way_of_part<typename remote_pin<decltype(line.right)>::device, decltype(split.before),
                         decltype(split.part)>::part_there(std::move(split.part));
    else
      return part_on<Id>(std::move(split.before));
  } else {
    return part_on<Id>(std::move(line.left));
  }
}

template <class Given, class Target, class Device, class... Options>
struct node_mistake {
  using pipeline = placed_by_cost<std::decay_t<Given>, Target, Options...>;
  template <class... Kept>
  static consteval auto of_plan(type_list<Kept...>) {
    using place = typename place_there<Device, pipeline>::type;
    return deploy_call_mistake<typename place::pipeline, typename target_there<Device, Target>::type, Kept...>{};
  }
  template <class... Place>
  static consteval bool has(type_list<Place...> all) {
    return find_place(Device::id, all) < sizeof...(Place);
  }
  static consteval auto find() {
    using of_pipeline = decltype(remote_pipeline_mistake<pipeline, Options...>());
    if constexpr (of_pipeline::is_mistake)
      return of_pipeline{};
    else if constexpr (!has(remote_places_of<pipeline>{}))
      return pipeline_has_no_part_on_that_device<Device::name>{};
    else if constexpr (std::is_void_v<typename target_there<Device, Target>::type>)
      return node_needs_a_target_that_says_which_devices_it_has<Device::name, Target>{};
    else
      return of_plan(options_of_node<Device::name, Options...>{});
  }
  using type = decltype(find());
};

}  // namespace levada::detail
