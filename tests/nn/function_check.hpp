// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/function_check.hpp: an op of one element on `reference` and `simd` beside a function of the C library in double.

#include <algorithm>
#include <cmath>
#include <string>

#include "backend/compare.hpp"

namespace levada::testing {

/// Both backends give `expected` within `ulps` units in the last place or `absolute`; NaN where that is NaN.
template <class Stage, class Samples>
void check_function_on(const Samples& inputs, const Stage& stage, double (*expected)(double), double ulps,
                       double absolute) {
  CAPTURE(std::string(Stage::name.view()));
  const auto check = [&](const Samples& results) {
    for (std::size_t i = 0; i < Samples::elements; ++i) {
      const double x = static_cast<double>(inputs[i]), y = expected(x), got = static_cast<double>(results[i]);
      CAPTURE(x);
      if (std::isnan(y) || std::isinf(static_cast<float>(y))) {
        CHECK((std::isnan(y) ? std::isnan(got) : got == static_cast<double>(static_cast<float>(y))));
        continue;
      }
      const double unit = std::ldexp(1.0, std::max(std::ilogb(y == 0 ? 1e-38 : y), -126) - 23);
      CHECK(std::abs(got - y) <= std::max(ulps * unit, absolute));
    }
  };
  check(*by_one_kernel<reference>(inputs, {}, stage.description));
  check(*by_one_kernel<simd>(inputs, {}, stage.description));
}

}  // namespace levada::testing
