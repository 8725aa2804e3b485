// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion/table.hpp: the medians side by side, after all benchmarks have run.

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "../common/interleaved.hpp"

namespace fashion {

/// Of fashion/<contender>/<measurement>.
class with_table : public interleaved::medians {
 public:
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
  /// Microseconds; 0 where it was not measured.
  double time(const std::string& contender, const char* measurement) const {
    return 1e6 * seconds("fashion/" + contender + "/" + measurement);
  }
  static std::string text(double value) {
    if (!(value > 0 && value < 1e9)) return "-";
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.2f", value);
    return digits.data();
  }
};

}  // namespace fashion
