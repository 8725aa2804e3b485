// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv_by_columns.hpp: convolution with a vector along the width: for few filters on wide pictures.
// Some rows at a time are copied with their padding and split into phases (columns.hpp), so that the outputs of one
// vector read one contiguous run for each tap even when the convolution strides or a pool follows. A tile is some
// filters by some vectors; the columns and rows that a pool joins are accumulated side by side and joined in registers.

#include <levada/backend/simd/detail/columns.hpp>
#include <levada/backend/simd/detail/conv_run.hpp>
#include <levada/backend/simd/detail/join.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/tile_range.hpp>

namespace levada::detail {

/// The size of a tile of conv_by_columns, and what it costs per tap and row for the whole width and all filters.
struct column_tiling {
  std::size_t filters = 1, vectors = 1, cost = ~std::size_t{0};
};

template <class Arch, class Run>
consteval column_tiling best_column_tiling() {
  column_tiling best;
  const std::size_t all = ceil_div(Run::columns, lanes_in<typename Run::value, Arch>), joined = Run::pool.width;
  for (std::size_t f = 1; f <= std::min<std::size_t>(Run::filters, 16); ++f)
    for (std::size_t v = 1; v <= std::min<std::size_t>(all, 4); ++v) {
      const std::size_t kept = Run::pool.height > 1 ? f * v : 0;
      if ((f + 1) * v * joined + kept + 1 + registers_of_products<Arch, Run> > register_count<Arch>) continue;
      const std::size_t cost = blocks_cost(Run::filters, f, [&](std::size_t ff) {
        return blocks_cost(all, v, [&](std::size_t vv) {
          // Inputs are not aligned: a load that crosses a cache line counts twice.
          return tap_cost(ff * vv * joined, ff + 2 * vv * joined);
        });
      });
      if (cost <= best.cost) best = {f, v, cost};
    }
  return best;
}

template <class Arch, class Run, class Epilogue>
class conv_by_columns {
 public:
  using value = typename Run::value;
  using out_value = typename Run::result;

 private:
  static constexpr window2d w = Run::window, pool = Run::pool;
  static constexpr std::size_t lanes = lanes_in<value, Arch>;
  static constexpr column_tiling tiling = best_column_tiling<Arch, Run>();
  using vec = vector<value, Arch>;
  using row_type = column_row<Arch, value, Run::width, w.left, w.stride_x * pool.stride_x, Run::columns,
                              (pool.width - 1) * w.stride_x + w.reach_x()>;
  /// The input rows that so many output rows read.
  static constexpr std::size_t rows_read(std::size_t rows) {
    return std::min(Run::height, ((rows - 1) * pool.stride_y + pool.height - 1) * w.stride_y + w.reach_y());
  }
  /// Output rows whose copied input stays in a small second-level cache.
  static constexpr std::size_t strip_rows = [] {
    constexpr std::size_t elements = (std::size_t{256} << 10) / sizeof(value);
    std::size_t rows = 1;
    while (rows < Run::rows && Run::channels * rows_read(rows + 1) * row_type::pitch <= elements) ++rows;
    return rows;
  }();
  static constexpr std::size_t plane = rows_read(strip_rows) * row_type::pitch;

 public:
  static constexpr std::size_t scratch_bytes = round_up((Run::channels * plane + row_type::slack) * sizeof(value), 64);
  static constexpr std::size_t tiles = Run::rows;

  template <class Parameters>
  conv_by_columns(const Parameters& p, const Epilogue& epilogue) : epilogue_(epilogue) {
    std::size_t at = 0;
    for (std::size_t f = 0; f < Run::filters; f += tiling.filters)
      for (std::size_t c = 0; c < Run::channels; ++c)
        for (std::size_t ky = 0; ky < w.height; ++ky)
          for (std::size_t kx = 0; kx < w.width; ++kx)
            for (std::size_t i = f; i < std::min(f + tiling.filters, Run::filters); ++i)
              weight_[at++] = Run::weight(p, i, c, ky, kx);
    for (std::size_t f = 0; f < Run::filters; ++f) bias_[f] = Run::bias(p, f);
  }

  /// `scale`: the factor of each channel, where the run scales its input.
  template <class Join = no_join>
  void operator()(const value* in, out_value* out, std::byte* scratch, const Join& join = {},
                  const value* scale = nullptr, tile_range some = {0, tiles}) const {
    for (std::size_t y = some.begin; y < some.end; y += strip_rows)
      strip(in, out, reinterpret_cast<value*>(scratch), join, scale, {y, std::min(y + strip_rows, some.end)});
  }

 private:
  /// Rows of the input that lie one behind the other from row `first` of each channel on.
  struct copied_rows {
    const value* data;
    std::size_t first;
  };

