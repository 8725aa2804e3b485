// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv_by_panels.hpp: convolution of 1 x 1 windows as a product of matrices, with a vector along
// the pixels of the whole picture. Some pixels of some channels are packed into a panel, which stays in the first-level
// cache while filters pass whose weights stay in the second (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", 2008); a tile is some filters by the vectors of a panel. Results are written where they belong.

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <levada/backend/simd/detail/columns.hpp>
#include <levada/backend/simd/detail/conv_run.hpp>
#include <levada/backend/simd/detail/join.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/tile_range.hpp>

namespace levada::detail {

template <class Run>
inline constexpr bool takes_panels = std::same_as<typename Run::value, float> && is_pointwise<Run>;

/// The size of a tile of conv_by_panels, and what it costs per channel for all pixels and filters.
struct panel_tiling {
  std::size_t filters = 1, vectors = 1, cost = ~std::size_t{0};
};

template <class Arch, class Run>
consteval panel_tiling best_panel_tiling() {
  panel_tiling best;
  const std::size_t all = ceil_div(Run::rows * Run::columns, lanes_in<float, Arch>);
  // A vector alone reads a weight for each multiply-add: measured, 0.7 of the rate of two.
  for (std::size_t v = std::min<std::size_t>(all, 4); v >= std::min<std::size_t>(all, 2); --v)
    for (std::size_t f = 1; f <= std::min<std::size_t>(Run::filters, 16); ++f) {
      if ((f + 1) * v + 2 > register_count<Arch>) continue;  // one stays free: without, g++ 12 spills
      const std::size_t cost = blocks_cost(Run::filters, f, [&](std::size_t ff) {
        // Panels come from the second-level cache: measured, twelve multiply-adds cover that, and nine do not.
        return blocks_cost(all, v,
                           [&](std::size_t vv) { return std::max(tap_cost(ff * vv, ff + vv), std::size_t{12}); });
      });
      if (cost <= best.cost) best = {f, v, cost};
    }
  return best;
}

/// The fewest panels that are whole rows which a front computes without others; 0: none are.
template <class Arch, class Run>
inline constexpr std::size_t panels_of_front = [] {
  constexpr std::size_t lanes = lanes_in<float, Arch>, panel = best_panel_tiling<Arch, Run>().vectors * lanes,
                        rows = Run::front::row_step;
  if (rows != 0 && Run::columns % lanes == 0 && Run::rows * Run::columns % panel == 0)
    for (std::size_t y = rows; y < Run::rows; y += rows)
      if (y * Run::columns % panel == 0) return y * Run::columns / panel;
  return std::size_t{0};
}();

template <class Arch, class Run, class Epilogue>
class conv_by_panels {
 public:
  using value = float;
  using out_value = typename Run::result;
  static constexpr std::string_view method = "product of packed panels";

 private:
  static constexpr window2d w = Run::window;
  static constexpr std::size_t lanes = lanes_in<value, Arch>, pixels = Run::rows * Run::columns,
                               plane = Run::height * Run::width;
  static constexpr panel_tiling tiling = best_panel_tiling<Arch, Run>();
  static constexpr std::size_t panel = tiling.vectors * lanes, panels = ceil_div(pixels, panel), whole = pixels / panel,
                               rest = pixels % panel;
  static constexpr bool is_dense = w.stride_y == 1 && w.stride_x == 1;
  using vec = vector<value, Arch>;

