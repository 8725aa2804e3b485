// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/item_counts.hpp: the account that a session keeps of its items. Light: consumers of an
// any_pipeline see it.

#include <cstdint>

namespace levada {

/// Items that were dropped, each for one reason.
struct drop_counts {
  std::uint64_t replaced = 0;           ///< gave way to a newer one: `latest_only`, `drop_oldest`
  std::uint64_t rejected = 0;           ///< came to a full session: `drop_newest`, or where none could give way
  std::uint64_t partnerless = 0;        ///< lacked an item of another port, or will not get it
  std::uint64_t partial = 0;            ///< did not fill a batch or window, by `partial::drop`
  std::uint64_t overdue = 0;            ///< were past their deadline before a stage; the statistics say before which
  std::uint64_t overdue_at_output = 0;  ///< as results: `deadline<d, at_output>`

  constexpr drop_counts& operator+=(const drop_counts& more) {
    replaced += more.replaced, rejected += more.rejected, partnerless += more.partnerless;
    partial += more.partial, overdue += more.overdue, overdue_at_output += more.overdue_at_output;
    return *this;
  }
  constexpr std::uint64_t sum() const {
    return replaced + rejected + partnerless + partial + overdue + overdue_at_output;
  }
};

/// The outcomes of the items of a session: pushed = delivered + failed + filtered + dropped + cancelled + in_flight.
struct item_counts {
  std::uint64_t pushed = 0;
  std::uint64_t delivered = 0;
  std::uint64_t failed = 0;
  std::uint64_t filtered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t in_flight = 0;
  drop_counts drops = {};     ///< those that were dropped, by why
  std::uint64_t refused = 0;  ///< beside the sum: pushes that found no room; the items stayed with the caller

  constexpr item_counts& operator+=(const item_counts& more) {
    pushed += more.pushed, delivered += more.delivered, failed += more.failed, filtered += more.filtered;
    dropped += more.dropped, cancelled += more.cancelled, in_flight += more.in_flight;
    drops += more.drops, refused += more.refused;
    return *this;
  }
};

}  // namespace levada
