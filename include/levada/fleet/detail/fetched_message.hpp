// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/fetched_message.hpp: a message that a worker has in hand.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/short_text.hpp>

namespace levada::detail {

struct fetched_message {
  enum class stage : std::uint8_t { free, waiting, running, publishing, stored };
  using time_point = std::chrono::steady_clock::time_point;

  nats_message raw;
  std::uint64_t session = 0, delivery = 0, number = 0;
  std::uint64_t publisher = 0;  ///< a driver of the session
  std::vector<fleet_reader::frame> frames;
  std::size_t next = 0, done = 0;  ///< of the frames
  fleet_writer outcomes;
  time_point came{};      ///< for its outcomes
  time_point shown{};     ///< when the server was told of it
  time_point again_at{};  ///< to be published again
  std::chrono::milliseconds pause{};
  stage at = stage::free;
  bool is_alone = false;
  bool is_held = false;                ///< somebody looks at `message`
  short_text id;                       ///< of its outcomes
  std::string to;                      ///< where they go
  std::span<const std::byte> message;  ///< of outcomes
};

}  // namespace levada::detail
