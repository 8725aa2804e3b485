// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors of numbers that differ with the step.

#include <cstddef>

namespace levada::test {

/// Eighths from -11/8 to 11/8.
template <class T>
T numbers(int step) {
  T made;
  for (std::size_t i = 0; i < T::elements; ++i)
    made[i] = static_cast<float>((static_cast<int>(i) * step) % 23 - 11) / 8.0f;
  return made;
}

}  // namespace levada::test
