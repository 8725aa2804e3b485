// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/composed.hpp: several element-wise lambdas as one, so that what each makes of an element goes to the
// next in a register: fusing kernels is tracing, or running, the composed lambda.

#include <utility>

#include <levada/kernel/detail/value.hpp>

namespace levada {

/// `composed<F, G, H>` called with `x` is `h(g(f(x)))`. Its captures are those of all, in order.
template <class... F>
struct composed;

template <class F>
struct composed<F> {
  [[no_unique_address]] F last;

  template <class V>
  constexpr auto operator()(const V& x) const {
    return last(x);
  }
};

template <class F, class... Rest>
  requires(sizeof...(Rest) > 0)
struct composed<F, Rest...> {
  [[no_unique_address]] F first;
  [[no_unique_address]] composed<Rest...> rest;

  template <class V>
  constexpr auto operator()(const V& x) const {
    const auto made = first(x);
    return rest(kernel_detail::lift<kernel_detail::stored_t<std::remove_const_t<decltype(made)>>>(x, made));
  }
};

template <class F>
constexpr composed<F> compose(F f) {
  return {std::move(f)};
}
template <class F, class... Rest>
  requires(sizeof...(Rest) > 0)
constexpr composed<F, Rest...> compose(F f, Rest... rest) {
  return {std::move(f), compose(std::move(rest)...)};
}

}  // namespace levada
