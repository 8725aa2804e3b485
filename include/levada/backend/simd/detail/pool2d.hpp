// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/pool2d.hpp: pools, first down the rows of a window, then along its columns, then the transforms
// behind the pool; those whose taps lie apart, and those of bfloat16, by their definition.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <levada/backend/detail/define/pools.hpp>
#include <levada/backend/simd/detail/columns.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/tail.hpp>
#include <levada/graph/detail/tile_range.hpp>
#include <levada/nn/pool2d.hpp>

namespace levada {

namespace detail {

/// How a pool joins two elements, and what it starts from.
template <class Arch, class T>
struct pool_by_maximum {
  static constexpr T start = below_all<T>;
  LEVADA_INLINE static vector<T, Arch> join(const vector<T, Arch>& a, const vector<T, Arch>& b) {
    return maximum(a, b);
  }
};
template <class Arch, class T>
struct pool_by_sum {
  static constexpr T start = 0;
  LEVADA_INLINE static vector<T, Arch> join(const vector<T, Arch>& a, const vector<T, Arch>& b) { return a + b; }
};

/// The pool of an image; `finish(joined, y, x)` makes the outputs x, x + 1, ... of row y from the joined elements.
template <class Arch, class Op, class In, template <class, class> class By>
class simd_pool {
 public:
  using value = typename In::value_type;
  using out_type = typename Op::template output<In>;

 protected:
  static constexpr window2d w = Op::window;
  static constexpr std::size_t height = In::extents[1], width = In::extents[2];
  static constexpr std::size_t rows = out_type::extents[1], columns = out_type::extents[2];

 private:
  using vec = vector<value, Arch>;
  using by = By<Arch, value>;
  using joined_row = column_row<Arch, value, width, w.left, w.stride_x, columns, w.width>;
  static constexpr std::size_t lanes = lanes_in<value, Arch>;
  /// Columns are joined from rows that lie as in the picture, with what is outside beside them; else from those that
  /// `joined_row` lays out.
  static constexpr bool in_place = std::is_same_v<value, float> && w.stride_x <= 2;
  /// Of a row that is joined down.
  static constexpr std::size_t left = in_place ? w.left : 0, reach = (columns - 1) * w.stride_x + w.width,
                               pitch = in_place ? std::max(left + width, reach)
                                                : width + (sizeof(value) == 1 ? 2 * lanes : 0);
  /// Rows that are joined down before their columns are: what was just written takes long to be read at other places.
  static constexpr std::size_t rows_at_once =
      in_place ? std::clamp<std::size_t>((std::size_t{16} << 10) / (pitch * sizeof(value)), 1, rows) : 1;
  /// Behind the rows: those laid out, or what vectors of the last outputs read.
  static constexpr std::size_t behind = in_place ? w.stride_x * lanes + w.width : joined_row::pitch + joined_row::slack;

 public:
  static constexpr std::size_t scratch_bytes = round_up((rows_at_once * pitch + behind) * sizeof(value), 64);

  /// Channels.
  static constexpr std::size_t tiles = out_type::extents[0];

  template <class Finish>
  static void pool(const In& in, out_type& out, std::byte* scratch, tile_range channels, Finish finish) {
    value* const down = reinterpret_cast<value*>(scratch);
    if constexpr (in_place)
      for (std::size_t y = 0; y < rows_at_once; ++y) {
        std::fill_n(down + y * pitch, left, by::start);
        std::fill_n(down + y * pitch + left + width, pitch - left - width, by::start);
      }
    for (std::size_t c = channels.begin; c < channels.end; ++c)
      for (std::size_t from = 0; from < rows; from += rows_at_once) {
        const std::size_t to = std::min(from + rows_at_once, rows);
        for (std::size_t y = from; y < to; ++y) {
          const std::size_t first = y * w.stride_y < w.top ? 0 : y * w.stride_y - w.top;
          const std::size_t end = std::min(y * w.stride_y + w.height - w.top, height);
          join_rows(in.data() + c * height * width, first, end, down + (y - from) * pitch + left);
        }
        for (std::size_t y = from; y < to; ++y)
          finish_row(down + (y - from) * pitch, out.data() + (c * rows + y) * columns, y, finish);
      }
  }

