// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv_by_channels.hpp: convolution with a vector along the filters: for as many filters as fill
// vectors.
// - A tile is some pixels by some vectors of filters. The weights of its filters lie side by side, and each input
//   element is broadcast.
// - Pixels that a pool joins are accumulated side by side and joined in registers. Outputs that it does not read are
//   not computed.
// - Some rows of results are transposed into the output's planes at a time.
// - A strip of rows that half a small L2 holds is packed and used by all filters before the next. Channels are taken in
//   blocks whose weights stay in that cache while the strip passes.

#include <levada/backend/simd/detail/columns.hpp>
#include <levada/backend/simd/detail/conv_run.hpp>
#include <levada/backend/simd/detail/join.hpp>
#include <levada/backend/simd/detail/transpose.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/tile_range.hpp>

namespace levada::detail {

/// The size of a tile of conv_by_channels, and what it costs per tap and row for the whole width and all filters.
/// `joined_rows`: so many rows of the picture are one.
struct channel_tiling {
  std::size_t pixels = 1, vectors = 1, joined_rows = 1, cost = ~std::size_t{0};
};

template <class Arch, class Run>
consteval channel_tiling best_channel_tiling(std::size_t columns) {
  channel_tiling best;
  const std::size_t all = ceil_div(Run::filters, lanes_in<typename Run::value, Arch>), joined = Run::pool.width;
  for (std::size_t v = std::min<std::size_t>(all, 4); v != 0; --v)
    for (std::size_t q = 1; q <= std::min<std::size_t>(columns, 28); ++q) {
      const std::size_t kept = Run::pool.height > 1 ? q * v : 0;
      // Beside a broadcast one stays free: without, g++ 12 spills.
      if (q * joined * v + v + (v > 1 ? 2 : 0) + kept + registers_of_products<Arch, Run> > register_count<Arch>)
        continue;
      const std::size_t cost = blocks_cost(columns, q, [&](std::size_t qq) {
        return blocks_cost(all, v, [&](std::size_t vv) { return tap_cost(qq * joined * vv, qq * joined + vv); });
      });
      if (cost <= best.cost) best = {q, v, 1, cost};
    }
  return best;
}

/// Rows of products that lie side by side are joined where that leaves fewer pixels over.
template <class Arch, class Run>
consteval channel_tiling best_channel_tiling() {
  channel_tiling best = best_channel_tiling<Arch, Run>(Run::columns);
  if (is_pointwise<Run> && Run::window.stride_y == 1 && Run::window.stride_x == 1)
    for (std::size_t n = 2; n <= Run::rows && n * Run::columns <= 64; ++n) {
      if (Run::rows % n != 0) continue;
      channel_tiling joined = best_channel_tiling<Arch, Run>(n * Run::columns);
      joined.joined_rows = n;
      joined.cost = ceil_div(joined.cost, n);
      if (joined.cost < best.cost) best = joined;
    }
  return best;
}

template <class Arch, class Run, class Epilogue>
class conv_by_channels {
 public:
  using value = typename Run::value;
  using out_value = typename Run::result;

 private:
  static constexpr window2d w = Run::window, pool = Run::pool;
  static constexpr std::size_t lanes = lanes_in<value, Arch>;
  static constexpr channel_tiling tiling = best_channel_tiling<Arch, Run>();
  // Of the output and of the picture, where some rows are one.
  static constexpr std::size_t all_rows = Run::rows / tiling.joined_rows,
                               all_columns = Run::columns * tiling.joined_rows,
                               in_height = Run::height / tiling.joined_rows, in_width = Run::width * tiling.joined_rows;
  static constexpr std::size_t filter_vectors = ceil_div(Run::filters, lanes),
                               whole_vectors = filter_vectors / tiling.vectors * tiling.vectors;
  static constexpr std::size_t whole_columns = all_columns / tiling.pixels * tiling.pixels;
  using vec = vector<value, Arch>;

  // Rows with the padding on their sides, which the right of one and the left of the next share.
  static constexpr std::size_t gap = std::max(w.left, w.right), pitch = in_width + gap;
  static constexpr std::size_t cache_bytes = 256 << 10;

