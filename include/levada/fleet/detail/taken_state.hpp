// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/taken_state.hpp: what a worker reads of a partition that it takes: the last state, and how far its
// predecessor was. It has published its mark before, so that nothing of the predecessor comes behind what it reads.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <levada/fleet/detail/keyed_inputs.hpp>
#include <levada/fleet/detail/keyed_names.hpp>
#include <levada/fleet/detail/keyed_partition.hpp>
#include <levada/fleet/detail/keyed_states.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

/// The last message of a subject; null where there is none. Throws remote_error where no server says so.
inline nats_message last_message(const nats_connection& by, const std::string& stream, const std::string& subject) {
  natsMsg* found = nullptr;
  jsErrCode code{};
  const natsStatus status = js_GetLastMsg(&found, by.stored(), stream.c_str(), subject.c_str(), nullptr, &code);
  if (status == NATS_NOT_FOUND || code == JSNoMessageFoundErr) return nullptr;
  by.check(status, "a stream cannot be read");
  return nats_message(found);
}

/// Throws remote_error where it is not stored.
inline void publish_stored(const nats_connection& by, const std::string& subject, const std::string& id,
                           std::span<const std::byte> payload) {
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MaxWait = 2000;
  options.MsgId = id.c_str();
  by.check(js_Publish(nullptr, by.stored(), subject.c_str(), payload.data(), static_cast<int>(payload.size()), &options,
                      nullptr),
           "a partition cannot be begun");
}

inline void publish_mark(const nats_connection& by, const keyed_names& names, std::size_t partition,
                         std::uint64_t program, std::string_view worker, const std::string& id) {
  fleet_writer to;
  to.begin(worker);
  publish_stored(by, names.marks(partition), id, to.end({fleet_message::mark, 0, 0, program, 0, 0}));
}

/// A state as it is stored.
struct stored_state {
  std::uint64_t sequence = 0;  ///< in its stream; 0: there is none
  std::uint64_t program = 0;
  std::uint64_t needed_from = 1;  ///< of the inputs
  keyed_position at;
};

/// Loads the last state of a partition. Throws remote_error where it is none of this stage.
inline stored_state load_last_state(const nats_connection& by, const keyed_names& names, std::size_t partition,
                                    keyed_states& into) {
  const nats_message m = last_message(by, names.chain_stream(partition), names.states(partition));
  if (!m) return {};
  try {
    fleet_reader from(bytes_of(m.get()));
    const fleet_envelope& e = from.envelope();
    fleet_reader::frame f;
    if (e.kind != fleet_message::state || !from.next(f) || f.header.kind != frame_kind::item)
      throw wire_error("levada: it is none of a worker");
    const stored_state is{natsMsg_GetSequence(m.get()), e.program, f.header.item, {e.session, e.number}};
    while (from.next(f)) into.load(f.payload);
    return is;
  } catch (const std::exception& why) {
    throw remote_error(by.who() + ": the state of partition " + std::to_string(partition) +
                       " cannot be loaded, purge the stream " + names.chain_stream(partition) +
                       " to begin without: " + why.what());
  }
}

/// Where a worker that has published its mark goes on.
inline keyed_start read_start(const nats_connection& by, const keyed_names& names, std::size_t partition,
                              std::uint64_t program, std::unique_ptr<keyed_states> states) {
  const stored_state last = load_last_state(by, names, partition, *states);
  keyed_start start{last.needed_from, last.at, last.at, std::move(states)};
  const nats_message m = last_message(by, names.chain_stream(partition), names.outcomes(partition));
  if (!m || natsMsg_GetSequence(m.get()) < last.sequence) return start;
  const fleet_envelope e = fleet_reader(bytes_of(m.get())).envelope();
  if (e.program != program) throw remote_error(by.who() + ": another program has outcomes behind its last state");
  start.published = {e.session, e.number};
  return start;
}

}  // namespace levada::detail
