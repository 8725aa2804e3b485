// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/queue_info.hpp: a part whose items wait at servers for the processes that run them, as plain values: the
// streams there, and how many items go in a message.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <levada/core/detail/bounded.hpp>

namespace levada {

/// For how long a server keeps a message of a stream (in the words of NATS JetStream): until it is acknowledged; until
/// all who wait for it have it; until it is purged; until another of its subject comes.
enum class retention : std::uint8_t { work_queue, interest, limits, last_of_subject };

/// A stream at the servers, or several that are alike: their names differ in their ends.
struct stream_info {
  std::string_view name, subject;
  retention keeps = retention::limits;
  std::size_t count = 1;
  std::size_t message_bytes = 0;  ///< the longest, with its headers; 0: nobody bounds it
};

/// What servers store for a part, and how its items come to the processes that run it.
struct queue_info {
  bounded<stream_info, 4> streams;
  std::size_t items_a_message = 1;  ///< at most: of those that are quickly done
  std::size_t worker_threads = 0;   ///< that run items, in each process; 0: its target is not known
  std::size_t messages_ahead = 0;   ///< that each process fetches beside those that its threads run
  std::size_t partitions = 0;       ///< each is run in order, by one thread at a time; 0: any thread takes any message
};

}  // namespace levada
