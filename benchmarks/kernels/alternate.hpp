// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two contenders turn by turn, so that what the machine does meanwhile falls on both.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <vector>

#include <benchmark/benchmark.h>

namespace kernels {

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The clock on the wall.
struct wall_clock {
  static double microseconds() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};
/// Processor time of all threads of this process: for work that is done by its own threads, whatever else the machine
/// does.
struct processor_clock {
  static double microseconds() { return static_cast<double>(std::clock()) * (1e6 / CLOCKS_PER_SEC); }
};

/// The microseconds that `run` takes.
template <class Clock = wall_clock, class Run>
double microseconds(Run&& run) {
  const double start = Clock::microseconds();
  run();
  return Clock::microseconds() - start;
}

struct compared {
  double first, second;  ///< medians in microseconds
  double ratio;          ///< median of first / second of the pairs
};

/// Both once an iteration, the other one first each time.
template <class Clock = wall_clock, class First, class Second>
compared alternate(benchmark::State& state, First&& first, Second&& second) {
  std::vector<double> ours, theirs, ratios;
  for (auto _ : state) {
    double a = 0, b = 0;
    if (ratios.size() % 2 == 0) a = microseconds<Clock>(first);
    b = microseconds<Clock>(second);
    if (ratios.size() % 2 != 0) a = microseconds<Clock>(first);
    ours.push_back(a);
    theirs.push_back(b);
    ratios.push_back(a / b);
    state.SetIterationTime((a + b) * 1e-6);
  }
  return {median(ours), median(theirs), median(ratios)};
}

}  // namespace kernels
