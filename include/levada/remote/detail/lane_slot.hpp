// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/lane_slot.hpp: an item on its way to a node and back, as the lane has it.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

namespace levada::detail {

struct lane_slot {
  enum class place : unsigned char { nowhere, fresh, sent, lost, answered };

  std::uint64_t item = 0;
  std::span<const std::byte> payload;
  std::vector<std::byte> written;  ///< of an item that has a wire form of its own
  place at = place::nowhere;
  int losses = 0;
  int held = 0;              ///< how many connections look at the payload
  bool is_given_up = false;  ///< the session was cancelled before there was a result
  std::exception_ptr failure;
};

}  // namespace levada::detail
