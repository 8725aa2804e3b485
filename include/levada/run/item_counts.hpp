// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/item_counts.hpp: the account that a session keeps of its items. Light: consumers of an any_pipeline see it.

#include <cstdint>

namespace levada {

/// What has become of the items of a session: pushed = delivered + failed + filtered + dropped + cancelled + in_flight.
struct item_counts {
  std::uint64_t pushed = 0;
  std::uint64_t delivered = 0;
  std::uint64_t failed = 0;
  std::uint64_t filtered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t in_flight = 0;
};

}  // namespace levada
