// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv_by_winograd.hpp: convolution of 3 x 3 windows by Winograd's transforms, with vectors along
// the channels and then along the filters. Some rows of tiles at a time: their inputs are transposed to
// pixels of channels and transformed; for two vectors of filters after another, the tiles are multiplied with the
// transformed weights, the results transformed back and transposed into the output's planes.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>

#include <levada/backend/simd/detail/conv_run.hpp>
#include <levada/backend/simd/detail/join.hpp>
#include <levada/backend/simd/detail/transpose.hpp>
#include <levada/backend/simd/detail/winograd_tiles.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/tile_range.hpp>

namespace levada::detail {

template <class Run>
inline constexpr bool takes_winograd =
    std::same_as<typename Run::value, float> && Run::window.height == 3 && Run::window.width == 3 &&
    Run::window.stride_y == 1 && Run::window.stride_x == 1 && Run::window.dense_taps() &&
    Run::pool.height * Run::pool.width == 1;

/// Doubled cycles, what `tap_cost` counts, of so many products. Meanwhile weights that the second-level cache does not
/// keep come at some nine bytes a cycle.
constexpr std::size_t products_cost(std::size_t products, std::size_t weights) {
  const std::size_t bytes = weights * sizeof(float);
  return bytes > 1 << 20 ? std::max(products, (bytes - (1 << 20)) * 2 / 9) : products;
}
/// Of a convolution whose `tap_and_row` is its tiling's cost.
template <class Run>
constexpr std::size_t direct_cost(std::size_t tap_and_row) {
  return products_cost(tap_and_row * Run::rows * Run::channels * Run::window.taps(),
                       Run::window.taps() * Run::channels * Run::filters);
}
/// The products, and for a vector of channels or filters of a tile the instructions of the transforms (some 250 and 170
/// of the larger tiles, 60 and 40 of the smaller) and of the transposition of its pixels.
template <class Arch, class Run, std::size_t Results>
consteval std::size_t winograd_cost() {
  constexpr std::size_t lanes = lanes_in<float, Arch>, products = winograd_sizes<Results>::products;
  const std::size_t tiles = ceil_div(Run::rows, Results) * ceil_div(Run::columns, Results);
  const std::size_t in = ceil_div(Run::channels, lanes), out = ceil_div(Run::filters, lanes);
  const std::size_t turned = (2 * static_cast<std::size_t>(std::bit_width(lanes) - 1) + 3) * Results * Results;
  const std::size_t of_inputs = Results == 4 ? 250 : 60, of_results = Results == 4 ? 170 : 40;
  return products_cost(products * Run::channels * out * tiles, products * Run::channels * Run::filters) +
         tiles * (in * (of_inputs + turned * 4 / 3) + out * (of_results + turned));
}
/// The results in a row of a tile: the fewer, where the others win less than a tenth, since their weights take more of
/// the memory that other cores use as well.
template <class Arch, class Run>
inline constexpr std::size_t best_winograd =
    10 * winograd_cost<Arch, Run, 2>() < 11 * winograd_cost<Arch, Run, 4>() ? 2 : 4;

template <class Arch, class Run, class Epilogue, std::size_t Results>
class winograd_conv {
 public:
  using value = float;
  static constexpr std::string_view method = Results == 4 ? "Winograd F(4x4, 3x3)" : "Winograd F(2x2, 3x3)";

 private:
  static constexpr window2d w = Run::window;
  static constexpr std::size_t lanes = lanes_in<value, Arch>;
  static constexpr std::size_t side = winograd_sizes<Results>::side, all_products = winograd_sizes<Results>::products;
  static constexpr std::size_t tile_columns = ceil_div(Run::columns, Results), tile_rows = ceil_div(Run::rows, Results);
  static constexpr std::size_t channels = round_up(Run::channels, lanes);
  /// Between tiles: an odd number of cache lines, so that not all fall into the same places of the cache.
  static constexpr std::size_t stride = channels % (4 * lanes) == 0 ? channels + lanes : channels;
  static constexpr std::size_t filter_vectors = ceil_div(Run::filters, lanes),
                               vectors = std::min<std::size_t>(filter_vectors, 2);
  static constexpr std::size_t filters = filter_vectors * lanes;
  static constexpr std::size_t whole_vectors = filter_vectors / vectors * vectors;
  static constexpr std::size_t pitch = tile_columns * Results + side - Results;
  using vec = vector<value, Arch>;