 private:
  /// As `for_each_vector`, but for bytes the last vector overlaps the one before it: a part of one takes many times as
  /// long as a whole.
  template <std::size_t N, class Whole, class Part>
  LEVADA_INLINE static void for_each_covering(const Whole& whole, const Part& part) {
    if constexpr (sizeof(value) == 1 && N > lanes && N % lanes != 0) {
      for_each_vector<value, Arch, N / lanes * lanes>(whole, part);
      whole(N - lanes);
    } else {
      for_each_vector<value, Arch, N>(whole, part);
    }
  }

  /// Rows `first` to `end - 1` of a plane joined.
  static void join_rows(const value* plane, std::size_t first, std::size_t end, value* down) {
    const value* const from = plane + first * width;
    // At a border there are fewer of them.
    if (end - first == w.height)
      join_rows(from, std::integral_constant<std::size_t, w.height>(), down);
    else
      join_rows(from, end - first, down);
  }
  template <class Count>
  LEVADA_INLINE static void join_rows(const value* from, Count count, value* down) {
    const auto joined = [&](const auto& load_row) LEVADA_INLINE {
      vec all = load_row(from);
      for (std::size_t y = 1; y < count; ++y) all = by::join(all, load_row(from + y * width));
      return all;
    };
    for_each_covering<width>(
        [&](std::size_t x) LEVADA_INLINE {
          joined([&](const value* row) LEVADA_INLINE { return load<value, Arch>(row + x); }).store_unaligned(down + x);
        },
        [&](std::size_t x, auto n) LEVADA_INLINE {
          store_part<n>(down + x,
                        joined([&](const value* row) LEVADA_INLINE { return load_part<n, value, Arch>(row + x); }));
        });
  }

  template <class Finish>
  LEVADA_INLINE static void finish_row(value* row, value* to, std::size_t y, const Finish& finish) {
    if constexpr (!in_place) {
      value* const laid_out = row + pitch;
      joined_row::template fill<pitch>(laid_out, row, by::start);
      row = laid_out;
    }
    for_each_covering<columns>(
        [&](std::size_t x) { finish(join_columns(row, x), y, x).store_unaligned(to + x); },
        [&](std::size_t x, auto n) { store_part<n>(to + x, finish(join_columns(row, x), y, x)); });
  }

