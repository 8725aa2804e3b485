// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/deploy.hpp: a pipeline some of whose parts are done by a fleet, as the program that drives it deploys it:
// `deploy<box, version<"1">>(pipeline, jetstream{{"nats://127.0.0.1:4222"}})`, of remote/detail/deploy.hpp.
//
// The driver makes the streams of its fleets, or finds them as it would. Throws remote_error where no server answers,
// where a stream is another than what it should be, where an item is too long for a message, and where all workers that
// are there are of another program. Needs the client of NATS in C and its OpenSSL (Debian packages
// libnats-dev and libssl-dev, pkg-config `libnats openssl`).

#include <memory>
#include <string>
#include <utility>

#include <levada/fleet/detail/by_key.hpp>
#include <levada/fleet/detail/device.hpp>
#include <levada/fleet/detail/identity.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/kernel.hpp>
#include <levada/fleet/detail/keyed_states.hpp>
#include <levada/fleet/detail/named_session.hpp>
#include <levada/fleet/detail/planned_streams.hpp>
#include <levada/fleet/detail/queue.hpp>
#include <levada/remote/detail/deploy.hpp>
#include <levada/remote/detail/identity.hpp>
#include <levada/remote/detail/possible_result.hpp>

namespace levada::detail {

template <class Device>
inline constexpr bool is_fleet = false;
template <fixed_string Name>
inline constexpr bool is_fleet<fleet<Name>> = true;
template <fixed_string Name, class Key, class Partitions>
inline constexpr bool is_fleet<keyed_fleet<Name, Key, Partitions>> = true;

template <>
struct way_elsewhere<jetstream> {
  using backend = fleet_backend;
  static constexpr fixed_string name{"fleet"};
  template <class To>
  static constexpr bool leads_to = is_fleet<To>;

  template <class Place, class Target, class Version, class Part>
  static auto stage(const jetstream& to, const Part& part) {
    using identity = fleet_identity<Place, Version>;
    auto way = std::make_shared<fleet_way>();
    way->fleet = std::string(Place::name.view());
    way->identity = identity::text.view();
    way->program = identity::hash;
    way->to = to;
    if constexpr (is_keyed_fleet<typename Place::device>) {
      way->by_key = &keyed_types<Place>::shape;
      way->make_states = states_maker<Place>(part);
    }
    return part_elsewhere<Place, fleet<Place::name>, typename streams_at<Place, Target>::type>(std::move(way));
  }
};

}  // namespace levada::detail
