// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/by_key.hpp: a stage of a fleet that keeps a state for each key of its items:
//
//   on<fleet<"track">, by<&frame::camera>, partitions<16>>(stage<"track">(tracker{}))
//
// Each key has a copy of the stage's callable. Keys are spread over partitions, each of which is run in order by one
// worker at a time; what a worker knew, the next one knows.

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/fleet/detail/device.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/graph/detail/stage.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada {

/// The key of an item: a pointer to its member, or a callable without captures that is given the item. A key is a
/// number, an enumerator, or of several of these without gaps.
template <auto Of>
struct by {};

/// Into how many parts the keys are divided: workers beyond that find nothing to do. Each part has `Keys` at most; an
/// item of one more fails.
template <std::size_t Count, std::size_t Keys = 1024>
struct partitions {
  static constexpr std::size_t most = 256;  ///< of one fleet
  static constexpr std::size_t count = Count, keys = Keys;
};

/// A stage's callable that writes its state and reads it again, into a copy of the callable that the pipeline was made
/// with. `most_state_bytes`: of one key.
template <class F>
concept saves_state = requires(const F& from, F& into, wire_writer& to, wire_reader& of) {
  { F::most_state_bytes } -> std::convertible_to<std::size_t>;
  from.save(to);
  into.load(of);
};

template <fixed_string Fleet>
struct part_by_key_is_one_stage_with_a_callable : detail::mistake {};
template <fixed_string Fleet, class Item>
struct key_cannot_be_taken_of_the_item : detail::mistake {};
template <fixed_string Fleet, class Key>
struct key_is_not_told_by_its_bytes_take_a_number : detail::mistake {};
template <fixed_string Fleet, fixed_string Stage>
struct state_of_a_stage_by_key_is_not_plain_give_it_save_and_load : detail::mistake {};
template <fixed_string Fleet, std::size_t Given, std::size_t Most>
struct fleet_has_one_partition_or_more_up_to_the_most : detail::mistake {};
template <fixed_string Fleet>
struct partitions_have_at_least_one_key : detail::mistake {};

namespace detail {

/// A fleet whose part has a state for each key, as a pin.
template <fixed_string Name, class Key, class Partitions>
struct keyed_fleet;
template <fixed_string Name, auto Key, std::size_t Count, std::size_t Keys>
struct keyed_fleet<Name, by<Key>, partitions<Count, Keys>> {
  static constexpr device_id id = fleet<Name>::id;
  static constexpr auto name = Name;
  static constexpr auto key = Key;
  using parts = partitions<Count, Keys>;
};

template <class Device>
inline constexpr bool is_keyed_fleet = false;
template <fixed_string Name, class Key, class Partitions>
inline constexpr bool is_keyed_fleet<keyed_fleet<Name, Key, Partitions>> = true;

template <class Part>
struct only_stage : type_tag<void> {};
template <class Stage, class Pin>
struct only_stage<type_list<flat_part<Stage, Pin>>> : type_tag<Stage> {};

template <class Stage>
inline constexpr bool is_callable_stage = false;
template <fixed_string Name, class F, concurrency C, written W, class Out>
inline constexpr bool is_callable_stage<callable_stage<Name, F, C, W, Out>> =
    W != written::source && W != written::sink;

template <class Key>
concept told_by_its_bytes =
    std::is_trivially_copyable_v<Key> && std::has_unique_object_representations_v<Key> && !points_elsewhere<Key>;
template <class F>
concept plain_state = std::is_trivially_copyable_v<F> && !points_elsewhere<F>;

/// A stage with a state for each key, and its items.
template <class Device, class Stage, class In>
struct keyed_stage {
  using callable = typename Stage::callable_type;
  using form_type = stage_form<Stage, "", In>;
  static constexpr form as = form_type::value;
  using out = typename form_type::output;
  using key = std::remove_cvref_t<std::invoke_result_t<decltype(Device::key), const In&>>;
  static constexpr std::size_t state_bytes = [] {
    if constexpr (saves_state<callable>)
      return static_cast<std::size_t>(callable::most_state_bytes);
    else
      return std::is_empty_v<callable> ? 0 : sizeof(callable);
  }();
};

/// What is wrong with a part by key; its items have been looked at.
template <class Place>
consteval auto keyed_place_mistake() {
  using device = typename Place::device;
  using made = typename only_stage<typename flatten<typename Place::part, void>::type>::type;
  using in = typename Place::in;
  constexpr std::size_t count = device::parts::count, most = device::parts::most;
  if constexpr (count == 0 || count > most) {
    return fleet_has_one_partition_or_more_up_to_the_most<Place::name, count, most>{};
  } else if constexpr (device::parts::keys == 0) {
    return partitions_have_at_least_one_key<Place::name>{};
  } else if constexpr (!is_callable_stage<made>) {
    return part_by_key_is_one_stage_with_a_callable<Place::name>{};
  } else if constexpr (!std::is_invocable_v<decltype(device::key), const in&>) {
    return key_cannot_be_taken_of_the_item<Place::name, in>{};
  } else {
    using stage = keyed_stage<device, made, in>;
    using callable = typename stage::callable;
    if constexpr (!told_by_its_bytes<typename stage::key>)
      return key_is_not_told_by_its_bytes_take_a_number<Place::name, typename stage::key>{};
    else if constexpr (!std::is_same_v<typename sides_of<callable, stage::as>::type, type_list<>> ||
                       !std::is_copy_constructible_v<callable>)
      return part_by_key_is_one_stage_with_a_callable<Place::name>{};
    else if constexpr (!plain_state<callable> && !saves_state<callable>)
      return state_of_a_stage_by_key_is_not_plain_give_it_save_and_load<Place::name, made::name>{};
    else
      return no_mistake{};
  }
}

template <fixed_string Name, class Key, class Partitions>
struct elsewhere<keyed_fleet<Name, Key, Partitions>> : is_elsewhere {
  static constexpr bool carries_sides = false;
  using device = keyed_fleet<Name, Key, Partitions>;

  template <class Place>
  static consteval auto state_mistake() {
    return keyed_place_mistake<Place>();
  }
};

}  // namespace detail

/// The stage runs on the workers of the fleet with a state for each key.
template <class Fleet, class Key, class Partitions, pipeline_part Part>
  requires requires { typename detail::keyed_fleet<Fleet::name, Key, Partitions>::parts; }
[[gnu::always_inline]] constexpr auto on(Part part) {
  return on<detail::keyed_fleet<Fleet::name, Key, Partitions>>(std::move(part));
}

}  // namespace levada
