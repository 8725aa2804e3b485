// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/conv2d.hpp: one convolution, with what fuses into it, of `simd` against `reference`.
// Sums of n products of magnitude at most 1 may differ by n * epsilon: they are added in another order, with or without
// rounding between multiplication and addition.

#include "backend/compare.hpp"

namespace levada::testing {

template <class In, class Conv, class... Tail>
void check_conv(const Conv& conv, const Tail&... tail) {
  using value = typename In::value_type;
  const double products = static_cast<double>(Conv::template parameters<In>[0].extents.elements() / Conv::filters + 2);
  check_agreement<In>(products * static_cast<double>(std::numeric_limits<value>::epsilon()), conv, tail...);
}

template <std::size_t C, std::size_t H, std::size_t W>
using planes = tensor<float, C, H, W>;
template <std::size_t... S>
using sized = levada::size<S...>;

}  // namespace levada::testing
