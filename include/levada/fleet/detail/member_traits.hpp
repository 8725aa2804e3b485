// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/member_traits.hpp: what a worker of a fleet is, and has done; and what a message says of its deliveries.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

/// How often a message has been delivered, from the subject that it is acknowledged at; 0 where that is none.
inline std::uint64_t delivery_of(std::string_view reply) {
  std::string_view tokens[16];
  std::size_t count = 0;
  for (; count < 16 && !reply.empty(); ++count) {
    const std::size_t end = std::min(reply.find('.'), reply.size());
    tokens[count] = reply.substr(0, end);
    reply.remove_prefix(std::min(end + 1, reply.size()));
  }
  // $JS.ACK.[domain.account.]stream.consumer.delivered.sequence.sequence.time.pending[.token]
  const std::size_t at = count >= 11 ? 6 : 4;
  std::uint64_t times = 0;
  if (count >= 9) std::from_chars(tokens[at].data(), tokens[at].data() + tokens[at].size(), times);
  return times;
}

/// What a worker is and has.
struct member_traits {
  std::string fleet, worker;
  std::string_view identity;
  std::uint64_t program = 0;
  std::size_t slots = 0;       ///< of its session
  std::size_t threads = 0;     ///< that run items
  std::size_t item_bytes = 0;  ///< of an item, at most
  wire_code result;
};

/// What a worker has done so far.
struct member_counts {
  std::uint64_t items = 0, messages = 0;
  std::uint64_t run_alone = 0;  ///< items of messages that were delivered before
  std::uint64_t refused = 0;    ///< messages that were none
};

}  // namespace levada::detail
