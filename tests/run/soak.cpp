// SPDX-License-Identifier: Apache-2.0
// Random runs of a menu of pipelines, with random delays, failures, cancels and reopenings, against a loop.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include <levada/run/detail/workers/tbb_executor.hpp>

#include <resident.hpp>
#include <sanitizer.hpp>
#include <soak.hpp>

#include "random_runs.hpp"

namespace run_soak {

namespace lv = levada;
using namespace levada::test;

template <class Shape, int Threads>
std::uint64_t runs(std::uint64_t seed, std::uint64_t wanted) {
  return random_runs<Shape, with_devices<Threads>, lv::tbb_executor>(seed, wanted);
}

TEST_CASE("random runs equal the loop: nothing lost, reordered, leaked, or hung, and memory stays flat") {
  const nothing_leaks guard;
  const std::uint64_t scale = static_cast<std::uint64_t>(soak_scale()), parts = 10 * scale;
  const std::uint64_t items_of_a_part = under_sanitizer ? 2'000 : 100'000;
  // What goes through a device waits for its thread to be woken, and takes several times as long.
  const std::uint64_t by_processor = items_of_a_part / 4, by_devices = items_of_a_part / 16;
  std::uint64_t items = 0;
  std::size_t memory_early = 0;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t seed = 10 * part;
    items += runs<on_the_processor, 2>(seed, by_processor);
    items += runs<on_the_processor, 1>(seed + 1, by_processor);
    items += runs<in_four_segments, 8>(seed + 2, by_processor);
    items += runs<device_in_the_middle, 2>(seed + 3, by_devices);
    items += runs<two_devices, 8>(seed + 4, by_devices);
    items += runs<adjacent_devices, 1>(seed + 5, by_devices);
    items += runs<device_twice, 2>(seed + 6, by_devices);
    if (part + 1 == scale) memory_early = resident();
  }
  const std::size_t memory_late = resident();
  MESSAGE(items << " items; " << memory_early / 1024 << " KiB of memory after a tenth of them, " << memory_late / 1024
                << " KiB at the end");
  if (!under_sanitizer && memory_early != 0) CHECK(memory_late < memory_early + (4u << 20));
}

}  // namespace run_soak
