// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/machine.hpp: what one core of this machine does at most, and the time of a thread.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <vector>

#include <levada/run/detail/workers/machine.hpp>

namespace levada::detail {

/// Seconds that this thread has worked. Others on the machine do not count, as they do on a clock on the wall.
inline double thread_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The most multiply-adds, in FLOPs a second, of a loop that does nothing else: the best of some.
inline double peak_flops() {
#if defined(__AVX512F__)
  using vector [[gnu::vector_size(64)]] = float;
#else
  using vector [[gnu::vector_size(32)]] = float;
#endif
  constexpr int sums = 10, rounds = 20000;
  double best = 0;
  for (int attempt = 0; attempt < 7; ++attempt) {
    vector sum[sums] = {};
    float given = 1.0f;
    asm volatile("" : "+m"(given));  // a number that the compiler does not know
    const vector a = given - vector{}, b = 0.5f * a;
    const double start = thread_seconds();
    for (int r = 0; r < rounds; ++r)
      for (vector& s : sum) s = s * b + a;
    const double seconds = thread_seconds() - start;
    for (vector& s : sum) asm volatile("" : : "m"(s));
    best = std::max(best, 2.0 * sums * rounds * (sizeof(vector) / sizeof(float)) / seconds);
  }
  return best;
}

/// Bytes a second, read and written, of a copy too large for the caches: the best of some.
inline double peak_bandwidth() {
  constexpr std::size_t bytes = std::size_t{48} << 20;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double start = thread_seconds();
    std::memcpy(to.data(), from.data(), bytes);
    asm volatile("" : : "r"(to.data()) : "memory");
    best = std::max(best, 2.0 * static_cast<double>(bytes) / (thread_seconds() - start));
  }
  return best;
}

}  // namespace levada::detail
