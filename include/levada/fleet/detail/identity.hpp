// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/identity.hpp: what drivers and workers of a fleet have to agree on, and the states of a part by key.

#include <functional>
#include <memory>
#include <type_traits>

#include <levada/fleet/detail/by_key.hpp>
#include <levada/fleet/detail/keyed_states.hpp>
#include <levada/remote/detail/identity.hpp>
#include <levada/remote/detail/parts.hpp>

namespace levada::detail {

template <class Place>
struct lines_of_fleet : type_tag<no_more_lines> {};
template <class Place>
  requires is_keyed_fleet<typename Place::device>
struct lines_of_fleet<Place> : type_tag<keyed_lines<Place>> {};

/// Of a program with that version, at the place of the part.
template <class Place, class Version>
using fleet_identity = remote_identity<Place::name, Version::text, typename Place::pipeline, typename Place::in,
                                       items_behind<typename Place::pipeline>, typename lines_of_fleet<Place>::type>;

/// Makes the states of a partition, none of which is known.
template <class Place, class Stage>
std::function<std::unique_ptr<keyed_states>()> states_maker(const Stage& stage) {
  return [stage] { return keyed_types<Place>::make(stage); };
}

}  // namespace levada::detail
