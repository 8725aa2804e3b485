// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/grid_sample.hpp: a picture sampled at the places of a grid.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/grid_sample.hpp>

namespace levada {

template <class Backend, class X, class Grid, sample_mode Mode, sample_padding Padding, bool AlignCorners>
  requires op_takes<grid_sample_op<Mode, Padding, AlignCorners>, std::tuple<X, Grid>>
struct definition<Backend, std::tuple<X, Grid>, grid_sample_op<Mode, Padding, AlignCorners>>
    : detail::plain_definition<grid_sample_op<Mode, Padding, AlignCorners>> {
  using detail::plain_definition<grid_sample_op<Mode, Padding, AlignCorners>>::plain_definition;
  using value = typename X::value_type;

  void operator()(const auto& in, auto& out, std::byte*) const {
    const auto& [x, grid] = in;
    for (std::size_t i = 0; i < places; ++i) {
      const value column = inside(scaled(grid[2 * i], width), width),
                  row = inside(scaled(grid[2 * i + 1], height), height);
      for (std::size_t c = 0; c < X::extents[0]; ++c)
        out[c * places + i] = sampled(x.data() + c * height * width, row, column);
    }
  }

 private:
  static constexpr std::size_t height = X::extents[1], width = X::extents[2], places = Grid::elements / 2;
  static constexpr value edge = AlignCorners ? value{0} : value{-0.5};  // where the picture begins

  static value scaled(value x, std::size_t extent) {
    const auto n = static_cast<value>(extent);
    return AlignCorners ? (x + 1) / 2 * (n - 1) : ((x + 1) * n - 1) / 2;
  }
  static value reflected(value x, std::size_t extent) {
    const value last = static_cast<value>(extent) - 1 - edge, range = last - edge;
    if (range == 0) return 0;
    const value beyond = x < edge ? edge - x : x > last ? x - last : value{0};
    if (beyond == 0) return x;
    const value turns = std::floor(beyond / range), rest = beyond - turns * range;
    const bool even = std::fmod(turns, value{2}) == 0;
    return (x < edge) == even ? edge + rest : last - rest;
  }
  /// A place of the grid on the picture.
  static value inside(value x, std::size_t extent) {
    const auto last = static_cast<value>(extent) - 1;
    if (x >= edge && x <= last - edge) return x;
    if (Padding == sample_padding::border) return std::min(std::max(x, value{0}), last);
    if (Padding == sample_padding::reflection) return reflected(x, extent);
    return x;
  }
  /// An element that a place is made of.
  static value element(const value* plane, value row, value column) {
    const auto last_row = static_cast<value>(height) - 1, last_column = static_cast<value>(width) - 1;
    if (Padding == sample_padding::reflection) row = reflected(row, height), column = reflected(column, width);
    const bool lies_inside = row >= 0 && row <= last_row && column >= 0 && column <= last_column;
    if (Padding == sample_padding::zeros && !lies_inside) return 0;
    row = row >= 0 ? std::min(row, last_row) : value{0};  // NaN is nowhere
    column = column >= 0 ? std::min(column, last_column) : value{0};
    return plane[static_cast<std::size_t>(row) * width + static_cast<std::size_t>(column)];
  }

  static value sampled(const value* plane, value row, value column) {
    if constexpr (Mode == sample_mode::nearest) return element(plane, std::nearbyint(row), std::nearbyint(column));
    constexpr int before = Mode == sample_mode::bicubic ? 1 : 0, taps = Mode == sample_mode::bicubic ? 4 : 2;
    const value top = std::floor(row), left = std::floor(column);
    const auto down = weights(row - top), across = weights(column - left);
    value sum = 0;
    for (int y = 0; y < taps; ++y)
      for (int x = 0; x < taps; ++x)
        sum += down[static_cast<std::size_t>(y)] * across[static_cast<std::size_t>(x)] *
               element(plane, top + static_cast<value>(y - before), left + static_cast<value>(x - before));
    return sum;
  }
  static std::array<value, 4> weights(value at) {
    if constexpr (Mode != sample_mode::bicubic) return {1 - at, at};
    constexpr value a = -0.75;
    const auto near = [](value d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [](value d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    return {far(at + 1), near(at), near(1 - at), far(2 - at)};
  }
};

}  // namespace levada
