// SPDX-License-Identifier: Apache-2.0
// predictions: what plans promise of 50 random pipelines of busy stages, and what these take on this machine: the
// latency of a lone item, and the time between two results where items follow each other. It wants an idle machine.
//
//   bench_predictions [ROUNDS]     so many rounds (5); of each pipeline the median

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "pipelines.hpp"

namespace {

using predictions::prediction;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}
template <class Measured>
double median_of(const std::vector<std::vector<prediction>>& rounds, std::size_t pipeline, Measured measured) {
  std::vector<double> values;
  for (const auto& round : rounds) values.push_back(measured(round[pipeline]));
  return median(values);
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 5;
  std::vector<std::vector<prediction>> all;
  for (int r = 0; r < rounds; ++r) {
    std::fprintf(stderr, "round %d of %d\n", r + 1, rounds);
    std::vector<prediction>& round = all.emplace_back();
    predictions::first_ten(round);
    predictions::second_ten(round);
    predictions::third_ten(round);
    predictions::fourth_ten(round);
    predictions::fifth_ten(round);
  }
  int latencies = 0, intervals = 0;
  std::printf("| pipeline, us | latency promised | measured | ratio | interval promised | measured | ratio |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (std::size_t p = 0; p < all.front().size(); ++p) {
    const prediction& one = all.front()[p];
    const double latency = median_of(all, p, [](const prediction& x) { return x.latency.measured; });
    const double interval = median_of(all, p, [](const prediction& x) { return x.interval.measured; });
    const double latency_ratio = latency / one.latency.expected, interval_ratio = interval / one.interval.expected;
    latencies += std::abs(latency_ratio - 1) <= 0.15;
    intervals += std::abs(interval_ratio - 1) <= 0.15;
    std::printf("| %s | %.0f | %.0f | %.2f | %.0f | %.0f | %.2f |\n", one.pipeline.c_str(), one.latency.expected * 1e6,
                latency * 1e6, latency_ratio, one.interval.expected * 1e6, interval * 1e6, interval_ratio);
  }
  std::printf("\nwithin 15 %%: %d latencies and %d intervals of %zu\n", latencies, intervals, all.front().size());
  return 0;
}
