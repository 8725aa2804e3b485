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

/// What the subject says that a message is acknowledged at; zeros where that is none.
struct delivery_numbers {
  std::uint64_t delivery = 0;  ///< how often it has been delivered
  std::uint64_t of_stream = 0, of_consumer = 0;
  std::string_view consumer;
};
inline delivery_numbers delivery_numbers_of(std::string_view reply) {
  std::string_view tokens[16];
  std::size_t count = 0;
  for (; count < 16 && !reply.empty(); ++count) {
    const std::size_t end = std::min(reply.find('.'), reply.size());
    tokens[count] = reply.substr(0, end);
    reply.remove_prefix(std::min(end + 1, reply.size()));
  }
  // $JS.ACK.[domain.account.]stream.consumer.delivered.sequence.sequence.time.pending[.token]
  const std::size_t at = count >= 11 ? 6 : 4;
  const auto number = [&](std::size_t i) {
    std::uint64_t value = 0;
    if (count >= 9) std::from_chars(tokens[i].data(), tokens[i].data() + tokens[i].size(), value);
    return value;
  };
  return {number(at), number(at + 1), number(at + 2), count >= 9 ? tokens[at - 1] : std::string_view()};
}
inline std::uint64_t delivery_of(std::string_view reply) { return delivery_numbers_of(reply).delivery; }

/// What a worker is and has.
struct member_traits {
  std::string fleet, worker;
  std::string_view identity;
  std::uint64_t program = 0;
  std::size_t threads = 0;     ///< that run items
  std::size_t item_bytes = 0;  ///< of an item, at most
  wire_code result;
  std::size_t slots = 0;  ///< of its session; none by key
};

/// What a worker has done so far, and has.
struct member_counts {
  std::uint64_t items = 0, messages = 0;
  std::uint64_t run_alone = 0;  ///< items of messages that were delivered before
  std::uint64_t refused = 0;    ///< messages that were none
  std::size_t partitions = 0;   ///< by key: that it has now
  std::uint64_t taken = 0;      ///< partitions, so far
};

/// A worker as its owner knows it.
class any_member {
 public:
  virtual ~any_member() = default;
  virtual member_counts counts() = 0;
};

}  // namespace levada::detail