  /// Channels whose part of a panel stays in the first-level cache beside the weights that pass.
  static constexpr std::size_t channel_block = round_up(
      ceil_div(Run::channels, ceil_div(Run::channels* panel * sizeof(value), std::size_t{16} << 10)), channel_step);
  static constexpr bool in_channel_blocks = channel_block < Run::channels;
  /// A front writes a row of a channel in many panels: their lines lie in different sets of a cache.
  static constexpr std::size_t panel_elements = channel_block * panel + (filters_input<Run> ? 64 / sizeof(value) : 0);
  static constexpr bool is_streamed = streams_weights<Run::filters * Run::channels * sizeof(value)>;
  /// Such a picture does not stay in a second-level cache beside what is written.
  static constexpr bool fetches_pixels = is_dense && !filters_input<Run> &&
                                         Run::channels * plane * sizeof(value) > (std::size_t{512} << 10);
  /// Where few filters pass, the first tile of them packs the pixels that it takes. Planes whole pages apart meet in
  /// the same ways of a cache: of those some panels are read at a time.
  static constexpr bool packs_on_the_way = is_dense && !scales_input<Run> && !filters_input<Run> &&
                                           plane * sizeof(value) % 4096 != 0 && Run::filters >= tiling.filters &&
                                           Run::filters <= 8 * tiling.filters;
  /// Panels that a tile passes one after the other, and so writes along each plane of results: they stay in the
  /// first-level cache beside its weights.
  static constexpr std::size_t in_row =
      std::clamp<std::size_t>((std::size_t{16} << 10) / (panel_elements * sizeof(value)), 1, 16);
  /// Panels that are packed at a time, and filters whose weights pass them: each a part of a small second-level cache.
  /// Where weights stay there, it has the next panels and the results beside them.
  static constexpr std::size_t bytes_of_group =
      panel_elements * sizeof(value) +
      (is_streamed || filters_input<Run>
           ? 0
           : fetches_pixels * panel_elements * sizeof(value) + Run::filters * panel * sizeof(out_value));
  /// Panels that are packed at least, and whose multiples a part of the tiles may begin at.
  static constexpr std::size_t step = [] {
    if constexpr (filters_input<Run>)
      return panels_of_front<Arch, Run>;
    else
      return std::size_t{1};
  }();
  static constexpr std::size_t group =
      std::clamp<std::size_t>((std::size_t{192} << 10) / bytes_of_group / step * step, step, panels);
  static constexpr std::size_t filter_block =
      tiling.filters *
      std::max<std::size_t>(1, (std::size_t{128} << 10) / (channel_block * tiling.filters * sizeof(value)));
  /// Of panels, the last of which may not be full, and tiles of filters.
  static constexpr std::size_t filter_step = filters_input<Run> ? Run::filters : tiling.filters;
  using axes = tile_axes<ceil_div(panels, step), ceil_div(Run::filters, filter_step)>;
  static constexpr std::size_t packed_elements = group * panel_elements,
                               sum_elements = in_channel_blocks ? group * Run::filters * panel : 0;
  static constexpr std::size_t front_bytes = [] {
    if constexpr (filters_input<Run>)
      return Run::front::scratch_bytes;
    else
      return std::size_t{0};
  }();

 public:
  static constexpr std::size_t scratch_bytes =
      round_up((packed_elements + sum_elements) * sizeof(value), 64) + front_bytes;
  static constexpr std::size_t tiles = axes::tiles;

  template <class Parameters>
  conv_by_panels(const Parameters& p, const Epilogue& epilogue) : epilogue_(epilogue) {
    std::size_t at = 0;
    for (std::size_t first = 0; first < Run::channels; first += channel_block)
      for (std::size_t f = 0; f < Run::filters; f += tiling.filters)
        for (std::size_t c = first; c < first + channels_from(first); ++c)
          for (std::size_t i = f; i < std::min(f + tiling.filters, Run::filters); ++i)
            weight_[at++] = Run::weight(p, i, c, 0, 0);
    for (std::size_t f = 0; f < Run::filters; ++f) bias_[f] = Run::bias(p, f);
  }

