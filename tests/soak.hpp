// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long the tests of long runs go on. They multiply their counts by it; `./run soak` makes it 100.

#include <cstdlib>

namespace levada::test {

/// 1, or what the environment variable LEVADA_SOAK says where it is a number of at least 1.
inline int soak_scale() {
  const char* text = std::getenv("LEVADA_SOAK");
  const int scale = text ? std::atoi(text) : 1;
  return scale < 1 ? 1 : scale;
}

}  // namespace levada::test
