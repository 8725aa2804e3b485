// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/planned_streams.hpp: what a fleet's servers store, as far as it is known while compiling: for the plan.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/fleet/detail/by_key.hpp>
#include <levada/fleet/detail/device.hpp>
#include <levada/fleet/detail/keyed_states.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/stream_names.hpp>
#include <levada/fleet/detail/worker_threads.hpp>
#include <levada/graph/detail/queue_info.hpp>
#include <levada/plan/detail/text.hpp>
#include <levada/remote/detail/parts.hpp>
#include <levada/remote/detail/there.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

/// `Item` and `Result`: bytes of their longest forms. `State`: of the longest message with the states of a partition.
template <fixed_string Fleet, std::size_t Item, std::size_t Result, std::size_t Threads, std::size_t Partitions,
          std::size_t State>
struct planned_streams {
  template <const fleet_stream& Of>
  static constexpr auto name = written_fixed_string<[](auto& to) {
    append_stream(to, Of, Fleet.view(), Partitions);
    if (&Of == &chain_stream) to += "-PARTITION";
  }>();
  template <const fleet_stream& Of>
  static constexpr auto subject = written_fixed_string<[](auto& to) {
    if (&Of != &chain_stream) return append_subject(to, Of, Fleet.view(), Partitions);
    append_fleet(to, '.', Fleet.view(), Partitions);
    to += ".chain.PARTITION.*";
  }>();
  /// A bucket of keys is a stream of a name and with a subject of its own kind.
  static constexpr auto bucket = written_fixed_string<[](auto& to) {
    to += "KV_";
    append_stream(to, leases_stream, Fleet.view(), Partitions);
  }>();
  static constexpr auto keys = written_fixed_string<[](auto& to) {
    to += "$KV.";
    append_stream(to, leases_stream, Fleet.view(), Partitions);
    to += ".>";
  }>();

  template <const fleet_stream& Of>
  static constexpr stream_info stream(std::size_t message_bytes, std::size_t count = 1) {
    return {name<Of>.view(), subject<Of>.view(), Of.keeps, count, message_bytes};
  }
  static constexpr queue_info value = [] {
    constexpr std::size_t longest = longest_fleet_message(Item, Result);
    queue_info q{{}, fleet_grain(Item, Result), Threads, Partitions == 0 ? messages_ahead : 0, Partitions};
    if constexpr (Partitions == 0) {
      q.streams.push_back(stream<items_stream>(longest));
      q.streams.push_back(stream<outcomes_stream>(longest));
      q.streams.push_back(stream<sessions_stream>(longest_session_message));
    } else {
      q.streams.push_back(stream<inputs_stream>(longest));
      q.streams.push_back(stream<chain_stream>(std::max(longest, State), Partitions));
      q.streams.push_back({bucket.view(), keys.view(), leases_stream.keeps});
      q.streams.push_back(stream<sessions_stream>(longest_session_message));
    }
    return q;
  }();
};

/// The threads of each worker, by what the target says of the fleet; 0 where it says nothing.
template <class Device, class Target>
consteval std::size_t threads_of_worker() {
  using there = typename target_there<Device, Target>::type;
  if constexpr (std::is_void_v<there>)
    return 0;
  else
    return threads_of(there{});
}

/// Of the part at that place.
template <class Place, class Target>
struct streams_at {
  static consteval keyed_shape shape() {
    if constexpr (is_keyed_fleet<typename Place::device>)
      return keyed_types<Place>::shape;
    else
      return {};
  }
  using type = planned_streams<Place::name, wire<typename Place::in>::most_bytes,
                               wire<items_behind<typename Place::pipeline>>::most_bytes,
                               threads_of_worker<fleet<Place::name>, Target>(), shape().partitions,
                               shape().partitions == 0 ? 0 : shape().longest_state()>;
};

}  // namespace levada::detail
