// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/threading.hpp: the one place from where run/ has what threads share and wait by: atomics, locks,
// fences, pauses, the clock and the number of processors. A test of the schedule names a header with atomics of its own
// there, or with all of it, whose operations are steps that it holds up or puts in order; elsewhere they are those of
// std.

#include <atomic>
#include <mutex>
#include <thread>

#include <levada/core/detail/clock.hpp>

#ifdef LEVADA_ATOMICS_OF_TEST
#include LEVADA_ATOMICS_OF_TEST
#else
namespace levada::detail {
using std::atomic;
using std::atomic_ref;
}  // namespace levada::detail
#endif

#ifdef LEVADA_THREADS_OF_TEST
#include LEVADA_THREADS_OF_TEST
#else
namespace levada::detail {

using std::mutex;
using std::thread;

inline void full_fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

/// Of this machine; 0: not known.
inline int processors() noexcept { return static_cast<int>(std::thread::hardware_concurrency()); }

/// A pause in a spinning loop.
inline void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}
inline void yield_thread() noexcept { std::this_thread::yield(); }
inline void sleep_thread(std::chrono::nanoseconds for_so_long) { std::this_thread::sleep_for(for_so_long); }

/// The clock for the duration of a thread's own work and waiting. Deadlines go by the session's clock.
[[gnu::always_inline]] inline std::chrono::steady_clock::time_point thread_time() noexcept {
  return std::chrono::steady_clock::now();
}

}  // namespace levada::detail
#endif
