// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/machine.hpp: which machine this is, and what one of its cores does at most.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace levada::detail {

/// Seconds that this thread has worked. Others on the machine do not count, as they do on a clock on the wall.
inline double thread_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The processor, how many of it, and what the compiler made of the kernels.
inline std::string machine_text() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, model = "an unknown processor";
  while (std::getline(info, line))
    if (line.starts_with("model name")) {
      model = line.substr(std::min(line.find(':') + 2, line.size()));
      break;
    }
  std::erase_if(model, [](char c) { return c == '"' || c == '\\'; });
  const char* const set =
#if defined(__AVX512F__)
      "AVX-512";
#elif defined(__AVX2__)
      "AVX2";
#else
      "its compiler's default instruction set";
#endif
#if defined(__clang__)
  const char* const compiler = "clang ";
#else
  const char* const compiler = "g++ ";
#endif
  std::string version = __VERSION__;
  version = version.substr(0, version.find('('));
  while (!version.empty() && version.back() == ' ') version.pop_back();
  return std::to_string(std::thread::hardware_concurrency()) + " processors of " + model + ", " + set + ", " +
         compiler + version;
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
