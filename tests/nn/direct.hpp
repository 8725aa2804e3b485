// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/direct.hpp: ops called by themselves on both backends, those of several inputs with a tuple.

#include "backend/compare.hpp"

namespace levada::testing {

template <class In>
void fill_randomly(In& t) {
  fill_randomly(t.data(), t.size());
}
template <class... T>
void fill_randomly(std::tuple<T...>& tuple) {
  std::apply([](auto&... t) { (fill_randomly(t), ...); }, tuple);
}
template <class In>
on_heap<In> random_input() {
  on_heap<In> in;
  fill_randomly(*in);
  return in;
}

/// The results of both backends agree, bit for bit unless there is a tolerance; gives that of `simd`.
template <class In, class Op>
auto both(const In& in, const Op& op, double tolerance = 0, std::span<const void* const> parameters = {}) {
  const auto expected = by_one_kernel<reference>(in, parameters, op);
  auto computed = by_one_kernel<simd>(in, parameters, op);
  check_difference(largest_difference(*expected, *computed), tolerance, __PRETTY_FUNCTION__);
  return computed;
}

/// 0, 1, 2, ... so that an element says where it came from.
template <class In>
on_heap<In> counted() {
  on_heap<In> t;
  for (std::size_t i = 0; i < In::elements; ++i) (*t)[i] = static_cast<typename In::value_type>(i);
  return t;
}

template <class Op, class In>
using out = typename Op::template output<In>;

}  // namespace levada::testing
