// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/table.hpp: the medians of a network side by side, and its ratio to the best peer.

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../common/interleaved.hpp"

namespace models {

/// Of models/<contender>/<network>/<threads>/<element>. Beside bfloat16 peers have their floats.
class with_table : public interleaved::medians {
 public:
  /// Of `contenders` those of ours begin with "levada"; `levada_divided` and `onnxruntime_pool` have two threads for an
  /// item, the others one. `levada_direct` is beside all peers but oneDNN that may transform convolutions.
  /// Networks by name and element.
  void print(const std::vector<std::pair<std::string, std::string>>& networks,
             const std::vector<std::string>& contenders) const {
    for (const char* const threads : {"1", "2"}) {
      std::printf("\nms an item, %s thread%s\n%-18s", threads, threads[0] == '1' ? "" : "s", "network");
      for (const std::string& c : contenders) std::printf(" %20s", c.c_str());
      std::printf(" %20s %20s %20s\n", "of the best peer", "an item on two", "all direct");
      for (const auto& [network, element] : networks) print(network, element, threads, contenders);
    }
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  void print(const std::string& network, const std::string& element, const char* threads,
             const std::vector<std::string>& contenders) const {
    const auto is_peer = [](const std::string& c) { return !c.starts_with("levada"); };
    const auto taken = [&](const std::string& by) {
      const auto of = [&](const std::string& computed) {
        return 1e3 * seconds("models/" + by + "/" + network + "/" + threads + "/" + computed);
      };
      const double t = of(element), floats = is_peer(by) && element == "bf16" ? of("float") : 0;
      return t != 0 ? t : floats != 0 ? floats : never;
    };
    if (std::all_of(contenders.begin(), contenders.end(), [&](const auto& c) { return taken(c) == never; })) return;
    std::printf("%-18s", (element == "float" ? network : network + " " + element).c_str());
    double best = never, best_direct = never;
    for (const std::string& c : contenders) {
      taken(c) == never ? std::printf(" %20s", "-") : std::printf(" %20.4f", taken(c));
      if (is_peer(c)) best = std::min(best, taken(c));
      if (is_peer(c) && c != "onednn" && c != "onednn_pool") best_direct = std::min(best_direct, taken(c));
    }
    print_ratio(taken("levada"), best);
    print_ratio(taken("levada_divided"), taken("onnxruntime_pool"));
    print_ratio(taken("levada_direct"), best_direct);
    std::printf("\n");
  }
  static void print_ratio(double ours, double theirs) {
    ours == never || theirs == never ? std::printf(" %20s", "-") : std::printf(" %20.2f", ours / theirs);
  }
};

}  // namespace models
