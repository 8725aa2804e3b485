// SPDX-License-Identifier: Apache-2.0
#pragma once
// programs/each/answer.hpp: how a program says its first result. It stays until it has been looked at.

#include <cstddef>
#include <span>
#include <vector>

#include <unistd.h>

#include <levada/core/error.hpp>

namespace programs {

/// Writes the outputs to stdout as they lie, closes it, and waits for the end of stdin.
inline int answer(const std::vector<std::span<const float>>& outputs) {
  for (const std::span<const float> output : outputs)
    for (std::span<const std::byte> left = std::as_bytes(output); !left.empty();) {
      const ssize_t written = ::write(STDOUT_FILENO, left.data(), left.size());
      if (written <= 0) throw levada::error("the result is not read");
      left = left.subspan(static_cast<std::size_t>(written));
    }
  ::close(STDOUT_FILENO);
  for (char any; ::read(STDIN_FILENO, &any, 1) > 0;) {
  }
  return 0;
}

}  // namespace programs
