// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/progress.hpp: on a terminal, what is being measured. Rounds in random order are reported when the last has
// ended, minutes later.

#include <cstddef>
#include <cstdio>
#include <string>

#include <unistd.h>

namespace progress {

/// One line on stderr, over the one before; nothing where that is no terminal. Outside of what is timed.
inline void show(const std::string& name) {
  static const bool shown = isatty(STDERR_FILENO) != 0;
  static std::size_t measured = 0;
  if (shown) std::fprintf(stderr, "\r\033[K%zu measured, now %s", measured++, name.c_str());
}

/// Wipes the line.
inline void end() {
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
}

}  // namespace progress
