// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/keyed_streams.hpp: what a fleet with partitions stores. Items are kept until a state has passed them,
// and what came of them until it is done: the driver purges both. One stream for each partition's outcomes, since the
// last message of a stream is what a chain is compared with.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/keyed_names.hpp>
#include <levada/fleet/detail/keyed_states.hpp>
#include <levada/fleet/detail/lease.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/stream_names.hpp>
#include <levada/fleet/detail/streams.hpp>

namespace levada::detail {

/// The messages of a partition that a worker runs before it publishes a state: half of what the partition may keep.
inline std::uint64_t inputs_a_state(std::size_t item, std::size_t result, std::size_t partitions, const jetstream& to) {
  const auto all = static_cast<std::uint64_t>(
      stream_config("", nullptr, inputs_stream.keeps, longest_fleet_message(item, result), to).MaxMsgs);
  return std::clamp<std::uint64_t>(all / (2 * partitions), 1, 1000);
}

/// The stream of a partition's outcomes: two states' worth of them, and some states.
inline jsStreamConfig chain_config(const char* name, const char** subject, std::size_t item, std::size_t result,
                                   const keyed_shape& shape, const jetstream& to) {
  constexpr std::uint64_t stored_around = 256, states = 16;
  const std::size_t longest = longest_fleet_message(item, result);
  jsStreamConfig c = stream_config(name, subject, chain_stream.keeps, std::max(longest, shape.longest_state()), to);
  const std::uint64_t outcomes = 2 * inputs_a_state(item, result, shape.partitions, to) + 64;
  c.MaxMsgs = static_cast<std::int64_t>(outcomes + states);
  c.MaxBytes = static_cast<std::int64_t>(outcomes * (longest + stored_around) +
                                         2 * states * (shape.longest_state() + stored_around));
  return c;
}

/// Finds all of them, or makes them.
inline void keep_keyed_streams(const nats_connection& by, const keyed_names& names, std::size_t item,
                               std::size_t result, const keyed_shape& shape, const jetstream& to) {
  const std::size_t longest = longest_fleet_message(item, result);
  check_holds_messages(by, longest, shape.partitions, to);
  const char* subject = names.all_inputs.c_str();
  keep_stream(by, stream_config(names.inputs_stream.c_str(), &subject, inputs_stream.keeps, longest, to));
  for (std::size_t p = 0; p < shape.partitions; ++p) {
    const std::string name = names.chain_stream(p), all = names.all_of_chain(p);
    subject = all.c_str();
    keep_stream(by, chain_config(name.c_str(), &subject, item, result, shape, to));
  }
  lease_bucket::keep(by, names.leases, to);
  subject = names.all_sessions.c_str();
  keep_stream(by, sessions_config(names.sessions_stream.c_str(), &subject, to));
}

/// In the order of the plan.
inline fixed_array<stream_bounds> bounds_of_streams(std::size_t item, std::size_t result, const keyed_shape& shape,
                                                    const jetstream& to) {
  fixed_array<stream_bounds> all(4);
  all[0] = bounds_of(stream_config("", nullptr, inputs_stream.keeps, longest_fleet_message(item, result), to));
  all[1] = bounds_of(chain_config("", nullptr, item, result, shape, to));
  all[2] = {0, lease_bucket::most_bytes, to.replicas};
  all[3] = bounds_of(sessions_config("", nullptr, to));
  return all;
}

/// Removes the messages of a subject before that one. It asks, and does not wait: what is left is asked for with the
/// next. Nothing is kept for a server that comes again: its stream may end before that sequence, and go on with other
/// messages.
inline void purge_up_to(const nats_connection& by, const std::string& stream, const std::string& subject,
                        std::uint64_t sequence) noexcept {
  if (sequence < 2 || !by.is_connected()) return;  // the server takes 0 and 1 for all there is
  by.say(("$JS.API.STREAM.PURGE." + stream).c_str(),
         "{\"filter\":\"" + subject + "\",\"seq\":" + std::to_string(sequence) + "}", haste::none);
}
/// The same, all but the last.
inline void keep_last(const nats_connection& by, const std::string& stream, const std::string& subject) noexcept {
  if (!by.is_connected()) return;
  by.say(("$JS.API.STREAM.PURGE." + stream).c_str(), "{\"filter\":\"" + subject + "\",\"keep\":1}", haste::none);
}

}  // namespace levada::detail
