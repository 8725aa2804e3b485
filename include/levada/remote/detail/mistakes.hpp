// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/mistakes.hpp: the sentences about parts on other machines, and the first that is true.

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/region.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/kernel.hpp>
#include <levada/remote/detail/parts.hpp>
#include <levada/remote/detail/wire.hpp>
#include <levada/run/detail/deploy/bind_plan.hpp>

namespace levada {

template <class Write>
struct programs_on_several_machines_say_their_version : detail::mistake {};
template <fixed_string Device, class Item>
struct item_has_no_form_between_machines_specialise_wire : detail::mistake {};
template <fixed_string Device, class Side>
struct side_data_says_where_something_is_which_is_nowhere_on_another_machine : detail::mistake {};
template <fixed_string Device, fixed_string Stage>
struct stage_on_another_machine_loses_its_state_with_it_say_state_restarts : detail::mistake {};
template <fixed_string Device, fixed_string Stage>
struct stage_of_a_fleet_keeps_no_state_since_items_go_to_any_worker : detail::mistake {};
template <fixed_string Device>
struct part_on_another_machine_gives_one_result_for_each_item : detail::mistake {};
template <fixed_string Device, fixed_string Stage>
struct part_on_another_machine_stands_in_the_line_itself_not_in_a_branch_or_a_node : detail::mistake {};
template <fixed_string Device>
struct device_runs_one_part_of_a_pipeline_not_two : detail::mistake {};
template <fixed_string Device>
struct part_on_another_machine_needs_the_endpoints_of_its_device : detail::mistake {};
template <fixed_string Device>
struct pipeline_has_no_part_on_that_device : detail::mistake {};
template <fixed_string Device, class Target>
struct node_needs_a_target_that_says_which_devices_it_has : detail::mistake {};

namespace detail {

template <class Option>
inline constexpr bool is_version = false;
template <fixed_string Text>
inline constexpr bool is_version<version<Text>> = true;
/// It concerns the way between machines, and no plan.
template <class Option>
inline constexpr bool is_remote_option = is_version<Option> || std::same_as<Option, state_restarts>;

template <class... Options>
consteval auto find_version() {
  if constexpr (constexpr std::size_t at = first_true({is_version<Options>..., true}); at < sizeof...(Options))
    return type_at<type_list<Options...>, at>{};
}
template <class... Options>
using version_of = decltype(find_version<Options...>());

/// The parts on other machines, each a remote_place.
template <class Line>
struct remote_places : type_tag<type_list<>> {};
template <class Line>
using remote_places_of = typename remote_places<Line>::type;
template <class... Stages>
struct remote_places<pipeline<Stages...>> : remote_places<typename pipeline<Stages...>::parts_type> {};
template <class Left, class Right>
struct remote_places<link<Left, Right>> : remote_places<Left> {};
template <class Left, class Right>
  requires(remote_pin<Right>::is_one)
struct remote_places<link<Left, Right>> {
  using split = decltype(split_off<remote_pin<Right>::id>(std::declval<Left>(), std::declval<Right>().part));
  using before = decltype(split::before);
  using place = typename way_of_part<typename remote_pin<Right>::device, before, decltype(split::part)>::place;
  using type = decltype(remote_places_of<before>{} + type_list<place>{});
};

/// The first stage on another machine in branches, nodes and groups of a line, where it is looked for by nobody.
template <class... Part>
consteval auto inner_part_mistake(type_list<Part...> parts) {
  constexpr std::size_t at =
      first_true({(elsewhere<typename Part::device>::is_one && is_stage<typename Part::part>)..., true});
  static_cast<void>(parts);
  if constexpr (at < sizeof...(Part)) {
    using found = type_at<type_list<Part...>, at>;
    return part_on_another_machine_stands_in_the_line_itself_not_in_a_branch_or_a_node<
        elsewhere<typename found::device>::device::name, found::part::name>{};
  } else {
    return no_mistake{};
  }
}
template <class Line>
consteval auto off_line_mistake() {
  if constexpr (is_pipeline<Line>) {
    return off_line_mistake<typename Line::parts_type>();
  } else if constexpr (is_link<Line>) {
    using last = decltype(Line::right);
    if constexpr (decltype(off_line_mistake<decltype(Line::left)>())::is_mistake)
      return off_line_mistake<decltype(Line::left)>();
    else if constexpr (remote_pin<last>::is_one)
      return no_mistake{};
    else
      return inner_part_mistake(typename flatten<last, void>::type{});
  } else {
    return no_mistake{};
  }
}

/// The first of this side data that cannot go to another machine, if any.
template <fixed_string Device, class... Side>
consteval auto sides_mistake(type_list<Side...>) {
  constexpr std::size_t at = first_true({!plain_on_the_wire<Side>..., true});
  if constexpr (at < sizeof...(Side))
    return side_data_says_where_something_is_which_is_nowhere_on_another_machine<Device,
                                                                                 type_at<type_list<Side...>, at>>{};
  else
    return no_mistake{};
}

/// What is wrong with one part.
template <class Place, class... Options>
consteval auto place_mistake() {
  using parts = typename flatten<typename Place::pipeline, void>::type;
  using out = item_behind<parts>;
  using in = carried<typename Place::in>;
  using sides = decltype(sides_mistake<Place::name>(typename in::sides{} + typename carried<out>::sides{}));
  if constexpr (!has_wire_form<typename in::item>) {
    return item_has_no_form_between_machines_specialise_wire<Place::name, typename in::item>{};
  } else if constexpr (changes_rate<parts> || std::same_as<out, nothing_more>) {
    return part_on_another_machine_gives_one_result_for_each_item<Place::name>{};
  } else if constexpr (!has_wire_form<typename carried<out>::item>) {
    return item_has_no_form_between_machines_specialise_wire<Place::name, typename carried<out>::item>{};
  } else if constexpr (sides::is_mistake) {
    return sides{};
  } else if constexpr (requires { elsewhere<typename Place::device>::template state_mistake<Place>(); }) {
    return elsewhere<typename Place::device>::template state_mistake<Place>();
  } else {
    constexpr std::size_t state = first_serial_node(flat<typename Place::pipeline>::describe().nodes);
    if constexpr (state == flat<typename Place::pipeline>::nodes)
      return no_mistake{};
    else if constexpr (!elsewhere<typename Place::device>::keeps_state)
      return stage_of_a_fleet_keeps_no_state_since_items_go_to_any_worker<
          Place::name, flat<typename Place::pipeline>::template node_place<state>::name>{};
    else if constexpr (elsewhere<typename Place::device>::is_lost_alone &&
                       !(std::same_as<Options, state_restarts> || ...))
      return stage_on_another_machine_loses_its_state_with_it_say_state_restarts<
          Place::name, flat<typename Place::pipeline>::template node_place<state>::name>{};
    else
      return no_mistake{};
  }
}

/// Numbers of names are compared: each of these is there once, of each kind.
template <class... Place>
consteval std::size_t second_of_one_device() {
  constexpr std::size_t count = sizeof...(Place);
  const device_id devices[] = {Place::device::id..., device_id{}};
  for (std::size_t i = 1; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (devices[i] == devices[j]) return i;
  return count;
}

template <class... Options, class... Place>
consteval auto places_mistake(type_list<Place...>) {
  constexpr std::size_t twice = second_of_one_device<Place...>();
  if constexpr (twice < sizeof...(Place)) {
    return device_runs_one_part_of_a_pipeline_not_two<type_at<type_list<Place...>, twice>::name>{};
  } else if constexpr (std::is_void_v<version_of<Options...>> &&
                       !(elsewhere<typename Place::device>::is_one_program && ...)) {
    return programs_on_several_machines_say_their_version<write<"version<\"1\">">>{};
  } else {
    constexpr std::size_t at = first_true({decltype(place_mistake<Place, Options...>())::is_mistake..., true});
    if constexpr (at < sizeof...(Place))
      return place_mistake<type_at<type_list<Place...>, at>, Options...>();
    else
      return no_mistake{};
  }
}

/// What is wrong with a pipeline over several machines, as far as neither side's plan says it.
template <class Pipeline, class... Options>
consteval auto remote_pipeline_mistake() {
  if constexpr (!pipeline_part<Pipeline>)
    return only_a_pipeline_can_be_deployed<Pipeline>{};
  else if constexpr (pipeline_mistake<Pipeline>::is_mistake)
    return pipeline_mistake<Pipeline>{};
  else if constexpr (decltype(off_line_mistake<Pipeline>())::is_mistake)
    return off_line_mistake<Pipeline>();
  else
    return places_mistake<Options...>(remote_places_of<Pipeline>{});
}

/// Which of these places is on that device; behind all where none is.
template <class... Place>
consteval std::size_t find_place(device_id on, type_list<Place...>) {
  std::size_t at = 0;
  static_cast<void>(((Place::device::id == on || (++at, false)) || ...));
  return at;
}

/// The options of a plan there: those that concern the way left out.
template <class... Options>
using options_there =
    decltype((type_list<>{} + ... + std::conditional_t<is_remote_option<Options>, type_list<>, type_list<Options>>{}));

}  // namespace detail
}  // namespace levada
