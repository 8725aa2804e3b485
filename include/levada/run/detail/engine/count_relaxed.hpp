// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/count_relaxed.hpp: a counter of what need not be counted exactly.

#include <atomic>
#include <cstdint>

#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Two threads may count as one: it is only about now and then. Says what it was before.
[[gnu::always_inline]] inline std::uint32_t count_relaxed(atomic<std::uint32_t>& counter) {
  const std::uint32_t before = counter.load(std::memory_order_relaxed);
  counter.store(before + 1, std::memory_order_relaxed);
  return before;
}

}  // namespace levada::detail
