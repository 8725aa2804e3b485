// SPDX-License-Identifier: Apache-2.0
// Five apps at once on plain threads, for ThreadSanitizer: run/five_apps.hpp. 5 million items in the soak.

#include <doctest/doctest.h>

#include <levada/run/detail/workers/thread_executor.hpp>

#include <run/five_apps.hpp>
#include <soak.hpp>

namespace lv = levada;
using namespace levada::test;

TEST_CASE("no race between sessions of five apps, held up, failing and cancelled at random") {
  const std::uint64_t wanted = 50'000 * static_cast<std::uint64_t>(soak_scale());
  const std::uint64_t items = five_apps::run<lv::thread_executor>(wanted, 1);
  MESSAGE(items << " items");
  CHECK(items >= wanted);
}
