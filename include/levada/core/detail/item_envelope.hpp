// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/item_envelope.hpp: the data that travels with every item.

#include <cstdint>

#include <levada/core/detail/clock.hpp>

namespace levada {

/// The data that travels with an item beside its value. An item that an app is called with has an empty one.
struct item_envelope {
  std::uint64_t sequence = 0;  ///< its place among all that were pushed, dropped ones included
  std::chrono::steady_clock::time_point
      captured{};           ///< as given to push; else when it was pushed, in sessions with a deadline or a clock
  std::uint32_t parts = 0;  ///< of a batch or window that was filled up at the end: how much of it there was; 0: all
};

}  // namespace levada
