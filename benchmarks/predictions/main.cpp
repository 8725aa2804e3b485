// SPDX-License-Identifier: Apache-2.0
// predictions: what plans promise, and what they take on this machine: the latency of a lone item, and the time between
// two results where items follow each other. It wants an idle machine.
//
//   bench_predictions [ROUNDS]              50 random pipelines of busy stages; so many rounds (5), the median of them
//   bench_predictions --networks [ROUNDS]   networks, by the costs in costs/
//   bench_predictions --profile             measures the kernels of the networks that costs/ lacks for this machine;
//                                           build again then

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "networks.hpp"
#include "pipelines.hpp"

namespace {

using predictions::prediction;

constexpr const predictions::network* networks[] = {&predictions::demo, &predictions::resnet18,
                                                    &predictions::mobilenet_v1,
#if LEVADA_HAS_MODELS
                                                    &predictions::face, &predictions::page_lines
#endif
};

std::vector<prediction> predict(bool of_networks) {
  std::vector<prediction> all;
  if (of_networks) {
    for (const predictions::network* n : networks) n->predict(all);
  } else {
    predictions::first_ten(all);
    predictions::second_ten(all);
    predictions::third_ten(all);
    predictions::fourth_ten(all);
    predictions::fifth_ten(all);
  }
  return all;
}

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

void print(const std::vector<std::vector<prediction>>& all) {
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
}

}  // namespace

int main(int count, char** arguments) {
  int rounds = 5;
  bool of_networks = false, profiles = false;
  for (int i = 1; i < count; ++i)
    if (std::strcmp(arguments[i], "--profile") == 0)
      profiles = true;
    else if (std::strcmp(arguments[i], "--networks") == 0)
      of_networks = true;
    else
      rounds = std::max(1, std::atoi(arguments[i]));
  try {
    if (profiles) {
      for (const predictions::network* n : networks) n->profile();
      return 0;
    }
    std::vector<std::vector<prediction>> all;
    for (int r = 0; r < rounds; ++r) {
      std::fprintf(stderr, "round %d of %d\n", r + 1, rounds);
      all.push_back(predict(of_networks));
    }
    print(all);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