  static constexpr std::size_t input_rows(std::size_t rows_of_tiles) {
    return rows_of_tiles * Results + side - Results;
  }
  struct parts {
    std::size_t inputs, tiles, products, results;
    constexpr std::size_t elements() const { return inputs + tiles + products + results; }
  };
  static constexpr parts parts_of(std::size_t rows_of_tiles) {
    const std::size_t count = rows_of_tiles * tile_columns;
    return {input_rows(rows_of_tiles) * pitch * channels, all_products * count * stride, all_products * count * filters,
            round_up(std::min(rows_of_tiles * Results, Run::rows) * Run::columns, lanes) * vectors * lanes};
  }
  /// The rows of tiles at a time: with half a megabyte or as much as the weights take, so that these are not read more
  /// often than what they are multiplied with.
  static constexpr std::size_t group = [] {
    constexpr std::size_t weights = all_products * Run::channels * filters;
    const std::size_t most = std::clamp(weights, std::size_t{128} << 10, std::size_t{2048} << 10);
    std::size_t rows = tile_rows;
    for (std::size_t groups = 1; rows > 1 && parts_of(rows).elements() > most; ++groups)
      rows = ceil_div(tile_rows, groups);
    return rows;
  }();
  static constexpr parts memory = parts_of(group);
  using axes = tile_axes<ceil_div(tile_rows, group), ceil_div(filter_vectors, vectors)>;

  /// Tiles that are multiplied at once: as many as the registers hold the sums of, in equal parts.
  static constexpr std::size_t at_once(std::size_t count, std::size_t vectors_at_once) {
    const std::size_t most = (register_count<Arch> - 2) / vectors_at_once - 1;
    return ceil_div(count, ceil_div(count, most));
  }

 public:
  static constexpr std::size_t scratch_bytes = round_up(memory.elements() * sizeof(value), 64);
  static constexpr std::size_t tiles = axes::tiles;

  template <class Parameters>
  winograd_conv(const Parameters& p, const Epilogue& epilogue) : epilogue_(epilogue) {
    for (std::size_t v = 0; v < filter_vectors; ++v) {
      const std::size_t first = v / vectors * vectors, width = std::min(vectors, filter_vectors - first) * lanes;
      value* const to = weight_.data() + first * lanes * Run::channels + (v - first) * lanes;
      const std::size_t there = std::min(lanes, Run::filters - v * lanes);
      for (std::size_t c = 0; c < Run::channels; ++c) {
        double window[3][3][lanes]{};
        for (std::size_t f = 0; f < there; ++f)
          for (std::size_t i = 0; i < 9; ++i) window[i / 3][i % 3][f] = Run::weight(p, v * lanes + f, c, i / 3, i % 3);
        winograd_weights<Results>(window, to + c * width, filters * Run::channels);
      }
      for (std::size_t f = 0; f < lanes; ++f) bias_[v * lanes + f] = f < there ? Run::bias(p, v * lanes + f) : value{0};
    }
  }

  /// `scale`: the factor of each channel, where the run scales its input.
  template <class Join = no_join>
  void operator()(const value* in, value* out, std::byte* scratch, const Join& join = {}, const value* scale = nullptr,
                  tile_range some = {0, tiles}) const {
    constexpr std::size_t whole = tile_rows / group;
    value* const to = reinterpret_cast<value*>(scratch);
    const tile_range of = axes::rows(some), columns = axes::columns(some);
    const tile_range v{columns.begin * vectors, std::min(columns.end * vectors, filter_vectors)};
    for (std::size_t g = of.begin; g < std::min(of.end, whole); ++g)
      rows<group>(in, scale, out, to, g * group, v, join);
    if constexpr (whole * group != tile_rows)
      if (of.end > whole) rows<tile_rows - whole * group>(in, scale, out, to, whole * group, v, join);
  }