  /// The input rows that so many output rows read.
  static constexpr std::size_t rows_read(std::size_t rows) {
    return std::min(in_height, ((rows - 1) * pool.stride_y + pool.height - 1) * w.stride_y + w.reach_y());
  }
  static constexpr bool fits_cache(std::size_t rows) {
    const std::size_t elements = packs_tiles ? rows * all_columns : rows_read(rows) * pitch;
    return Run::channels * elements * sizeof(value) <= cache_bytes;
  }

  /// Products read the pixels of a tile as they are packed, one channel behind the other: as few lines as can be.
  /// A line between tiles, so that they do not share the ways of a cache. Few filters pass too seldom to pay for it.
  static constexpr bool is_one_tile = all_rows == 1 && all_columns == tiling.pixels && w.stride_x == 1;
  static constexpr bool packs_tiles =
      is_pointwise<Run> && Run::channels > 8 && !is_one_tile && filter_vectors >= 8 * tiling.vectors;
  static constexpr std::size_t tiles_of_row = ceil_div(all_columns, tiling.pixels),
                               tile_pitch = Run::channels * tiling.pixels + 64 / sizeof(value);

  // Channels whose weights for one tile take no more than twice the strip's share; with windows of several taps, of
  // which each tile reads all, half a first-level cache. In whole rounds.
  static constexpr bool pools = pool.height * pool.width > 1;
  static constexpr std::size_t block_bytes = is_pointwise<Run> ? 2 * cache_bytes : 16 << 10;
  static constexpr std::size_t bytes_of_channel = w.taps() * tiling.vectors * lanes * sizeof(value);
  static constexpr std::size_t channel_block =
      pools ? Run::channels
            : round_up(ceil_div(Run::channels, ceil_div(Run::channels* bytes_of_channel, block_bytes)), channel_step);
  static constexpr bool in_channel_blocks = channel_block < Run::channels;

  // So many rows of results are transposed at once; channels in blocks keep the results of a strip.
  static constexpr std::size_t small_group = std::min(all_rows, std::max<std::size_t>(1, 4 * lanes / all_columns));
  static constexpr std::size_t strip_rows = [] {
    if (fits_cache(all_rows)) return all_rows;
    std::size_t rows = small_group;
    while (fits_cache(rows + small_group)) rows += small_group;
    return rows;
  }();
  static constexpr std::size_t row_group = in_channel_blocks ? strip_rows : small_group;
  static constexpr std::size_t result_elements = round_up(row_group * all_columns, lanes) * tiling.vectors * lanes;

  // Few planes without padding are read where they are.
  static constexpr bool packs =
      packs_tiles || scales_input<Run> || gap != 0 || (strip_rows < all_rows && Run::channels > 8);
  static constexpr std::size_t plane = (packs ? rows_read(strip_rows) : in_height) * pitch;
  using axes = tile_axes<ceil_div(all_rows, row_group), ceil_div(filter_vectors, tiling.vectors)>;
  static constexpr std::size_t packed_elements =
      packs_tiles ? round_up(strip_rows * tiles_of_row * tile_pitch, 64 / sizeof(value))
      : packs     ? round_up(w.left + Run::channels * plane, 64 / sizeof(value))
                  : 0;

 public:
  static constexpr std::size_t scratch_bytes = round_up((packed_elements + result_elements) * sizeof(value), 64);
  static constexpr std::size_t tiles = axes::tiles;

  template <class Parameters>
  conv_by_channels(const Parameters& p, const Epilogue& epilogue) : epilogue_(epilogue) {
    std::size_t at = 0;
    for (std::size_t v = 0; v < filter_vectors; v += tiling.vectors)
      for (std::size_t c = 0; c < Run::channels; ++c)
        for (std::size_t ky = 0; ky < w.height; ++ky)
          for (std::size_t kx = 0; kx < w.width; ++kx)
            for (std::size_t f = v * lanes; f < std::min(v + tiling.vectors, filter_vectors) * lanes; ++f)
              weight_[at++] = f < Run::filters ? Run::weight(p, f, c, ky, kx) : value{0};
    for (std::size_t f = 0; f < filter_vectors * lanes; ++f) bias_[f] = f < Run::filters ? Run::bias(p, f) : value{0};
  }

