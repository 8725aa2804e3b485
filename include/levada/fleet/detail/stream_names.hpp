// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/stream_names.hpp: the streams of a fleet, what they are called, and how long they keep a message. The
// plan has the same words while compiling.

#include <cstddef>
#include <string>
#include <string_view>

#include <levada/graph/detail/queue_info.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada::detail {

struct fleet_stream {
  std::string_view what;
  retention keeps;
};
/// Of a fleet any of whose workers takes any item.
inline constexpr fleet_stream items_stream{"items", retention::work_queue},
    outcomes_stream{"outcomes", retention::interest}, sessions_stream{"sessions", retention::last_of_subject};
/// Of one with partitions, whose number is in the names: another number spreads the keys in another way.
inline constexpr fleet_stream inputs_stream{"inputs", retention::limits}, chain_stream{"chain", retention::limits},
    leases_stream{"leases", retention::last_of_subject};

/// "levada-detect", "levada.track.16".
template <class Text>
constexpr void append_fleet(Text& to, char between, std::string_view fleet, std::size_t partitions) {
  to += "levada";
  to += between;
  to += fleet;
  if (partitions == 0) return;
  to += between;
  append_number(to, partitions);
}
/// "levada-detect-items".
template <class Text>
constexpr void append_stream(Text& to, const fleet_stream& of, std::string_view fleet, std::size_t partitions = 0) {
  append_fleet(to, '-', fleet, partitions);
  to += '-';
  to += of.what;
}
/// All its messages: "levada.detect.items.*".
template <class Text>
constexpr void append_subject(Text& to, const fleet_stream& of, std::string_view fleet, std::size_t partitions = 0) {
  append_fleet(to, '.', fleet, partitions);
  to += '.';
  to += of.what;
  to += ".*";
}

}  // namespace levada::detail