 private:
  /// Calls `f(how many, the first)` for `vectors` vectors of filters after others, and for the rest.
  template <class F>
  LEVADA_INLINE static void for_some_vectors(tile_range of, const F& f) {
    for (std::size_t v = of.begin; v + vectors <= of.end; v += vectors)
      f(std::integral_constant<std::size_t, vectors>(), v);
    if constexpr (whole_vectors != filter_vectors)
      if (of.end == filter_vectors)
        f(std::integral_constant<std::size_t, filter_vectors - whole_vectors>(), whole_vectors);
  }

  /// `Rows` rows of tiles from the `y`-th, for some vectors of filters.
  template <std::size_t Rows, class Join>
  void rows(const value* in, const value* scale, value* out, value* scratch, std::size_t y, tile_range of,
            const Join& join) const {
    constexpr std::size_t count = Rows * tile_columns;
    value* const inputs = scratch;
    value* const transformed = inputs + memory.inputs;
    value* const products = transformed + memory.tiles;
    take(in, scale, inputs, y * Results, input_rows(Rows));
    for (std::size_t t = 0; t < count; ++t)
      for (std::size_t c = 0; c < channels; c += lanes)
        winograd_input<Arch, Results>(
            inputs + (t / tile_columns * Results * pitch + t % tile_columns * Results) * channels + c, pitch * channels,
            channels, transformed + t * stride + c, count * stride);
    for (std::size_t i = 0; i < all_products; ++i) {
      const value* const from = transformed + i * count * stride;
      const value* const weight = weight_.data() + i * filters * Run::channels;
      value* const to = products + i * filters * count;
      for_some_vectors(of, [&](auto some, std::size_t v) LEVADA_INLINE {
        multiply<some, count>(from, weight + v * lanes * Run::channels, to + v * lanes * count);
      });
    }
    value* const results = products + memory.products;
    for_some_vectors(of, [&](auto some, std::size_t v) LEVADA_INLINE {
      finish<some, Rows>(products + v * lanes * count, results, out, v, y, join);
    });
  }

  /// Rows of the padded input from the `first`-th as pixels of channels.
  static void take(const value* in, const value* scale, value* to, std::size_t first, std::size_t count) {
    constexpr std::size_t behind = pitch - w.left - Run::width;  // the padding, and what fills the last tile
    for (std::size_t r = 0; r < count; ++r, to += pitch * channels) {
      const std::size_t y = first + r;
      if (y < w.top || y >= w.top + Run::height) {
        std::fill_n(to, pitch * channels, value{0});
        continue;
      }
      std::fill_n(to, w.left * channels, value{0});
      std::fill_n(to + (pitch - behind) * channels, behind * channels, value{0});
      for (std::size_t c = 0; c < channels; c += lanes)
        for_each_vector<value, Arch, Run::width>(
            [&](std::size_t x) { turn<lanes>(in, scale, to, y - w.top, x, c); },
            [&](std::size_t x, auto n) { turn<n>(in, scale, to, y - w.top, x, c); });
    }
  }
  template <std::size_t Count>
  LEVADA_INLINE static void turn(const value* in, [[maybe_unused]] const value* scale, value* to, std::size_t y,
                                 std::size_t x, std::size_t c) {
    square<Arch, value> s;
    unrolled<lanes>([&](std::size_t i) LEVADA_INLINE {
      vec row = c + i < Run::channels ? load_part<Count, value, Arch>(in + ((c + i) * Run::height + y) * Run::width + x)
                                      : vec(value{0});
      if constexpr (scales_input<Run>)
        if (c + i < Run::channels) row *= vec(scale[c + i]);
      std::memcpy(&s.row[i], &row, sizeof s.row[i]);
    });
    s.transpose();
    unrolled<Count>([&](std::size_t i) LEVADA_INLINE {
      std::memcpy(to + (w.left + x + i) * channels + c, &s.row[i], sizeof s.row[i]);
    });
  }