  /// `scale`: the factor of each channel, where the run scales its input.
  template <class Join = no_join>
  void operator()(const value* in, out_value* out, std::byte* scratch, const Join& join = {},
                  const value* scale = nullptr, tile_range some = {0, tiles}) const {
    value* memory = reinterpret_cast<value*>(scratch);
    const tile_range groups = axes::rows(some), columns = axes::columns(some);
    const tile_range v{columns.begin * tiling.vectors, std::min(columns.end * tiling.vectors, filter_vectors)};
    const std::size_t end = std::min(groups.end * row_group, all_rows);
    for (std::size_t y = groups.begin * row_group; y < end; y += strip_rows)
      strip(in, scale, out, memory, y, std::min(strip_rows, end - y), v, join);
  }

 private:
  /// Where the input of some outputs is: all channels from row `first_row` of the picture on, or tiles from that row of
  /// the output on.
  struct input {
    const value* data;
    std::size_t first_row;
  };

  /// `count` rows of the output from row `y`, for some vectors of filters.
  template <class Join>
  void strip(const value* in, [[maybe_unused]] const value* scale, out_value* out, value* memory, std::size_t y,
             std::size_t count, tile_range of, const Join& join) const {
    input from{in, 0};
    if constexpr (packs_tiles) {
      from = {memory, y};
      for (std::size_t r = 0; r < count; ++r) pack_tiles(in, scale, memory + r * tiles_of_row * tile_pitch, y + r);
    } else if constexpr (packs) {
      const std::size_t top = y * pool.stride_y * w.stride_y;
      from = {memory, top < w.top ? 0 : top - w.top};
      pack(in, scale, memory, from.first_row, std::min(rows_read(count), in_height - from.first_row));
    }
    value* results = memory + packed_elements;
    for (std::size_t v = of.begin; v + tiling.vectors <= of.end; v += tiling.vectors)
      filters<tiling.vectors>(from, out, results, v, y, count, join);
    if constexpr (whole_vectors != filter_vectors)
      if (of.end == filter_vectors)
        filters<filter_vectors - whole_vectors>(from, out, results, whole_vectors, y, count, join);
  }

  static void pack(const value* in, [[maybe_unused]] const value* scale, value* packed, std::size_t first_row,
                   std::size_t rows) {
    for (std::size_t c = 0; c < Run::channels; ++c) {
      for (std::size_t x = 0; x < w.left; ++x) packed[c * plane + x] = 0;  // beside the first row
      const value* from = in + (c * in_height + first_row) * in_width;
      value* to = packed + w.left + c * plane;
      if constexpr (scales_input<Run> && gap == 0) {
        copy_scaled<Arch>(from, to, rows * in_width, scale[c]);
      } else {
        for (std::size_t r = 0; r < rows; ++r, from += in_width, to += pitch) {
          if constexpr (scales_input<Run>)
            copy_scaled<Arch>(from, to, std::integral_constant<std::size_t, in_width>(), scale[c]);
          else
            std::memcpy(to, from, in_width * sizeof(value));
          for (std::size_t x = in_width; x < pitch; ++x) to[x] = 0;
        }
      }
    }
  }

  /// The tiles of row `y` of the output.
  static void pack_tiles(const value* in, const value* scale, value* to, std::size_t y) {
    const value* from = in + y * w.stride_y * in_width;
    for (std::size_t c = 0; c < Run::channels; ++c, from += in_height * in_width) {
      for (std::size_t x = 0; x < whole_columns; x += tiling.pixels)
        pack_pixels<tiling.pixels>(from + x * w.stride_x, scale, c, to + x / tiling.pixels * tile_pitch);
      if constexpr (whole_columns != all_columns)
        pack_pixels<all_columns - whole_columns>(from + whole_columns * w.stride_x, scale, c,
                                                 to + (tiles_of_row - 1) * tile_pitch);
    }
  }
  template <std::size_t Pixels>
  LEVADA_INLINE static void pack_pixels(const value* from, [[maybe_unused]] const value* scale, std::size_t c,
                                        value* tile) {
    value* const to = tile + c * Pixels;
    if constexpr (w.stride_x != 1) {
      for (std::size_t i = 0; i < Pixels; ++i)
        if constexpr (scales_input<Run>)
          to[i] = from[i * w.stride_x] * scale[c];
        else
          to[i] = from[i * w.stride_x];
    } else if constexpr (scales_input<Run>) {
      copy_scaled<Arch>(from, to, std::integral_constant<std::size_t, Pixels>(), scale[c]);
    } else {
      std::memcpy(to, from, Pixels * sizeof(value));
    }
  }

