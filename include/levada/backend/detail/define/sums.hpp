// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/sums.hpp: reductions and the matrix product, sum by sum in the order of the elements.

#include <cmath>
#include <limits>

#include <levada/backend/detail/definition.hpp>
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

  void operator()(const In& in, out_type& out, std::byte*) const {
    using enum reduction;
    constexpr value none = How == max   ? -std::numeric_limits<value>::infinity()
                           : How == min ? std::numeric_limits<value>::infinity()
                                        : value{0};
    out.fill(none);
    const value* x = in.data();
    detail::for_each_index(shape_of<In>, [&](const shape& index) {
      std::size_t at = 0;
      for (std::size_t axis = 0; axis < In::rank; ++axis)
        if ((op_type::template mask<In> >> axis & 1) == 0) at = at * In::extents[axis] + index[axis];
      join(out[at], *x++);
    });
    for (value& y : out) {
      if constexpr (How == mean) y /= static_cast<value>(In::elements / out_type::elements);
      if constexpr (How == l2) y = std::sqrt(y);
    }
  }

 private:
  static void join(value& y, value x) {
    using enum reduction;
    if constexpr (How == sum || How == mean) y += x;
    if constexpr (How == l2) y += x * x;
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
          for (std::size_t k = 0; k < s::inner; ++k) *to += a[y * s::inner + k] * b[k * s::columns + x];
        }
    }
  }
};

}  // namespace levada
