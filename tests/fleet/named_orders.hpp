// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/named_orders.hpp: processes that drive a session with a name through the pipeline of orders, and what is wrong
// with what several of them wrote, one after the other.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "fleet/named_drivers.hpp"
#include "fleet/nats_server.hpp"
#include "fleet/orders.hpp"

namespace levada::test {

inline act act_of(std::uint64_t number) {
  return number % 50 == 7 ? act::fails : number % 10 == 3 ? act::is_filtered : act::nothing;
}

inline void drive_orders(const driving& as) {
  const auto app = deploy<fleet_box, fleet_version>(orders(), servers_of(as.url));
  const auto make = [](std::uint64_t number) { return order{static_cast<int>(number), act_of(number)}; };
  drive(app, as, make, [](const auto& r) -> std::int64_t {
    if (r.has_value()) return r.value();
    const bool lost = failure_of(r.error()).ends_with("its worker was lost 3 times");
    return lost ? written_outcome::lost_its_workers : written_outcome::failed;
  });
}

inline const driver_program driving_orders{"LEVADA_TEST_DRIVER_OF", drive_orders};

/// Each outcome is there and right, in order, and once: or more than once where a driver did not get to say that it was
/// done with it. How many came again. Workers are killed as well: one item may have met three of these.
inline std::uint64_t check_outcomes(const std::vector<written_outcome>& all, std::uint64_t count, bool once) {
  std::uint64_t next = 0, again = 0, wrong = 0, lost = 0;
  for (const written_outcome& o : all) {
    const act does = act_of(o.number);
    const std::int64_t value = does == act::fails ? written_outcome::failed : 2 * static_cast<std::int64_t>(o.number);
    lost += o.value == written_outcome::lost_its_workers ? 1 : 0;
    wrong += o.value == value || o.value == written_outcome::lost_its_workers ? 0 : 1;
    wrong += does == act::is_filtered && o.value != written_outcome::lost_its_workers ? 1 : 0;
    if (o.number < next) {
      ++again;
      continue;
    }
    while (next < o.number && act_of(next) == act::is_filtered) ++next;
    if (o.number != next) {
      MESSAGE("item " << next << " lacks its outcome, and " << o.number << " has one");
      ++wrong;
    }
    next = o.number + 1;
  }
  while (next < count && act_of(next) == act::is_filtered) ++next;
  CHECK(next == count);
  CHECK(wrong == 0);
  CHECK(lost <= count / 10'000);
  if (once) CHECK(again == 0);
  return again;
}

}  // namespace levada::test