  /// Of the outputs from the `x`-th on.
  LEVADA_INLINE static vec join_columns(const value* row, std::size_t x) {
    vec joined;
    if constexpr (!in_place || w.stride_x == 1) {
      joined = load<value, Arch>(row + x);
      for (std::size_t kx = 1; kx < w.width; ++kx)
        joined = by::join(joined, load<value, Arch>(row + x + joined_row::at(kx)));
      return joined;
    } else {
      // Each in the order that takes one instruction, which is mended once.
      static_for<ceil_div(w.width, std::size_t{2})>([&](auto pair) LEVADA_INLINE {
        const value* const from = row + 2 * (x + pair);
        const vec a = load<value, Arch>(from), b = load<value, Arch>(from + lanes);
        const vec even = every_second<0, Arch>(a, b);
        joined = pair == 0 ? even : by::join(joined, even);
        if constexpr (2 * pair + 1 < w.width) joined = by::join(joined, every_second<1, Arch>(a, b));
      });
      return in_order<Arch>(joined);
    }
  }
};

/// Rows of bytes are seldom longer than some vectors of 128 bits.
template <class Arch, class T>
using pool_set = std::conditional_t<sizeof(T) == 1 && (lanes_in<std::uint8_t, Arch> > 16), isa::sse4_2, Arch>;

/// Pools whose taps lie side by side.
template <class Op>
inline constexpr bool pools_densely = false;
template <class... Options>
inline constexpr bool pools_densely<max_pool2d_op<Options...>> = max_pool2d_op<Options...>::window.dense_taps();
template <class... Options>
inline constexpr bool pools_densely<avg_pool2d_op<Options...>> = avg_pool2d_op<Options...>::window.dense_taps();
template <class Op>
concept dense_pool = pools_densely<Op>;

/// A pool and the transforms behind it.
template <class Arch, class In, class Op, class... F>
class simd_pool_run;

template <class Arch, class In, class... Options, class... F>
class simd_pool_run<Arch, In, max_pool2d_op<Options...>, F...>
    : public simd_pool<Arch, max_pool2d_op<Options...>, In, pool_by_maximum> {
 public:
  using op_type = max_pool2d_op<Options...>;
  using value = typename In::value_type;

  simd_pool_run(const op_type&, const transform_op<F>&... tail, parameter_values)
      : epilogue_(epilogue_of<Arch, value>(tail...)) {}

  void operator()(const In& in, typename op_type::template output<In>& out, std::byte* scratch) const {
    of_tiles(in, out, scratch, {0, this->tiles});
  }
  void of_tiles(const In& in, typename op_type::template output<In>& out, std::byte* scratch, tile_range some) const {
    this->pool(in, out, scratch, some,
               [&](const auto& joined, std::size_t, std::size_t) LEVADA_INLINE { return epilogue_(joined); });
  }

 private:
  [[no_unique_address]] epilogue_t<Arch, value, transform_op<F>...> epilogue_;
};

template <class Arch, class In, class... Options, class... F>
class simd_pool_run<Arch, In, avg_pool2d_op<Options...>, F...>
    : public simd_pool<Arch, avg_pool2d_op<Options...>, In, pool_by_sum> {
 public:
  using op_type = avg_pool2d_op<Options...>;
  using value = typename In::value_type;

  simd_pool_run(const op_type&, const transform_op<F>&... tail, parameter_values)
      : epilogue_(epilogue_of<Arch, value>(tail...)) {
    for (std::size_t x = 0; x < this->columns; ++x)
      columns_in_window_[x] =
          static_cast<value>(counted(x * this->w.stride_x, this->w.width, this->w.left, this->width));
  }

  void operator()(const In& in, typename op_type::template output<In>& out, std::byte* scratch) const {
    of_tiles(in, out, scratch, {0, this->tiles});
  }
  void of_tiles(const In& in, typename op_type::template output<In>& out, std::byte* scratch, tile_range some) const {
    this->pool(in, out, scratch, some, [&](const vector<value, Arch>& sum, std::size_t y, std::size_t x) LEVADA_INLINE {
      const auto rows_in_window =
          static_cast<value>(counted(y * this->w.stride_y, this->w.height, this->w.top, this->height));
      return epilogue_(sum / (vector<value, Arch>(rows_in_window) * load<value, Arch>(columns_in_window_ + x)));
    });
  }

 private:
  /// How many of the `length` places from `first` of a padded axis lie on the picture, or count as if they did.
  static constexpr std::size_t counted(std::size_t first, std::size_t length, std::size_t padding, std::size_t extent) {
    if (op_type::counts_padding) return length;
    return std::min(first + length, padding + extent) - std::max(first, padding);
  }

  [[no_unique_address]] epilogue_t<Arch, value, transform_op<F>...> epilogue_;
  value columns_in_window_[round_up(op_type::template output<In>::extents[2], lanes_in<value, Arch>)]{};
};

}  // namespace detail

template <class Arch, class In, class Op>
  requires defined_op<simd_on<Arch>, In, Op> && detail::dense_pool<Op> &&
           (!std::same_as<typename In::value_type, bfloat16>)
struct simd_kernel<Arch, In, Op> : detail::simd_pool_run<detail::pool_set<Arch, typename In::value_type>, In, Op> {
  using detail::simd_pool_run<detail::pool_set<Arch, typename In::value_type>, In, Op>::simd_pool_run;
};

template <class Arch, class In, class Op, class F, class... Rest>
  requires detail::dense_pool<Op> && detail::run_takes<In, Op, transform_op<F>, transform_op<Rest>...> &&
           (detail::fits_epilogue<typename In::value_type, transform_op<F>>) &&
           (detail::fits_epilogue<typename In::value_type, transform_op<Rest>> && ...)
struct simd_kernel<Arch, In, Op, transform_op<F>, transform_op<Rest>...>
    : detail::simd_pool_run<detail::pool_set<Arch, typename In::value_type>, In, Op, F, Rest...> {
  using detail::simd_pool_run<detail::pool_set<Arch, typename In::value_type>, In, Op, F, Rest...>::simd_pool_run;
};

}  // namespace levada
