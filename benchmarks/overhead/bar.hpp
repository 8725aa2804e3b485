// SPDX-License-Identifier: Apache-2.0
#pragma once
// overhead/bar.hpp: a line of what a benchmark holds us to.

#include <cstdio>
#include <string>

namespace overhead {

inline void print_bar(const std::string& what, double value, double bar, bool at_most) {
  const bool met = at_most ? value <= bar : value >= bar;
  std::printf("  %-52s %9.2f  %s %9.2f  %s\n", what.c_str(), value, at_most ? "at most " : "at least", bar,
              met ? "met" : "not met");
}

}  // namespace overhead