  template <class Join>
  void strip(const value* in, out_value* out, value* rows, const Join& join, [[maybe_unused]] const value* scale,
             tile_range of) const {
    const std::size_t top = of.begin * pool.stride_y * w.stride_y, first = top - std::min(top, w.top),
                      end = std::min(Run::height, first + rows_read(of.end - of.begin));
    for (std::size_t c = 0; c < Run::channels; ++c)
      for (std::size_t r = first; r < end; ++r) {
        value* const to = rows + c * plane + (r - first) * row_type::pitch;
        const value* const from = in + (c * Run::height + r) * Run::width;
        if constexpr (scales_input<Run>)
          row_type::fill_scaled(to, from, scale[c]);
        else
          row_type::fill(to, from, value{0});
      }
    const copied_rows copied{rows, first};
    constexpr std::size_t whole = Run::filters / tiling.filters * tiling.filters;
    for (std::size_t y = of.begin; y < of.end; ++y) {
      for (std::size_t f = 0; f < whole; f += tiling.filters) row<tiling.filters>(copied, out, y, f, join);
      if constexpr (whole != Run::filters) row<Run::filters - whole>(copied, out, y, whole, join);
    }
  }

  /// One row of the output for `Filters` filters.
  template <std::size_t Filters, class Join>
  void row(copied_rows rows, out_value* out, std::size_t y, std::size_t f, const Join& join) const {
    constexpr std::size_t all = ceil_div(Run::columns, lanes), last = (all - 1) / tiling.vectors * tiling.vectors;
    for (std::size_t v = 0; v < last; v += tiling.vectors)
      tile<Filters, tiling.vectors, lanes>(rows, out, y, f, v * lanes, join);
    tile<Filters, all - last, Run::columns - (all - 1) * lanes>(rows, out, y, f, last * lanes, join);
  }

  /// `Filters` by `Vectors` vectors of outputs, of which the last has `Last` lanes that count.
  template <std::size_t Filters, std::size_t Vectors, std::size_t Last, class Join>
  LEVADA_INLINE void tile(copied_rows rows, out_value* out, std::size_t y, std::size_t f, std::size_t x,
                          const Join& join) const {
    vec largest[Filters][Vectors];
    for (std::size_t py = 0; py < pool.height; ++py) {
      vec sum[Filters][Vectors][pool.width];
      accumulate<Filters, Vectors>(rows, x, y * pool.stride_y + py, f, sum);
      unrolled<Filters, Vectors, pool.width>([&](std::size_t i, std::size_t v, std::size_t px) LEVADA_INLINE {
        largest[i][v] = px == 0 && py == 0 ? sum[i][v][px] : maximum(largest[i][v], sum[i][v][px]);
      });
    }
    decltype(auto) epilogue = at_hand(epilogue_);
    unrolled<Filters>([&](std::size_t i) LEVADA_INLINE {
      out_value* to = out + ((f + i) * Run::rows + y) * Run::columns + x;
      static_for<Vectors>([&](auto v) LEVADA_INLINE {
        const vec result = Run::relu ? relu_of(largest[i][v]) : largest[i][v];
        constexpr std::integral_constant<std::size_t, v + 1 == Vectors ? Last : lanes> count;
        store_part_as<count>(to + v * lanes,
                             join(epilogue.of_filter(result, f + i), f + i, y * Run::columns + x + v * lanes, count));
      });
    });
  }

  template <std::size_t Filters, std::size_t Vectors>
  LEVADA_INLINE void accumulate(copied_rows rows, std::size_t column, std::size_t conv_y, std::size_t f,
                                vec (&sum)[Filters][Vectors][pool.width]) const {
    unrolled<Filters, Vectors, pool.width>([&](std::size_t i, std::size_t v, std::size_t px)
                                               LEVADA_INLINE { sum[i][v][px] = vec(bias_[f + i]); });
    const auto taps = Run::taps_of(conv_y);
    if (taps.first >= taps.end) return;
    const value* weight = weight_.data() + f * Run::channels * w.taps();
    for (std::size_t c = 0; c < Run::channels; ++c) {
      const value* in = rows.data + column + c * plane + (taps.row - rows.first) * row_type::pitch;
      const value* k = weight + (c * w.height + taps.first) * w.width * Filters;
      // g++ 12 takes broadcast integers for no operands from memory: it would make all of a window's before it joins
      // the rows of a pool, and keep them in memory. It is not told that the weights are the same.
      if constexpr (std::is_integral_v<value>) asm("" : "+r"(k));
      for (std::size_t ky = taps.first; ky < taps.end; ++ky) {
        for_each_tap<w.width>([&](std::size_t kx) LEVADA_INLINE {
          vec x[Vectors][pool.width];
          unrolled<Vectors, pool.width>([&](std::size_t v, std::size_t px) LEVADA_INLINE {
            x[v][px] = load_once<value, Arch>(in + row_type::at(px * w.stride_x + kx * w.dilation_x) + v * lanes);
          });
          unrolled<Filters>([&](std::size_t i) LEVADA_INLINE {
            const vec a(k[kx * Filters + i]);
            unrolled<Vectors, pool.width>([&](std::size_t v, std::size_t px) LEVADA_INLINE {
              sum[i][v][px] = Run::template add_products<Arch>(x[v][px], a, sum[i][v][px]);
            });
            outlive<value, Arch>(a);
          });
          unrolled<Vectors, pool.width>([&](std::size_t v, std::size_t px)
                                            LEVADA_INLINE { outlive<value, Arch>(x[v][px]); });
        });
        in += w.dilation_y * row_type::pitch;
        k += w.width * Filters;
      }
    }
  }

  tensor<value, Run::filters * Run::channels * w.taps()> weight_;
  tensor<value, Run::filters> bias_;
  [[no_unique_address]] Epilogue epilogue_;
};

}  // namespace levada::detail
