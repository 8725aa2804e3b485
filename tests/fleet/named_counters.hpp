// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/named_counters.hpp: processes that drive a session with a name through the pipeline that counts by key, and
// what is wrong with what several of them wrote, one after the other.

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "fleet/counters.hpp"
#include "fleet/named_drivers.hpp"
#include "fleet/nats_server.hpp"
#include "fleet/worker_processes.hpp"

namespace levada::test {

inline const driver_program driving_counters{
    "LEVADA_TEST_DRIVER_OF_COUNTERS", [](const driving& as) {
      const auto app = deploy<counter_box, counter_version>(counters(), servers_of(as.url));
      const auto make = [](std::uint64_t number) { return frame_of(static_cast<int>(number)); };
      drive(app, as, make, [](const auto& r) -> std::int64_t {
        if (r.has_value()) return r.value().count;
        const std::string why = failure_of(r.error());
        if (why.find(": no ") == why.npos) std::fprintf(stderr, "%s\n", why.c_str());
        return written_outcome::failed;
      });
    }};

/// The count of each frame's camera, with this one, where each frame is counted once.
inline std::vector<std::int64_t> exact_counts(std::uint64_t frames) {
  std::vector<std::int64_t> counts;
  std::unordered_map<int, std::int64_t> of_cameras;
  for (std::uint64_t i = 0; i < frames; ++i) {
    const bool fails = i % 100 == 99;
    counts.push_back(fails ? written_outcome::failed : ++of_cameras[frame_of(static_cast<int>(i)).camera]);
  }
  return counts;
}

/// Each outcome is there, exact, in order, and once, or more than once where a driver did not get to say that it was
/// done with it. How many came again.
inline std::uint64_t check_counts(const std::vector<written_outcome>& all, std::uint64_t count, bool once) {
  const std::vector<std::int64_t> exact = exact_counts(count);
  std::uint64_t next = 0, again = 0, wrong = 0;
  for (const written_outcome& o : all) {
    const bool is_right = o.number <= next && o.number < count && o.value == exact[o.number];
    if (!is_right && wrong++ == 0)
      MESSAGE("the first that is wrong: item " << o.number << " behind " << next << ", count " << o.value);
    if (o.number < next)
      ++again;
    else
      next = o.number + 1;
  }
  CHECK(next == count);
  CHECK(wrong == 0);
  if (once) CHECK(again == 0);
  return again;
}

}  // namespace levada::test
