// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/along_axis.hpp: ops along one axis as their definitions.

#include <algorithm>
#include <cmath>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/along_axis.hpp>
#include <levada/nn/top_k.hpp>

namespace levada {

namespace detail {

/// Calls `f(first element, first element of the output)` for each row along the axis.
template <class Around, class F>
void for_each_row(F f) {
  for (std::size_t o = 0; o < Around::outer; ++o)
    for (std::size_t i = 0; i < Around::inner; ++i) f(o * Around::length * Around::inner + i, o * Around::inner + i);
}

}  // namespace detail

template <class Backend, class In, softmax_kind How, std::ptrdiff_t Axis>
  requires op_takes<softmax_along_op<How, Axis>, In>
struct definition<Backend, In, softmax_along_op<How, Axis>> : detail::plain_definition<softmax_along_op<How, Axis>> {
  using detail::plain_definition<softmax_along_op<How, Axis>>::plain_definition;
  using value = typename In::value_type;

  void operator()(const In& in, In& out, std::byte*) const {
    using around = detail::around_axis<In, Axis>;
    detail::for_each_row<around>([&](std::size_t first, std::size_t) {
      const auto at = [&](std::size_t i) { return first + i * around::inner; };
      std::size_t best = 0;
      for (std::size_t i = 1; i < around::length; ++i)
        if (in[at(i)] > in[at(best)]) best = i;
      const value largest = in[at(best)];
      if constexpr (How == softmax_kind::hard) {
        for (std::size_t i = 0; i < around::length; ++i) out[at(i)] = i == best ? value{1} : value{0};
      } else {
        value sum = 0;
        for (std::size_t i = 0; i < around::length; ++i) sum += std::exp(in[at(i)] - largest);
        for (std::size_t i = 0; i < around::length; ++i)
          out[at(i)] =
              How == softmax_kind::soft ? std::exp(in[at(i)] - largest) / sum : in[at(i)] - largest - std::log(sum);
      }
    });
  }
};

template <class Backend, class In, extreme Which, std::ptrdiff_t Axis, reduced_axes Kept, among_equals Equals>
  requires op_takes<index_of_op<Which, Axis, Kept, Equals>, In>
struct definition<Backend, In, index_of_op<Which, Axis, Kept, Equals>>
    : detail::plain_definition<index_of_op<Which, Axis, Kept, Equals>> {
  using op_type = index_of_op<Which, Axis, Kept, Equals>;
  using detail::plain_definition<op_type>::plain_definition;

  void operator()(const In& in, typename op_type::template output<In>& out, std::byte*) const {
    using around = detail::around_axis<In, Axis>;
    detail::for_each_row<around>([&](std::size_t first, std::size_t to) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < around::length; ++i)
        if (is_better(in[first + i * around::inner], in[first + best * around::inner])) best = i;
      out[to] = static_cast<std::int64_t>(best);
    });
  }

 private:
  template <class T>
  static bool is_better(T x, T best) {
    if (Equals == among_equals::last && x == best) return true;
    if constexpr (Which == extreme::largest)
      return is_larger(x, best);
    else
      return x < best || (best != best && x == x);
  }
};

template <class Backend, class In, std::ptrdiff_t Axis, bool Exclusive, bool Reverse>
  requires op_takes<cum_sum_op<Axis, Exclusive, Reverse>, In>
struct definition<Backend, In, cum_sum_op<Axis, Exclusive, Reverse>>
    : detail::plain_definition<cum_sum_op<Axis, Exclusive, Reverse>> {
  using detail::plain_definition<cum_sum_op<Axis, Exclusive, Reverse>>::plain_definition;
  using value = typename In::value_type;

  void operator()(const In& in, In& out, std::byte*) const {
    using around = detail::around_axis<In, Axis>;
    detail::for_each_row<around>([&](std::size_t first, std::size_t) {
      value sum = 0;
      for (std::size_t i = 0; i < around::length; ++i) {
        const std::size_t at = first + (Reverse ? around::length - 1 - i : i) * around::inner;
        const value x = in[at];
        if constexpr (Exclusive) out[at] = sum;
        sum = static_cast<value>(sum + x);
        if constexpr (!Exclusive) out[at] = sum;
      }
    });
  }
};

}  // namespace levada
