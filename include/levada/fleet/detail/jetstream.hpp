// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/jetstream.hpp: the servers by which the driver and the workers of a fleet know of each other, and what
// they store there.

#include <chrono>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include <levada/remote/detail/certificates.hpp>

namespace levada {

/// Servers of NATS JetStream, as both ends of a fleet are given them, with the same numbers.
struct jetstream {
  std::vector<std::string> urls;  ///< "nats://127.0.0.1:4222": one, or several of a cluster
  std::variant<plain_text, certificates, certificate_files> security = plain_text{};

  /// That each of the fleet's two streams stores; a full one is a full pipeline.
  std::size_t most_bytes = std::size_t{64} << 20;
  int replicas = 1;  ///< of the streams: 3 outlive a server and a power cut
  /// A worker that is not heard of for so long has lost what it had fetched.
  std::chrono::milliseconds lease{2000};
};

}  // namespace levada