  /// `change`: the factor of each channel, where the run scales its input, or the front that filters it.
  template <class Join = no_join, class Change = const value*>
  void operator()(const value* in, out_value* out, std::byte* scratch, const Join& join = {}, Change change = nullptr,
                  tile_range some = {0, tiles}) const {
    value* const packed = reinterpret_cast<value*>(scratch);
    value* const sums = packed + packed_elements;
    const tile_range steps = axes::rows(some), columns = axes::columns(some);
    const tile_range of{steps.begin * step, std::min(steps.end * step, panels)};
    const tile_range filters{columns.begin * filter_step, std::min(columns.end * filter_step, Run::filters)};
    for (std::size_t first = of.begin; first < of.end; first += group) {
      const std::size_t count = std::min(group, of.end - first);
      for (std::size_t c = 0; c < Run::channels; c += channel_block) {
        if constexpr (filters_input<Run>) {
          pack_filtered(in, *change, c, first, count, packed, scratch + scratch_bytes - front_bytes);
        } else if constexpr (packs_on_the_way) {
          if (rest != 0 && first + count > whole)
            pack(in, change, c, whole, 1, packed + (whole - first) * panel_elements);
        } else {
          for (std::size_t g = 0; g < count; g += side_by_side)
            pack(in, change, c, first + g, std::min(count - g, side_by_side), packed + g * panel_elements);
        }
        for (std::size_t f = filters.begin; f < filters.end; f += filter_block)
          for (std::size_t g = 0; g < count; g += in_row)
            of_panels({in, packed, sums, first, c, of.end, f == filters.begin}, {g, std::min(g + in_row, count)},
                      {f, std::min(f + filter_block, filters.end)}, out, join);
      }
    }
  }

 private:
  /// What filters pass: the channels from `channel` of a group of panels from the `first`.
  struct passed {
    const value* in;
    value *packed, *sums;
    std::size_t first, channel, end;  // of all panels
    bool is_first_pass;               // nothing was packed on the way yet
  };

  static std::size_t channels_from(std::size_t c) {
    return in_channel_blocks ? std::min(channel_block, Run::channels - c) : Run::channels;
  }

  /// What is packed next in the place of panel `g`, if anything is and it is brought ahead: its first channel. The
  /// first tiles bring it, a vector of each channel each.
  static const value* packed_next([[maybe_unused]] const passed& by, [[maybe_unused]] std::size_t g) {
    if constexpr (fetches_pixels) {
      if constexpr (in_channel_blocks)
        if (by.channel + channel_block < Run::channels)
          return by.in + (by.channel + channel_block) * plane + (by.first + g) * panel;
      if (by.first + group + g < by.end) return by.in + (by.first + group + g) * panel;
    }
    return nullptr;
  }

  /// Panels that are packed together: a page of the picture is visited once for them, and they fit the cache's ways.
  static constexpr std::size_t side_by_side = 4;

  /// `count` panels from the `first`, of the channels from `c`.
  static void pack(const value* in, const value* scale, std::size_t c, std::size_t first, std::size_t count,
                   value* to) {
    const std::size_t full = std::min(count, whole - std::min(whole, first));
    // Of a stride the pixels side by side, from the row of the first on to that of the last.
    std::array<value, is_dense ? 1 : side_by_side * panel + 2 * Run::columns> picked;
    for (std::size_t n = 0; n < channels_from(c); ++n) {
      const value* from = in + (c + n) * plane;
      if constexpr (is_dense)
        from += first * panel;
      else
        from = pick(from, first * panel, std::min((first + count) * panel, pixels), picked.data());
      for (std::size_t g = 0; g < full; ++g)
        pack_pixels<panel>(from + g * panel, scale, c + n, to + g * panel_elements + n * panel);
      if constexpr (rest != 0)
        if (full != count)
          pack_pixels<rest>(from + full * panel, scale, c + n, to + full * panel_elements + n * round_up(rest, lanes));
    }
  }

  /// The pixels of a plane from the `first` up to `end` that results read, and those before and behind them in their
  /// rows: where the first is.
  static const value* pick(const value* plane_of, std::size_t first, std::size_t end, value* to) {
    const std::size_t row = first / Run::columns;
    for (std::size_t y = row; y * Run::columns < end; ++y) {
      const value* const from = plane_of + y * w.stride_y * Run::width;
      value* const picked = to + (y - row) * Run::columns;
      if constexpr (w.stride_x == 2)
        copy_every_second<Arch, Run::columns, Run::width>(from, picked);
      else
        for (std::size_t x = 0; x < Run::columns; ++x) picked[x] = from[x * w.stride_x];
    }
    return to + first % Run::columns;
  }

