// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/parcel.hpp: an item in a driver's slots, and the message that it shares with others on its way to a
// worker.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

namespace levada::detail {

struct fleet_slot {
  enum class place : std::uint8_t { nowhere, waiting, sent };
  static constexpr std::uint32_t no_parcel = ~std::uint32_t{0};

  std::uint64_t item = 0;
  std::span<const std::byte> payload;
  std::vector<std::byte> written;  ///< of an item that has a wire form of its own
  place at = place::nowhere;
  int losses = 0;                    ///< of workers that ran it
  std::uint64_t life = 0;            ///< of the worker that asked last
  std::uint32_t parcel = no_parcel;  ///< in which it is published
  bool is_held = false;              ///< the publishing thread looks at the payload
  bool is_done = false;              ///< its outcome came meanwhile
  std::exception_ptr failure;        ///< the outcome then
};

/// Items of one message.
struct fleet_parcel {
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds first_pause{5}, first_patience{2000};

  std::uint64_t number = 0;
  std::vector<std::size_t> slots;
  std::size_t left = 0;  ///< without an outcome
  bool is_used = false, is_published = false, is_stored = false;
  std::uint64_t sequence = 0;  ///< in the stream
  time_point again_at{};
  std::chrono::milliseconds pause = first_pause;  ///< of a stream that is full
  time_point look_at{};                           ///< for it in the stream
  std::chrono::milliseconds patience = first_patience;
};

}  // namespace levada::detail
