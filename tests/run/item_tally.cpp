// SPDX-License-Identifier: Apache-2.0
// What became of items, counted: each in one place, and the rest are in flight.

#include <doctest/doctest.h>

#include <cstdint>

#include <levada/run/detail/engine/item_tally.hpp>

namespace run_item_tally {

using levada::detail::atomic;
using levada::detail::drop_reason;
using levada::detail::item_state;
using levada::detail::item_tally;

TEST_CASE("each state that an item leaves in has its count") {
  item_tally tally;
  tally.of(item_state::value) += 1;
  tally.of(item_state::filtered) += 2;
  tally.of(item_state::dropped) += 3;
  tally.of(item_state::overdue) += 4;
  tally.of(item_state::cancelled) += 5;
  const auto c = tally.counts(atomic<std::uint64_t>(20));
  CHECK(c.delivered == 1);
  CHECK(c.filtered == 2);
  CHECK(c.drops.overdue == 3);
  CHECK(c.drops.overdue_at_output == 4);
  CHECK(c.dropped == 7);
  CHECK(c.cancelled == 5);
  CHECK(c.in_flight == 20 - 15);
}

TEST_CASE("items dropped at admission were pushed and are not in flight") {
  item_tally tally;
  tally.count_at_admission(drop_reason::replaced);
  tally.count_at_admission(drop_reason::rejected);
  tally.count_at_admission(drop_reason::rejected);
  tally.count_at_admission(drop_reason::partnerless);
  CHECK(tally.at_admission.load() == 4);
  const auto c = tally.counts(atomic<std::uint64_t>(6));
  CHECK(c.drops.replaced == 1);
  CHECK(c.drops.rejected == 2);
  CHECK(c.drops.partnerless == 1);
  CHECK(c.pushed == 10);
  CHECK(c.dropped == 4);
  CHECK(c.in_flight == 6);
}

TEST_CASE("what goes into nothing behind its delivery is dropped as a part") {
  item_tally tally;
  for (int i = 0; i < 5; ++i) tally.count_by_popper(tally.delivered);
  tally.count_dropped_behind(2);
  tally.count_by_popper(tally.failed);
  const auto c = tally.counts(atomic<std::uint64_t>(6));
  CHECK(c.delivered == 3);
  CHECK(c.failed == 1);
  CHECK(c.drops.partial == 2);
  CHECK(c.in_flight == 0);
}

}  // namespace run_item_tally
