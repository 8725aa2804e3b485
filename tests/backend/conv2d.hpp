// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/conv2d.hpp: one convolution, with what fuses into it, of `simd` against `reference`.
// Sums of n products of magnitude at most 1 may differ by n * epsilon: they are added in another order, with or without
// rounding between multiplication and addition. By Winograd's transforms they may differ by what winograd.cpp says.

#include <string_view>

#include "backend/compare.hpp"

namespace levada::testing {

/// The largest error of Winograd's F(2x2, 3x3) or F(4x4, 3x3): epsilons of the sum, over the channels, of the largest
/// input times the filter's absolute weights.
constexpr double most_epsilons(std::size_t results) { return results == 4 ? 32 : 4; }

/// Of a convolution that is not transformed.
template <class In, class Conv>
constexpr double direct_tolerance() {
  return static_cast<double>(Conv::template parameters<In>[0].extents.elements() / Conv::filters + 2) *
         static_cast<double>(std::numeric_limits<typename In::value_type>::epsilon());
}
template <class In, class Conv>
constexpr double conv_tolerance(std::string_view method) {
  const double more = method.starts_with("Winograd") ? most_epsilons(method.ends_with("F(4x4, 3x3)") ? 4 : 2) : 1;
  return more * direct_tolerance<In, Conv>();
}

template <class In, class Conv, class... Tail>
void check_conv(const Conv& conv, const Tail&... tail) {
  const auto in = random_tensor<In>();
  constexpr std::string_view method = detail::method_of<typename simd::kernel<In, Conv, Tail...>>;
  if constexpr (method.starts_with("Winograd"))
    check_agreement_of<simd_direct>(*in, direct_tolerance<In, Conv>(), conv, tail...);
  check_agreement(*in, conv_tolerance<In, Conv>(method), conv, tail...);
}

template <std::size_t C, std::size_t H, std::size_t W>
using planes = tensor<float, C, H, W>;
template <std::size_t... S>
using sized = levada::size<S...>;

}  // namespace levada::testing
