// SPDX-License-Identifier: Apache-2.0
#pragma once
// ops/folding.hpp: what the evaluation of constants shares: broadcasting, and calls by the kind of number.

#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "op_call.hpp"

namespace levada::onnx {

/// ONNX's multidirectional broadcasting.
extents broadcast_of(const op_call& call, const extents& a, const extents& b);

/// Steps of a dense tensor along each axis.
std::vector<std::int64_t> strides_of(const extents& dims);

/// For each index of `dims` in order: `at` and `steps[axis]` for each step along an axis.
std::vector<std::int64_t> strided_offsets(const extents& dims, const std::vector<std::int64_t>& steps,
                                          std::int64_t at = 0);

/// For each element of `out` in order: the offset of the element of `in` that broadcasts to it.
std::vector<std::int64_t> broadcast_offsets(const extents& in, const extents& out);

/// Calls `f(std::int64_t{})` or `f(double{})`, whichever holds the elements.
template <class F>
auto by_number(element type, F f) {
  return is_floating(type) ? f(double{}) : f(std::int64_t{});
}

/// Rounds as the element does: float arithmetic in double and one rounding is what float itself gives.
inline double rounded(element type, double number) {
  return type == element::f64 ? number : static_cast<double>(static_cast<float>(number));
}

/// A number as another kind of number; NaN gives 0, what is beyond the integers their nearest end.
template <class R, class T>
R number_as(T number) {
  if constexpr (std::is_floating_point_v<T> && std::is_integral_v<R>) {
    if (number != number) return 0;
    if (number >= 9.2233720368547758e18) return std::numeric_limits<R>::max();
    if (number <= -9.2233720368547758e18) return std::numeric_limits<R>::min();
  }
  return static_cast<R>(number);
}

/// One element of the result of each of the input.
template <class F>
constant mapped(const constant& in, element type, F f) {
  return by_number(in.type(), [&]<class T>(T) {
    const std::vector<T> from = in.as<T>();
    return by_number(type, [&]<class R>(R) {
      std::vector<R> to;
      to.reserve(from.size());
      for (const T number : from) to.push_back(number_as<R>(f(number)));
      return constant::of(type, in.dims(), to);
    });
  });
}

/// The elements `offsets[i]` of a tensor, of any type.
constant picked(const constant& in, const extents& dims, const std::vector<std::int64_t>& offsets);

}  // namespace levada::onnx