  /// `count` rows of the output for `Vectors` vectors of filters from vector `v`.
  template <std::size_t Vectors, class Join>
  void filters(input in, out_value* out, value* results, std::size_t v, std::size_t y, std::size_t count,
               const Join& join) const {
    std::size_t r = 0;
    for (; r + row_group <= count; r += row_group) rows<Vectors, row_group>(in, out, results, v, y + r, join);
    if constexpr (all_rows % row_group != 0)
      if (r != count) rows<Vectors, all_rows % row_group>(in, out, results, v, y + r, join);
  }

  template <std::size_t Vectors, std::size_t Rows, class Join>
  void rows(input in, out_value* out, value* results, std::size_t v, std::size_t y, const Join& join) const {
    for (std::size_t c = 0; c < Run::channels; c += channel_block) {
      value* to = results;
      for (std::size_t r = 0; r < Rows; ++r) {
        for (std::size_t x = 0; x < whole_columns; x += tiling.pixels, to += tiling.pixels * Vectors * lanes)
          tile<tiling.pixels, Vectors>(in, to, v, c, y + r, x);
        if constexpr (whole_columns != all_columns) {
          tile<all_columns - whole_columns, Vectors>(in, to, v, c, y + r, whole_columns);
          to += (all_columns - whole_columns) * Vectors * lanes;
        }
      }
    }
    const std::size_t first = v * lanes;
    to_planes<Arch, value, Rows * all_columns, Vectors * lanes>(
        results, std::min(Vectors * lanes, Run::filters - first), out + (first * all_rows + y) * all_columns,
        all_rows * all_columns, [&](const vec& x, std::size_t c, std::size_t p, auto count) LEVADA_INLINE {
          return join(x, first + c, y * all_columns + p, count);
        });
  }

  /// `Pixels` outputs of a row by `Vectors` vectors of filters, to `to[pixel][filter]`: the channels from `c`, added to
  /// what is there already. A function by itself: inlined beside a join, g++ 12 keeps sums in memory.
  template <std::size_t Pixels, std::size_t Vectors>
  [[gnu::noinline]] void tile(input in, value* to, std::size_t v, std::size_t c, std::size_t y, std::size_t x) const {
    vec largest[Pixels][Vectors];
    for (std::size_t py = 0; py < pool.height; ++py) {
      vec sum[Pixels][pool.width][Vectors];
      vec b[Vectors];
      unrolled<Vectors>([&](std::size_t i) LEVADA_INLINE { b[i] = vec::load_aligned(bias_.data() + (v + i) * lanes); });
      unrolled<Pixels, pool.width, Vectors>([&](std::size_t q, std::size_t px, std::size_t i) LEVADA_INLINE {
        sum[q][px][i] = in_channel_blocks && c != 0 ? vec::load_aligned(to + (q * Vectors + i) * lanes) : b[i];
      });
      accumulate<Pixels, Vectors>(in, v, c, y * pool.stride_y + py, x * pool.stride_x, sum);
      unrolled<Pixels, pool.width, Vectors>([&](std::size_t q, std::size_t px, std::size_t i) LEVADA_INLINE {
        largest[q][i] = px == 0 && py == 0 ? sum[q][px][i] : maximum(largest[q][i], sum[q][px][i]);
      });
    }
    const bool done = !in_channel_blocks || c + channel_block >= Run::channels;
    unrolled<Pixels, Vectors>([&](std::size_t q, std::size_t i) LEVADA_INLINE {
      vec result = Run::relu && done ? relu_of(largest[q][i]) : largest[q][i];
      if (done) result = epilogue_.of_filters(result, (v + i) * lanes);
      result.store_aligned(to + (q * Vectors + i) * lanes);
    });
  }

