// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/asymmetric_fence.hpp: fences for two sides of which one runs with every item and the other hardly
// ever: the light one costs nothing, the heavy one some hundred nanoseconds (P1202R5; membarrier(2)).

#include <levada/run/detail/workers/threading.hpp>

#ifndef LEVADA_THREADS_OF_TEST
#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace levada::detail {

/// The heavy fence may be used; else both sides need a common one. Asked for when the program starts: a process with
/// several threads waits some milliseconds for the answer.
#ifdef __linux__
inline const bool has_heavy_fence = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#else
inline constexpr bool has_heavy_fence = false;
#endif

/// Of two threads, each of which stores, comes to its fence and then loads, one light and one heavy, one at least sees
/// what the other stored.
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// To be called only where there is one.
inline void heavy_fence() noexcept {
#ifdef __linux__
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
#endif
}

}  // namespace levada::detail
#endif
