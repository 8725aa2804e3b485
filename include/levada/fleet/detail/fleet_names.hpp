// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/fleet_names.hpp: what a fleet is called at its servers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <levada/fleet/detail/short_text.hpp>
#include <levada/fleet/detail/stream_names.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada::detail {

/// 16 digits, as programs and sessions are named in subjects.
inline std::string hex(std::uint64_t number) { return std::string(short_text().add_hex(number).view()); }

/// What its sessions with a name are called there. `partitions`: 0 where it has none.
struct session_names {
  explicit session_names(std::string_view fleet, std::size_t partitions = 0)
      : sessions_stream(
            written_text([&](std::string& to) { append_stream(to, detail::sessions_stream, fleet, partitions); })),
        all_sessions(
            written_text([&](std::string& to) { append_subject(to, detail::sessions_stream, fleet, partitions); })) {}
  /// How far one is.
  std::string session(std::uint64_t session) const {
    return all_sessions.substr(0, all_sessions.size() - 1) + hex(session);
  }

  std::string sessions_stream, all_sessions;
};

/// What a fleet is called at its servers.
struct fleet_names : session_names {
  explicit fleet_names(std::string_view fleet, std::uint64_t program)
      : session_names(fleet),
        prefix("levada." + std::string(fleet)),
        items_stream(name_of(detail::items_stream, fleet)),
        outcomes_stream(name_of(detail::outcomes_stream, fleet)),
        all_items(subject_of(detail::items_stream, fleet)),
        all_outcomes(subject_of(detail::outcomes_stream, fleet)),
        all_questions(prefix + ".questions.*"),
        consumer(hex(program)),
        items(prefix + ".items." + consumer),
        drivers(prefix + ".drivers"),
        workers(prefix + ".workers") {}
  std::string outcomes(std::uint64_t session) const {
    std::string text;
    write_outcomes(session, text);
    return text;
  }
  /// For each message, to a text that has the room.
  void write_outcomes(std::uint64_t session, std::string& to) const {
    to.assign(prefix).append(".outcomes.").append(short_text().add_hex(session).view());
  }
  std::string questions(std::uint64_t session) const { return prefix + ".questions." + hex(session); }

  std::string prefix, items_stream, outcomes_stream;
  std::string all_items, all_outcomes, all_questions;
  std::string consumer;          ///< of the items of a program, which its workers share
  std::string items;             ///< of a program
  std::string drivers, workers;  ///< who answer what program they are

 private:
  static std::string name_of(const fleet_stream& of, std::string_view fleet) {
    return written_text([&](std::string& to) { append_stream(to, of, fleet); });
  }
  static std::string subject_of(const fleet_stream& of, std::string_view fleet) {
    return written_text([&](std::string& to) { append_subject(to, of, fleet); });
  }
};

}  // namespace levada::detail
