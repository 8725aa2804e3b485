// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/keyed_inputs.hpp: the messages of a partition's items, put in the order of their numbers. They may lie
// in the stream in another order, and twice: what a full stream refused was published again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <levada/fleet/detail/fifo.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

/// Of its source: the sessions of a name have one, whose items have the same numbers in all of them. The numbers of
/// these differ in so many bits; no others have the rest in common.
inline constexpr int driver_bits = 24;
constexpr std::uint64_t source_of(std::uint64_t session) { return session >> driver_bits; }

/// How far a partition is: in which session, and the number there of the item that comes next.
struct keyed_position {
  std::uint64_t session = 0, next = 0;
  bool operator==(const keyed_position&) const = default;
};

/// A message of items; without any it begins the session.
struct keyed_input {
  nats_message raw;
  std::uint64_t sequence = 0;  ///< in the stream
  std::uint64_t session = 0, first = 0, count = 0;
};

class keyed_inputs {
 public:
  keyed_inputs(std::uint64_t first_sequence, keyed_position at) : at_(at), next_sequence_(first_sequence) {}

  /// False: it is of another program, and nothing from there on is taken. Throws wire_error where it is no message.
  bool add(nats_message m, std::uint64_t sequence, std::uint64_t program) {
    if (is_over_) return false;
    next_sequence_ = sequence + 1;
    const fleet_envelope e = fleet_reader(bytes_of(m.get())).envelope();
    if (e.program != program) {
      next_sequence_ = sequence;
      is_over_ = true;
      return false;
    }
    if (e.kind == fleet_message::begin) {
      if (e.session == at_.session) return true;
      held_.clear();
      at_ = {e.session, 1};
      ready_.push({std::move(m), sequence, e.session, 1, 0});
    } else if (e.kind == fleet_message::items) {
      // Of a session before this one: its driver does not know that it is over.
      if (e.session != at_.session || e.number + e.frames <= at_.next || e.frames == 0) return true;
      keyed_input input{std::move(m), sequence, e.session, e.number, e.frames};
      if (e.number <= at_.next)
        make_ready(std::move(input));
      else
        held_.try_emplace(e.number, std::move(input));
      while (!held_.empty() && held_.begin()->first <= at_.next)
        make_ready(std::move(held_.extract(held_.begin()).mapped()));
    } else {
      throw wire_error("levada: it is none of a driver");
    }
    return true;
  }

  bool has_next() const { return !ready_.empty(); }
  keyed_input take() { return ready_.pop(); }
  /// From here on the stream has all that has not been taken.
  std::uint64_t needed_from() const {
    std::uint64_t from = next_sequence_;
    for (const keyed_input& i : ready_) from = std::min(from, i.sequence);
    for (const auto& [number, i] : held_) from = std::min(from, i.sequence);
    return from;
  }

 private:
  void make_ready(keyed_input input) {
    const std::uint64_t behind = input.first + input.count;
    if (behind <= at_.next) return;
    at_.next = behind;
    ready_.push(std::move(input));
  }

  keyed_position at_;  ///< behind what is ready
  std::uint64_t next_sequence_;
  bool is_over_ = false;
  fifo<keyed_input> ready_;
  std::map<std::uint64_t, keyed_input> held_;  ///< by their numbers
};

}  // namespace levada::detail