  /// As `pack`, of what the front makes of the picture.
  template <class Front>
  static void pack_filtered(const value* in, const Front& front, std::size_t c, std::size_t first, std::size_t count,
                            value* to, std::byte* scratch) {
    const tile_range rows{first * panel / Run::columns, (first + count) * panel / Run::columns};
    for (std::size_t n = 0; n < channels_from(c); ++n, to += panel) {
      if (c + n + 1 < Run::channels) Front::fetch_rows(c + n + 1, in, rows);
      front.of_rows(
          c + n, in, [to](std::size_t at) LEVADA_INLINE { return to + at / panel * panel_elements + at % panel; },
          scratch, rows);
    }
  }

  /// `Count` pixels of channel `c`, in whole vectors.
  template <std::size_t Count>
  static void pack_pixels(const value* from, [[maybe_unused]] const value* scale, [[maybe_unused]] std::size_t c,
                          value* to) {
    if constexpr (scales_input<Run>)
      copy_scaled<Arch>(from, to, std::integral_constant<std::size_t, Count>(), scale[c]);
    else
      std::memcpy(to, from, Count * sizeof(value));
    for (std::size_t i = Count; i < round_up(Count, lanes); ++i) to[i] = 0;
  }

  /// Of some panels of a group.
  template <class Join>
  void of_panels(const passed& by, tile_range some, tile_range filters, out_value* out, const Join& join) const {
    for (std::size_t f = filters.begin; f < filters.end; f += tiling.filters)
      for (std::size_t g = some.begin; g < some.end; ++g) {
        if (f + tiling.filters <= Run::filters)
          of_filters<tiling.filters>(by, g, f, filters, out, join);
        else if constexpr (Run::filters % tiling.filters != 0)
          of_filters<Run::filters % tiling.filters>(by, g, f, filters, out, join);
      }
  }

  /// A tile of panel `g`, which may be the last one and not full.
  template <std::size_t Filters, class Join>
  void of_filters(const passed& by, std::size_t g, std::size_t f, tile_range filters, out_value* out,
                  const Join& join) const {
    if (rest != 0 && by.first + g >= whole) {
      if constexpr (rest != 0)
        tile<Filters, ceil_div(rest, lanes), (rest - 1) % lanes + 1, false>(by, g, f, filters, out, join);
      return;
    }
    if constexpr (packs_on_the_way && Filters == tiling.filters)
      if (by.is_first_pass && f == filters.begin)
        return tile<Filters, tiling.vectors, lanes, true>(by, g, f, filters, out, join);
    tile<Filters, tiling.vectors, lanes, false>(by, g, f, filters, out, join);
  }

