// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eighths.hpp: ops whose inputs and weights are eighths, so that all sums are exact in float: any order of
// adding gives the same bits.

#include <vector>

#include "backend/compare.hpp"

namespace levada::testing {

/// Eighths from -1 to 1: some hundred products of these are summed without rounding.
inline float some_eighth() { return static_cast<float>(static_cast<int>(generator()() % 17) - 8) / 8; }
template <class In>
on_heap<In> exact_tensor() {
  on_heap<In> t;
  for (auto& v : *t) v = static_cast<typename In::value_type>(some_eighth());
  return t;
}

/// The run as one kernel of `simd` and op by op of `reference` gives the same.
template <class Op, class In, class... Tail>
void check_equal(const In& in, const Op& op, const Tail&... tail) {
  std::vector<std::vector<float>> parameters;
  std::vector<const void*> all;
  for (const parameter_info& info : Op::template parameters<In>) {
    parameters.emplace_back(info.extents.elements());
    for (float& v : parameters.back()) v = some_eighth();
  }
  for (const auto& p : parameters) all.push_back(p.data());
  const auto expected = by_single_kernels<reference>(in, all, op, tail...);
  const auto computed = by_one_kernel<simd>(in, all, op, tail...);
  check_difference(largest_difference(*expected, *computed), 0, __PRETTY_FUNCTION__);
}
template <class In, class Op, class... Tail>
void check_equal(const Op& op, const Tail&... tail) {
  check_equal(*exact_tensor<In>(), op, tail...);
}

}  // namespace levada::testing
