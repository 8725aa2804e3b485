// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/layers.hpp: the kernels of ours that lose most to what the processor can do at most.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "network.hpp"

namespace models {

struct layer_of_network {
  std::string network;
  layer of;
  double peak;  ///< operations a second
};

/// The `most` that lose most time to products alone.
inline void print_layers(std::vector<layer_of_network> all, std::size_t most = 10) {
  const auto lost = [&](const layer_of_network& l) { return l.of.seconds - l.of.flops / l.peak; };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return lost(a) > lost(b); });
  if (all.size() > most) all.resize(most);
  std::printf("%9s %9s %8s %6s  %s\n", "lost, us", "us", "MFLOP", "share", "network: stages (way of computing)");
  for (const layer_of_network& l : all)
    std::printf("%9.1f %9.1f %8.2f %5.0f%%  %s: %s%s%s%s\n", 1e6 * lost(l), 1e6 * l.of.seconds, 1e-6 * l.of.flops,
                100 * l.of.flops / (l.of.seconds * l.peak), l.network.c_str(), l.of.name.c_str(),
                l.of.method.empty() ? "" : " (", l.of.method.c_str(), l.of.method.empty() ? "" : ")");
}

}  // namespace models
