// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/pools.hpp: pools as their definitions.

#include <limits>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/pool2d.hpp>

namespace levada {

namespace detail {

/// What a pool of the largest element starts from.
template <class T>
inline constexpr T below_all =
    std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
template <>
inline constexpr bfloat16 below_all<bfloat16>{-std::numeric_limits<float>::infinity()};

/// Calls `visit(out element, in element)` for each element of each window, and `finish(out element, count)` after each.
template <class Op, class Backend, class In, class Start, class Visit, class Finish>
void for_each_window(typename Op::template output<In>& out, const In& in, Start start, Visit visit, Finish finish) {
  constexpr window2d w = Op::window;
  for (std::size_t c = 0; c < out.extents[0]; ++c)
    for (std::size_t y = 0; y < out.extents[1]; ++y)
      for (std::size_t x = 0; x < out.extents[2]; ++x) {
        std::size_t count = 0;
        out(c, y, x) = start;
        for_each_place(w, In::extents[1], In::extents[2], y, x, [&](std::size_t row, std::size_t column, std::size_t) {
          visit(out(c, y, x), in(c, row, column));
          ++count;
        });
        finish(out(c, y, x), count);
      }
}

}  // namespace detail

template <class Backend, class In, class... Options>
  requires op_takes<max_pool2d_op<Options...>, In>
struct definition<Backend, In, max_pool2d_op<Options...>> : detail::plain_definition<max_pool2d_op<Options...>> {
  using detail::plain_definition<max_pool2d_op<Options...>>::plain_definition;
  using op_type = max_pool2d_op<Options...>;
  using value = typename In::value_type;

  void operator()(const In& in, typename op_type::template output<In>& out, std::byte*) const {
    detail::for_each_window<op_type, Backend>(
        out, in, detail::below_all<value>,
        [](value& largest, value x) {
          if (x > largest || x != x) largest = x;
        },
        [](value&, std::size_t) {});
  }
};

template <class Backend, class In, class... Options>
  requires op_takes<avg_pool2d_op<Options...>, In>
struct definition<Backend, In, avg_pool2d_op<Options...>> : detail::plain_definition<avg_pool2d_op<Options...>> {
  using detail::plain_definition<avg_pool2d_op<Options...>>::plain_definition;
  using op_type = avg_pool2d_op<Options...>;
  using value = typename In::value_type;

  void operator()(const In& in, typename op_type::template output<In>& out, std::byte*) const {
    detail::for_each_window<op_type, Backend>(
        out, in, value{}, [](value& sum, value x) { sum += x; },
        [](value& sum, std::size_t count) {
          sum /= static_cast<value>(op_type::counts_padding ? op_type::window.taps() : count);
        });
  }
};

}  // namespace levada