  template <std::size_t Pixels, std::size_t Vectors>
  LEVADA_INLINE void accumulate(input in, std::size_t v, std::size_t first_channel, std::size_t conv_y,
                                std::size_t column, vec (&sum)[Pixels][pool.width][Vectors]) const {
    const auto taps = Run::taps_of(conv_y);
    if (taps.first >= taps.end) return;
    const value* weight = weight_.data() + v * lanes * Run::channels * w.taps();
    const std::size_t end = in_channel_blocks ? std::min(first_channel + channel_block, Run::channels) : Run::channels;
    [[maybe_unused]] constexpr std::size_t share = ceil_div(Vectors * lanes * sizeof(value), tiles_of_group);
    [[maybe_unused]] auto next =
        reinterpret_cast<std::uintptr_t>(weight + end * w.taps() * Vectors * lanes) +
        ((packs_tiles ? conv_y - in.first_row : conv_y) * tiles_of_row + column / tiling.pixels) *
            (end - first_channel) * w.taps() * share;
    const value* const tile =
        in.data + ((conv_y - in.first_row) * tiles_of_row + column / tiling.pixels) * (packs_tiles ? tile_pitch : 0);
    // One tap of a channel.
    const auto add = [&](const value* row, const value* k) LEVADA_INLINE {
      vec a[Vectors];
      unrolled<Vectors>([&](std::size_t i) LEVADA_INLINE { a[i] = load_once<value, Arch>(k + i * lanes); });
      unrolled<Pixels, pool.width>([&](std::size_t q, std::size_t px) LEVADA_INLINE {
        const vec b(row[(q * pool.stride_x + px) * (packs_tiles ? 1 : w.stride_x)]);
        unrolled<Vectors>([&](std::size_t i) LEVADA_INLINE {
          sum[q][px][i] = Run::template add_products<Arch>(b, a[i], sum[q][px][i]);
        });
        if constexpr (Vectors > 1) outlive<value, Arch>(b);
      });
      if constexpr (Vectors > 1) unrolled<Vectors>([&](std::size_t i) LEVADA_INLINE { outlive<value, Arch>(a[i]); });
    };
    if constexpr (is_pointwise<Run>) {
      constexpr std::size_t pitch_of_channel = packs_tiles ? Pixels : plane;
      const value* row = (packs_tiles ? tile : in.data + (taps.row - in.first_row) * pitch + column * w.stride_x) +
                         first_channel * pitch_of_channel;
      const value* k = weight + first_channel * Vectors * lanes;
      std::size_t c = first_channel;
      for (; c + channel_step <= end; c += channel_step) {
        if constexpr (is_streamed) fetch_ahead<channel_step * share>(next);
        unrolled<channel_step>([&](std::size_t j)
                                   LEVADA_INLINE { add(row + j * pitch_of_channel, k + j * Vectors * lanes); });
        row += channel_step * pitch_of_channel;
        k += channel_step * Vectors * lanes;
      }
      if constexpr (Run::channels % channel_step != 0)
        for (; c < end; ++c, row += pitch_of_channel, k += Vectors * lanes) add(row, k);
    } else {
      for (std::size_t c = first_channel; c < end; ++c) {
        const value* row = in.data + c * plane + (taps.row - in.first_row) * pitch + column * w.stride_x;
        const value* k = weight + (c * w.height + taps.first) * w.width * Vectors * lanes;
        for (std::size_t ky = taps.first; ky < taps.end; ++ky) {
          const auto tap = [&](std::size_t kx) LEVADA_INLINE {
            if constexpr (is_streamed) fetch_ahead<share>(next);
            add(row + kx * w.dilation_x, k + kx * Vectors * lanes);
          };
          // Unrolled, neighbouring taps share broadcasts. With several vectors these are used often enough, and g++
          // would keep more of them than there are registers: it is not told that the rows are the same.
          if constexpr (Vectors == 1)
            for_each_tap<w.width>(tap);
          else
            for (std::size_t kx = 0; kx < w.width; ++kx) {
              tap(kx);
              asm("" : "+r"(row));
            }
          row += w.dilation_y * pitch;
          k += w.width * Vectors * lanes;
        }
      }
    }
  }

  /// Where the picture's rows are one group, or tiles are packed, tiles bring the weights that come next, each its
  /// share.
  static constexpr bool is_streamed =
      streams_weights<filter_vectors * lanes * Run::channels * w.taps() * sizeof(value)> &&
      (row_group == all_rows || packs_tiles) && pool.height * pool.width == 1;
  static constexpr std::size_t tiles_of_group = (packs_tiles ? strip_rows : row_group) * tiles_of_row;

  tensor<value, filter_vectors * lanes * Run::channels * w.taps()> weight_;
  tensor<value, filter_vectors * lanes> bias_;
  [[no_unique_address]] Epilogue epilogue_;
};

}  // namespace levada::detail
