// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/interleaved.hpp: benchmarks whose repetitions take turns, and the medians of what they take.

#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "progress.hpp"

namespace interleaved {

/// Begins with these arguments. What the command line says comes later than the defaults here and wins. False: it is
/// not understood, which was said.
inline bool initialize(std::vector<char*> arguments, const char* least_seconds) {
  std::string defaults[] = {"--benchmark_repetitions=11", std::string("--benchmark_min_time=") + least_seconds,
                            "--benchmark_enable_random_interleaving=true", "--benchmark_display_aggregates_only=true"};
  for (std::size_t i = 0; i < std::size(defaults); ++i)
    arguments.insert(arguments.begin() + 1 + static_cast<std::ptrdiff_t>(i), defaults[i].data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  return !benchmark::ReportUnrecognizedArguments(count, arguments.data());
}

/// Prints as ever, and keeps the median of the seconds that an item takes.
class medians : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    progress::end();
    std::vector<Run> shown;
    for (const Run& run : runs) {
      const bool is_aggregate = run.run_type == Run::RT_Aggregate;
      if (is_aggregate && run.aggregate_name != "median" && run.aggregate_name != "cv") continue;
      shown.push_back(run);
      const auto rate = run.counters.find("items_per_second");
      if (run.error_occurred || run.aggregate_name == "cv" || rate == run.counters.end()) continue;
      // Repetitions come before their median, which replaces them.
      seconds_[run.run_name.function_name] = 1 / rate->second.value;
    }
    ConsoleReporter::ReportRuns(shown);
  }

  /// Of the benchmark of that name; 0 where it was not measured.
  double seconds(const std::string& name) const {
    const auto at = seconds_.find(name);
    return at == seconds_.end() ? 0 : at->second;
  }

 private:
  std::map<std::string, double> seconds_;
};

}  // namespace interleaved