  /// One of the products of all tiles, for `Vectors` vectors of filters. Each of the passes over their weights brings
  /// its share of those that come next.
  template <std::size_t Vectors, std::size_t Tiles>
  static void multiply(const value* from, const value* weight, value* to) {
    constexpr std::size_t some = at_once(Tiles, Vectors), whole = Tiles / some * some;
    constexpr std::size_t bytes = Vectors * lanes * sizeof(value);
    constexpr std::size_t ahead = streams_weights<all_products * Run::channels * filters * sizeof(value)>
                                      ? ceil_div(bytes, ceil_div(Tiles, some))
                                      : 0;
    auto next = reinterpret_cast<std::uintptr_t>(weight) + Run::channels * bytes;
    for (std::size_t t = 0; t < whole;
         t += some, from += some * stride, to += some * Vectors * lanes, next += Run::channels * ahead)
      winograd_product<Arch, some, Vectors, stride, ahead>(from, weight, Run::channels, to, next);
    if constexpr (whole != Tiles)
      winograd_product<Arch, Tiles - whole, Vectors, stride, ahead>(from, weight, Run::channels, to, next);
  }

  /// The results of `Rows` rows of tiles for `Vectors` vectors of filters.
  template <std::size_t Vectors, std::size_t Rows, class Join>
  [[gnu::noinline]] void finish(const value* products, value* results, value* out, std::size_t v, std::size_t y,
                                const Join& join) const {
    constexpr std::size_t count = Rows * tile_columns;
    const std::size_t first_row = y * Results;
    for (std::size_t t = 0; t < count; ++t) {
      const std::size_t row = t / tile_columns * Results, column = t % tile_columns * Results;
      for (std::size_t i = 0; i < Vectors; ++i)
        winograd_result<Arch, Results, Run::relu>(
            products + (t * Vectors + i) * lanes, count * filters, bias_.data() + (v + i) * lanes,
            results + ((row * Run::columns + column) * Vectors + i) * lanes, Run::columns * Vectors * lanes,
            Vectors * lanes, Run::rows - first_row - row, Run::columns - column);
    }
    if (first_row + Rows * Results <= Run::rows)
      store<Vectors, Rows * Results>(results, out, v, first_row, join);
    else
      store<Vectors, Run::rows - (tile_rows - Rows) * Results>(results, out, v, first_row, join);
  }

  /// `Rows` rows of results into the planes of the output.
  template <std::size_t Vectors, std::size_t Rows, class Join>
  void store(const value* results, value* out, std::size_t v, std::size_t y, const Join& join) const {
    const std::size_t first = v * lanes;
    to_planes<Arch, value, Rows * Run::columns, Vectors * lanes>(
        results, std::min(Vectors * lanes, Run::filters - first), out + (first * Run::rows + y) * Run::columns,
        Run::rows * Run::columns, [&](const vec& x, std::size_t c, std::size_t p, auto count) LEVADA_INLINE {
          return join(epilogue_.of_filter(x, first + c), first + c, y * Run::columns + p, count);
        });
  }

  tensor<value, all_products * Run::channels * filters> weight_;
  tensor<value, filters> bias_;
  [[no_unique_address]] Epilogue epilogue_;
};
template <class Arch, class Run, class Epilogue>
using conv_by_winograd = winograd_conv<Arch, Run, Epilogue, 4>;
template <class Arch, class Run, class Epilogue>
using conv_by_small_winograd = winograd_conv<Arch, Run, Epilogue, 2>;

}  // namespace levada::detail
