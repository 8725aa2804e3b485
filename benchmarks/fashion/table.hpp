// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion/table.hpp: the medians side by side, after all benchmarks have run.

#include <array>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "../common/progress.hpp"

namespace fashion {

/// Prints as ever, and keeps the median time a picture of fashion/<contender>/<measurement>.
class with_table : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    progress::end();
    std::vector<Run> shown;
    for (const Run& run : runs) {
      const bool aggregate = run.run_type == Run::RT_Aggregate;
      if (aggregate && run.aggregate_name != "median" && run.aggregate_name != "cv") continue;
      shown.push_back(run);
      const auto rate = run.counters.find("items_per_second");
      if (run.error_occurred || run.aggregate_name == "cv" || rate == run.counters.end()) continue;
      // Repetitions come before their median, which replaces them.
      us_[run.run_name.function_name] = 1e6 / rate->second.value;
    }
    ConsoleReporter::ReportRuns(shown);
  }

  void print(const std::vector<std::string>& contenders) const {
    std::printf("%-13s %8s %6s   %8s %6s   %8s %6s   %s\n", "us a picture", "one", "ratio", "inline", "ratio",
                "streamed", "ratio", "streamed/inline");
    for (const std::string& contender : contenders) {
      std::printf("%-13s", contender.c_str());
      for (const char* const measurement : {"one", "inline", "streamed"}) {
        const double us = time(contender, measurement);
        std::printf(" %8s %6s  ", text(us).c_str(), text(us / time("levada", measurement)).c_str());
      }
      std::printf(" %15s\n", text(time(contender, "inline") / time(contender, "streamed")).c_str());
    }
  }

 private:
  /// 0 where it was not measured.
  double time(const std::string& contender, const char* measurement) const {
    const auto at = us_.find("fashion/" + contender + "/" + measurement);
    return at == us_.end() ? 0 : at->second;
  }
  static std::string text(double value) {
    if (!(value > 0 && value < 1e9)) return "-";
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.2f", value);
    return digits.data();
  }

  std::map<std::string, double> us_;
};

}  // namespace fashion