  /// `Filters` by `Vectors` vectors of outputs, of the last of which `Last` lanes count: the channels of a pass, added
  /// to what is in the sums already. With `Packs` pixels are read from the picture and written to the panel.
  template <std::size_t Filters, std::size_t Vectors, std::size_t Last, bool Packs, class Join>
  [[gnu::noinline]] void tile(const passed& by, std::size_t g, std::size_t f, tile_range filters, out_value* out,
                              const Join& join) const {
    constexpr std::size_t wide = Vectors * lanes;
    const std::size_t c = by.channel, channels = channels_from(c), p = (by.first + g) * panel;
    const bool last = !in_channel_blocks || c + channel_block >= Run::channels;
    value* from = by.packed + g * panel_elements;
    value* const kept = by.sums + g * Run::filters * panel + f * wide;
    [[maybe_unused]] const value* picture = by.in + c * plane + p;
    out_value* const to = out + f * pixels + p;
    // Planes lie far apart: no prefetcher foresees where a tile is written.
    if (last)
      unrolled<Filters>([&](std::size_t i)
                            LEVADA_INLINE { __builtin_prefetch(to + i * pixels + wide - lanes + Last - 1, 1); });
    vec sum[Filters][Vectors];
    unrolled<Filters, Vectors>([&](std::size_t i, std::size_t v) LEVADA_INLINE {
      sum[i][v] = in_channel_blocks && c != 0 ? vec::load_aligned(kept + i * wide + v * lanes) : vec(bias_[f + i]);
    });
    const value* k = weight_.data() + c * Run::filters + f * channels;  // one tile behind the other
    const std::size_t t = (f - filters.begin) / tiling.filters;
    const value* const ahead = by.is_first_pass && t < tiling.vectors ? packed_next(by, g) : nullptr;
    [[maybe_unused]] auto pixels_ahead =
        reinterpret_cast<std::uintptr_t>(ahead != nullptr ? ahead + t * lanes : nullptr);
    // Each panel of a group brings its share of the weights that pass the group next.
    const std::size_t tile_bytes = tiling.filters * channels * sizeof(value);
    [[maybe_unused]] auto next =
        reinterpret_cast<std::uintptr_t>(weight_.data() + c * Run::filters + filters.end * channels) +
        (g * ceil_div(filters.end - filters.begin, tiling.filters) + t) * tile_bytes / group;
    const auto add = [&](value* panel_of, const value* k_of) LEVADA_INLINE {
      vec x[Vectors];
      const value* const pixels_of = Packs ? picture : panel_of;
      unrolled<Vectors>([&](std::size_t v) LEVADA_INLINE { x[v] = load_once<value, Arch>(pixels_of + v * lanes); });
      if constexpr (Packs) {
        unrolled<Vectors>([&](std::size_t v) LEVADA_INLINE { x[v].store_aligned(panel_of + v * lanes); });
        picture += plane;
      }
      unrolled<Filters>([&](std::size_t i) LEVADA_INLINE {
        const vec a(k_of[i]);
        unrolled<Vectors>([&](std::size_t v)
                              LEVADA_INLINE { sum[i][v] = Run::template add_products<Arch>(x[v], a, sum[i][v]); });
        outlive<value, Arch>(a);
      });
      unrolled<Vectors>([&](std::size_t v) LEVADA_INLINE { outlive<value, Arch>(x[v]); });
    };
    std::size_t n = 0;
    for (; n + channel_step <= channels; n += channel_step, from += channel_step * wide, k += channel_step * Filters) {
      if constexpr (is_streamed) fetch_ahead<channel_step * ceil_div(Filters * sizeof(value), group)>(next);
      if constexpr (fetches_pixels)
        if (pixels_ahead != 0)
          unrolled<channel_step>([&](std::size_t) LEVADA_INLINE {
            fetch_ahead(pixels_ahead);
            pixels_ahead += plane * sizeof(value);
          });
      unrolled<channel_step>([&](std::size_t j) LEVADA_INLINE { add(from + j * wide, k + j * Filters); });
    }
    if constexpr (Run::channels % channel_step != 0)
      for (; n < channels; ++n, from += wide, k += Filters) add(from, k);
    if (!last) {
      unrolled<Filters, Vectors>([&](std::size_t i, std::size_t v)
                                     LEVADA_INLINE { sum[i][v].store_aligned(kept + i * wide + v * lanes); });
      return;
    }
    unrolled<Filters>([&](std::size_t i) LEVADA_INLINE {
      static_for<Vectors>([&](auto v) LEVADA_INLINE {
        const vec result = Run::relu ? relu_of(sum[i][v]) : sum[i][v];
        constexpr std::integral_constant<std::size_t, v + 1 == Vectors ? Last : lanes> count;
        store_part_as<count>(to + i * pixels + v * lanes,
                             join(epilogue_.of_filter(result, f + i), f + i, p + v * lanes, count));
      });
    });
  }

  tensor<value, Run::filters * Run::channels> weight_;
  tensor<value, Run::filters> bias_;
  [[no_unique_address]] Epilogue epilogue_;
};

}  // namespace levada::detail
