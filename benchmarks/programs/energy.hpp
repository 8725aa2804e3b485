// SPDX-License-Identifier: Apache-2.0
#pragma once
// programs/energy.hpp: the joules that the first processor has taken (RAPL by powercap of Linux), where one may read
// them: mostly as root, and not in a virtual machine.

#include <fstream>
#include <optional>

namespace programs {

/// Since the counter began; it begins again now and then.
inline std::optional<double> joules(const char* counter = "/sys/class/powercap/intel-rapl:0/energy_uj") {
  std::ifstream file(counter);
  double microjoules = 0;
  if (!(file >> microjoules)) return std::nullopt;
  return 1e-6 * microjoules;
}

}  // namespace programs
