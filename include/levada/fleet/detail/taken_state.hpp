// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/taken_state.hpp: what a worker reads of a partition that it takes: the last state, and how far its
// predecessor was. It has published its mark before, so that nothing of the predecessor comes behind what it reads.

#include <cstddef>
#include <cstdint>
#include <cstring>
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
#include <levada/fleet/detail/streams.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

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

/// The last mark of a partition: whose taker tried an item alone, and how often that was tried.
struct stored_mark {
  bool is_there = false, has_left = false;
  keyed_position at;
  std::uint64_t attempts = 0;
};
inline stored_mark last_mark(const nats_connection& by, const keyed_names& names, std::size_t partition) {
  const nats_message m = last_message(by, names.chain_stream(partition), names.marks(partition));
  if (!m) return {};
  fleet_reader from(bytes_of(m.get()));
  const fleet_envelope& e = from.envelope();
  fleet_reader::frame f;
  const std::uint64_t attempts = from.next(f) ? f.header.item : 0;
  return {true, e.number == keyed_left, {e.session, e.number}, attempts};
}
/// Of a worker that takes the partition; what the one before says of attempts stays.
inline void publish_mark(const nats_connection& by, const keyed_names& names, std::size_t partition,
                         std::uint64_t program, std::string_view worker, const std::string& id,
                         const stored_mark& before) {
  fleet_writer to;
  to.begin(worker);
  const bool stays = before.is_there && !before.has_left && before.attempts != 0;
  if (stays) to.add(frame_kind::item, before.attempts, {});
  const keyed_position at = stays ? before.at : keyed_position{};
  publish_stored(by, names.marks(partition), id, to.end({fleet_message::mark, 0, 0, program, at.session, at.next}));
}

/// A state as it is stored.
struct stored_state {
  std::uint64_t sequence = 0;  ///< in its stream; 0: there is none
  std::uint64_t program = 0;
  std::uint64_t needed_from = 1;  ///< of the inputs
  keyed_position at;
  std::uint64_t item = 0;  ///< of the source, before which it has all
};

/// Of the frame with which it begins.
inline std::uint64_t item_of_state(const fleet_reader::frame& begin) {
  std::uint64_t item = 0;
  if (begin.payload.size() == sizeof item) std::memcpy(&item, begin.payload.data(), sizeof item);
  return item;
}

/// Loads the last state of a partition. Throws remote_error where it is none of this stage.
inline stored_state load_last_state(const nats_connection& by, const keyed_names& names, std::size_t partition,
                                    keyed_states& into) {
  const nats_message m = last_message(by, names.chain_stream(partition), names.states(partition));
  if (!m) return {};
  try {
    fleet_reader from(bytes_of(m.get()));
    const fleet_envelope& e = from.envelope();
    fleet_reader::frame f;
    bool has_begin = e.kind == fleet_message::state && from.next(f);
    while (has_begin && f.header.kind == frame_kind::failure) has_begin = from.next(f);  // of an item
    if (!has_begin || f.header.kind != frame_kind::item) throw wire_error("levada: it is none of a worker");
    stored_state is{natsMsg_GetSequence(m.get()), e.program, f.header.item, {e.session, e.number}};
    is.item = item_of_state(f);
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
                              std::uint64_t program, const stored_mark& before, std::unique_ptr<keyed_states> states) {
  const stored_state last = load_last_state(by, names, partition, *states);
  keyed_start start{last.needed_from,  last.at,
                    last.item,         {last.at.session, last.item},
                    std::move(states), before.is_there && !before.has_left,
                    before.at,         before.attempts};
  const nats_message m = last_message(by, names.chain_stream(partition), names.outcomes(partition));
  if (m && natsMsg_GetSequence(m.get()) > last.sequence) {
    const fleet_envelope e = fleet_reader(bytes_of(m.get())).envelope();
    if (e.program != program) throw remote_error(by.who() + ": another program has outcomes behind its last state");
    start.published = {e.session, e.number};
  }
  return start;
}

}  // namespace levada::detail
