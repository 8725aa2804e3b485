// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/sums.hpp: reductions and the matrix product, sum by sum in the order of the elements.

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include <levada/backend/detail/definition.hpp>
#include <levada/core/detail/wrapping.hpp>
#include <levada/nn/matmul.hpp>
#include <levada/nn/reduce.hpp>

namespace levada {

template <class Backend, class In, reduction How, reduced_axes Kept, std::ptrdiff_t... Axes>
  requires op_takes<reduce_op<How, Kept, Axes...>, In>
struct definition<Backend, In, reduce_op<How, Kept, Axes...>>
    : detail::plain_definition<reduce_op<How, Kept, Axes...>> {
  using op_type = reduce_op<How, Kept, Axes...>;
  using detail::plain_definition<op_type>::plain_definition;
  using out_type = typename op_type::template output<In>;
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = How == reduction::log_sum_exp ? sizeof(out_type) : 0;

  void operator()(const In& in, out_type& out, [[maybe_unused]] std::byte* scratch) const {
    using enum reduction;
    if constexpr (How == log_sum_exp) {  // the largest finite one is taken out, so that nothing overflows
      out_type& largest = *::new (static_cast<void*>(scratch)) out_type;
      largest.fill(limits::lowest());
      each(in, [&](std::size_t at, value x) { largest[at] = std::max(largest[at], std::min(x, limits::max())); });
      out.fill(0);
      each(in, [&](std::size_t at, value x) { out[at] += std::exp(x - largest[at]); });
      for (std::size_t i = 0; i < out_type::elements; ++i) out[i] = std::log(out[i]) + largest[i];
    } else {
      out.fill(How == max    ? (limits::has_infinity ? -limits::infinity() : limits::lowest())
               : How == min  ? (limits::has_infinity ? limits::infinity() : limits::max())
               : How == prod ? value{1}
                             : value{0});
      each(in, [&](std::size_t at, value x) { join(out[at], x); });
      for (value& y : out) {
        if constexpr (How == mean) y /= static_cast<value>(In::elements / out_type::elements);
        if constexpr (How == l2) y = std::sqrt(y);
        if constexpr (How == log_sum) y = std::log(y);
      }
    }
  }

 private:
  using limits = std::numeric_limits<value>;

  /// Calls `f(where it goes, element)`.
  template <class F>
  static void each(const In& in, F f) {
    const value* x = in.data();
    detail::for_each_index(shape_of<In>, [&](const shape& index) {
      std::size_t at = 0;
      for (std::size_t axis = 0; axis < In::rank; ++axis)
        if ((op_type::template mask<In> >> axis & 1) == 0) at = at * In::extents[axis] + index[axis];
      f(at, *x++);
    });
  }
  static void join(value& y, value x) {
    using enum reduction;
    if constexpr (How == sum || How == mean || How == log_sum) y = static_cast<value>(detail::wrapping_sum(y, x));
    if constexpr (How == l2 || How == sum_square)
      y = static_cast<value>(detail::wrapping_sum(y, static_cast<value>(detail::wrapping_product(x, x))));
    if constexpr (How == l1)
      y = static_cast<value>(x < value{0} ? detail::wrapping_difference(y, x) : detail::wrapping_sum(y, x));
    if constexpr (How == prod) y = static_cast<value>(detail::wrapping_product(y, x));
    if constexpr (How == max) y = x > y || x != x ? x : y;
    if constexpr (How == min) y = x < y || x != x ? x : y;
  }
};

template <class Backend, class A, class B>
  requires op_takes<matmul_op, std::tuple<A, B>>
struct definition<Backend, std::tuple<A, B>, matmul_op> : detail::plain_definition<matmul_op> {
  using detail::plain_definition<matmul_op>::plain_definition;
  using in_type = std::tuple<A, B>;
  using value = typename A::value_type;

  void operator()(const auto& in, matmul_op::output<in_type>& out, std::byte*) const {
    using s = detail::matmul_shapes<A, B>;
    value* to = out.data();
    for (std::size_t batch = 0; batch < s::batch.elements(); ++batch) {
      const value* a = std::get<0>(in).data() + s::matrix_at(s::left, batch) * s::rows * s::inner;
      const value* b = std::get<1>(in).data() + s::matrix_at(s::right, batch) * s::inner * s::columns;
      for (std::size_t y = 0; y < s::rows; ++y)
        for (std::size_t x = 0; x < s::columns; ++x, ++to) {
          *to = 0;
          for (std::size_t k = 0; k < s::inner; ++k)
            *to = detail::wrapping_sum(*to, detail::wrapping_product(a[y * s::inner + k], b[k * s::columns + x]));
        }
    }
  }
};

}  // namespace levada
