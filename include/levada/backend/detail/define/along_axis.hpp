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

/// The places of the elements of a row along an axis.
template <class In, std::ptrdiff_t Axis>
struct axis_row {
  using around = around_axis<In, Axis>;
  static constexpr std::size_t length = around::length;

  std::size_t first;

  [[gnu::always_inline]] constexpr std::size_t operator[](std::size_t i) const { return first + i * around::inner; }
};

/// Calls `f(row, its place in the output)` for each row along the axis.
template <class In, std::ptrdiff_t Axis, class F>
void for_each_row(F f) {
  using around = around_axis<In, Axis>;
  for (std::size_t o = 0; o < around::outer; ++o)
    for (std::size_t i = 0; i < around::inner; ++i)
      f(axis_row<In, Axis>{o * around::length * around::inner + i}, o * around::inner + i);
}

}  // namespace detail

template <class Backend, class In, softmax_kind How, std::ptrdiff_t Axis>
  requires op_takes<softmax_along_op<How, Axis>, In>
struct definition<Backend, In, softmax_along_op<How, Axis>> : detail::plain_definition<softmax_along_op<How, Axis>> {
  using detail::plain_definition<softmax_along_op<How, Axis>>::plain_definition;
  using value = typename In::value_type;

  void operator()(const In& in, In& out, std::byte*) const {
    detail::for_each_row<In, Axis>([&](auto row, std::size_t) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < row.length; ++i)
        if (in[row[i]] > in[row[best]]) best = i;
      const value largest = in[row[best]];
      if constexpr (How == softmax_kind::hard) {
        for (std::size_t i = 0; i < row.length; ++i) out[row[i]] = i == best ? value{1} : value{0};
      } else {
        value sum = 0;
        for (std::size_t i = 0; i < row.length; ++i) sum += std::exp(in[row[i]] - largest);
        for (std::size_t i = 0; i < row.length; ++i)
          out[row[i]] =
              How == softmax_kind::soft ? std::exp(in[row[i]] - largest) / sum : in[row[i]] - largest - std::log(sum);
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
    detail::for_each_row<In, Axis>([&](auto row, std::size_t to) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < row.length; ++i)
        if (is_better(in[row[i]], in[row[best]])) best = i;
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
    detail::for_each_row<In, Axis>([&](auto row, std::size_t) {
      value sum = 0;
      for (std::size_t i = 0; i < row.length; ++i) {
        const std::size_t at = row[Reverse ? row.length - 1 - i : i];
        const value x = in[at];
        if constexpr (Exclusive) out[at] = sum;
        sum = static_cast<value>(sum + x);
        if constexpr (!Exclusive) out[at] = sum;
      }
    });
  }
};

}  // namespace levada
