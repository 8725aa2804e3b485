// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this process takes of the machine's memory, for tests that nothing grows.

#include <cstddef>
#include <fstream>

#include <unistd.h>

namespace levada::test {

/// Bytes of this process in memory; 0 where the system does not tell.
inline std::size_t resident() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, pages = 0;
  file >> all >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace levada::test
