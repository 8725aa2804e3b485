// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/definition.hpp: ops computed as they are defined, once for all backends of the CPU. `reference`
// computes what has a definition by it, `simd` only that for which it has no kernel of its own
// (backend/simd/detail/definition.hpp).

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <levada/graph/detail/window2d.hpp>
#include <levada/graph/op.hpp>

namespace levada {

/// A kernel of `Op` for any backend of the CPU. `Backend` is part of the type, so that backends which are compiled for
/// different instruction sets share no symbol.
template <class Backend, class In, class Op>
struct definition;

template <class Backend, class In, class Op>
concept defined_op = op_takes<Op, In> && requires { sizeof(definition<Backend, In, Op>); };

namespace detail {

/// What definitions without weights have in common.
template <class Op>
struct plain_definition {
  static constexpr std::size_t scratch_bytes = 0;

  plain_definition(const Op&, parameter_values) {}
};

/// Elements copied, where the plan has not let them lie there from the beginning.
template <class T>
[[gnu::always_inline]] inline void move_elements(const T* from, T* to, std::size_t count) {
  if (from != to) std::memcpy(to, from, count * sizeof(T));
}

/// Calls `f(first, end, largest)` for each row along the last axis: where its elements are, and the largest of them.
template <class In, class F>
[[gnu::always_inline]] inline void for_each_last_row(const In& in, F f) {
  constexpr std::size_t length = In::extents[In::rank - 1];
  for (std::size_t first = 0; first < In::elements; first += length)
    f(first, first + length, *std::max_element(&in[first], &in[first] + length));
}

/// Calls `f(row, column, place)` for each place of a window that lies on a picture of `height` by `width`. The window
/// belongs to row `y` and column `x` of the output. `place` is the number of the place among all of the window.
template <class F>
constexpr void for_each_place(const window2d& w, std::size_t height, std::size_t width, std::size_t y, std::size_t x,
                              F f) {
  for (std::size_t ky = 0; ky < w.height; ++ky)
    for (std::size_t kx = 0; kx < w.width; ++kx) {
      // Row and column in the padded picture
      const std::size_t row = y * w.stride_y + ky * w.dilation_y, column = x * w.stride_x + kx * w.dilation_x;
      if (row < w.top || row >= w.top + height) continue;
      if (column < w.left || column >= w.left + width) continue;
      f(row - w.top, column - w.left, ky * w.width + kx);
    }
}

/// Calls `f(index)` with each index of a shape, the last axis fastest.
template <class F>
constexpr void for_each_index(const shape& all, F f) {
  shape index = all;
  index.extents = {};
  for (std::size_t left = all.elements(); left > 0; --left) {
    f(index);
    for (std::size_t axis = all.rank; axis-- > 0;) {
      if (++index.extents[axis] < all[axis]) break;
      index.extents[axis] = 0;
    }
  }
}

}  // namespace detail
}  // namespace levada
