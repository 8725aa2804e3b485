// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a network's output is what another computed.

#include <doctest/doctest.h>

#include "backend/compare.hpp"

namespace levada::testing {

/// Within 1e-5 of the largest element.
template <class Tensor>
void check_close(const Tensor& computed, const Tensor& expected) {
  const double largest = largest_difference(expected, Tensor{});
  CHECK(largest > 0.1);
  check_difference(largest_difference(computed, expected), 1e-5 * largest, __PRETTY_FUNCTION__);
}

}  // namespace levada::testing
