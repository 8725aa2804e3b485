// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/table.hpp: the medians of a network side by side, and its ratio to the best peer.

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "../common/interleaved.hpp"

namespace models {

/// Of models/<contender>/<network>/<threads>/<element>.
class with_table : public interleaved::medians {
 public:
  /// `contenders`: levada first, then its peers.
  void print(const std::vector<std::string>& networks, const std::vector<std::string>& contenders) const {
    for (const char* const threads : {"1", "2"}) {
      std::printf("\nms an item, %s thread%s\n%-18s", threads, threads[0] == '1' ? "" : "s", "network");
      for (const std::string& c : contenders) std::printf(" %20s", c.c_str());
      std::printf(" %20s\n", "of the best peer");
      for (const std::string& network : networks) print(network, threads, contenders);
    }
  }

 private:
  void print(const std::string& network, const char* threads, const std::vector<std::string>& contenders) const {
    constexpr double never = std::numeric_limits<double>::infinity();
    std::vector<double> times;
    for (const std::string& c : contenders) {
      const double taken = 1e3 * seconds("models/" + c + "/" + network + "/" + threads + "/float");
      times.push_back(taken == 0 ? never : taken);
    }
    if (std::all_of(times.begin(), times.end(), [](double t) { return t == never; })) return;
    std::printf("%-18s", network.c_str());
    for (const double t : times) t == never ? std::printf(" %20s", "-") : std::printf(" %20.4f", t);
    const double best = times.size() < 2 ? never : *std::min_element(times.begin() + 1, times.end());
    best == never || times[0] == never ? std::printf(" %20s\n", "-") : std::printf(" %20.2f\n", times[0] / best);
  }
};

}  // namespace models
