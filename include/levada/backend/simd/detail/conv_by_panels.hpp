// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv_by_panels.hpp: convolution of 1 x 1 windows as a product of matrices, with a vector along
// the pixels of the whole picture. Some pixels of all channels are packed into a panel, which all filters read from the
// nearest cache; a tile is some filters by the vectors of a panel. Results are written where they belong.

#include <algorithm>
#include <cstring>
#include <string_view>

#include <levada/backend/simd/detail/columns.hpp>
#include <levada/backend/simd/detail/conv_run.hpp>
#include <levada/backend/simd/detail/join.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/tile_range.hpp>

namespace levada::detail {

template <class Run>
inline constexpr bool takes_panels =
    std::same_as<typename Run::value, float> && std::same_as<typename Run::result, float> && Run::window.taps() == 1 &&
    Run::window.top == 0 && Run::window.left == 0 && Run::window.bottom == 0 && Run::window.right == 0 &&
    Run::pool.height * Run::pool.width == 1;

/// The size of a tile of conv_by_panels, and what it costs per channel for all pixels and filters.
struct panel_tiling {
  std::size_t filters = 1, vectors = 1, cost = ~std::size_t{0};
};

template <class Arch, class Run>
consteval panel_tiling best_panel_tiling() {
  panel_tiling best;
  const std::size_t all = ceil_div(Run::rows * Run::columns, lanes_in<float, Arch>);
  for (std::size_t v = 1; v <= std::min<std::size_t>(all, 4); ++v)
    for (std::size_t f = 1; f <= std::min<std::size_t>(Run::filters, 16); ++f) {
      if ((f + 1) * v + 1 > register_count<Arch>) continue;
      const std::size_t cost = blocks_cost(Run::filters, f, [&](std::size_t ff) {
        return blocks_cost(all, v, [&](std::size_t vv) { return tap_cost(ff * vv, ff + vv); });
      });
      if (cost <= best.cost) best = {f, v, cost};
    }
  return best;
}

template <class Arch, class Run, class Epilogue>
class conv_by_panels {
 public:
  using value = float;
  static constexpr std::string_view method = "product of packed panels";

 private:
  static constexpr window2d w = Run::window;
  static constexpr std::size_t lanes = lanes_in<value, Arch>, pixels = Run::rows * Run::columns,
                               plane = Run::height * Run::width;
  static constexpr panel_tiling tiling = best_panel_tiling<Arch, Run>();
  static constexpr std::size_t panel = tiling.vectors * lanes;
  static constexpr bool is_dense = w.stride_y == 1 && w.stride_x == 1;
  using vec = vector<value, Arch>;

  /// Channels whose part of a panel stays in the first-level cache beside the weights that pass.
  static constexpr std::size_t channel_block =
      ceil_div(Run::channels, ceil_div(Run::channels* panel * sizeof(value), std::size_t{16} << 10));
  static constexpr bool in_channel_blocks = channel_block < Run::channels;
  /// Panels that are packed at a time: as many as half a small second-level cache holds.
  static constexpr std::size_t group = std::clamp<std::size_t>(
      (std::size_t{128} << 10) / (Run::channels * panel * sizeof(value)), 1, std::max<std::size_t>(1, pixels / panel));
  /// Weights beyond the second-level cache are read once for a group.
  static constexpr bool filters_outside = Run::channels * Run::filters * sizeof(value) > (std::size_t{512} << 10);
  /// Of panels, the last of which may not be full, and tiles of filters.
  using axes = tile_axes<ceil_div(pixels, panel), ceil_div(Run::filters, tiling.filters)>;
  static constexpr std::size_t packed_elements = group * Run::channels * panel,
                               sum_elements = in_channel_blocks ? group * Run::filters * panel : 0;

 public:
  static constexpr std::size_t scratch_bytes = round_up((packed_elements + sum_elements) * sizeof(value), 64);
  static constexpr std::size_t tiles = axes::tiles;

  template <class Parameters>
  conv_by_panels(const Parameters& p, const Epilogue& epilogue) : epilogue_(epilogue) {
    std::size_t at = 0;
    for (std::size_t f = 0; f < Run::filters; f += tiling.filters)
      for (std::size_t c = 0; c < Run::channels; ++c)
        for (std::size_t i = f; i < std::min(f + tiling.filters, Run::filters); ++i)
          weight_[at++] = Run::weight(p, i, c, 0, 0);
    for (std::size_t f = 0; f < Run::filters; ++f) bias_[f] = Run::bias(p, f);
  }

  /// `scale`: the factor of each channel, where the run scales its input.
  template <class Join = no_join>
  void operator()(const value* in, value* out, std::byte* scratch, const Join& join = {}, const value* scale = nullptr,
                  tile_range some = {0, tiles}) const {
    constexpr std::size_t whole = pixels / panel, rest = pixels - whole * panel;
    value* const packed = reinterpret_cast<value*>(scratch);
    const tile_range of = axes::rows(some), tiles_of_filters = axes::columns(some);
    const tile_range filters{tiles_of_filters.begin * tiling.filters,
                             std::min(tiles_of_filters.end * tiling.filters, Run::filters)};
    for (std::size_t p = of.begin; p < std::min(of.end, whole); p += group) {
      const std::size_t count = std::min(group, std::min(of.end, whole) - p);
      for (std::size_t g = 0; g < count; ++g)
        pack<panel>(in, scale, (p + g) * panel, packed + g * Run::channels * panel);
      panels<tiling.vectors, lanes>(packed, out, p * panel, count, filters, join);
    }
    if constexpr (rest != 0) {
      if (of.end <= whole) return;
      constexpr std::size_t vectors = ceil_div(rest, lanes);
      pack<rest>(in, scale, whole * panel, packed);
      panels<vectors, rest - (vectors - 1) * lanes>(packed, out, whole * panel, 1, filters, join);
    }
  }

 private:
  /// `Count` pixels of all channels from the `first`, in whole vectors.
  template <std::size_t Count>
  static void pack(const value* in, [[maybe_unused]] const value* scale, std::size_t first, value* to) {
    constexpr std::size_t wide = round_up(Count, lanes);
    if constexpr (Count != wide) std::memset(to, 0, Run::channels * wide * sizeof(value));
    std::size_t from[is_dense ? 1 : Count];
    if constexpr (is_dense)
      from[0] = first;
    else
      for (std::size_t i = 0; i < Count; ++i)
        from[i] = (first + i) / Run::columns * w.stride_y * Run::width + (first + i) % Run::columns * w.stride_x;
    for (std::size_t c = 0; c < Run::channels; ++c, in += plane, to += wide) {
      if constexpr (!is_dense) {
        for (std::size_t i = 0; i < Count; ++i)
          if constexpr (scales_input<Run>)
            to[i] = in[from[i]] * scale[c];
          else
            to[i] = in[from[i]];
      } else if constexpr (scales_input<Run>) {
        copy_scaled<Arch>(in + from[0], to, std::integral_constant<std::size_t, Count>(), scale[c]);
      } else {
        std::memcpy(to, in + from[0], Count * sizeof(value));
      }
    }
  }

  /// The outputs of `count` panels from pixel `p`; of the last of the `Vectors` of each, `Last` lanes count.
  template <std::size_t Vectors, std::size_t Last, class Join>
  void panels(const value* packed, value* out, std::size_t p, std::size_t count, tile_range filters,
              const Join& join) const {
    constexpr std::size_t wide = Vectors * lanes;
    value* const sums = const_cast<value*>(packed) + packed_elements;
    for (std::size_t c = 0; c < Run::channels; c += channel_block) {
      const auto all_filters = [&](std::size_t g, std::size_t f) LEVADA_INLINE {
        const value* const from = packed + (g * Run::channels + c) * wide;
        value* const sum = sums + (g * Run::filters + f) * wide;
        if (f + tiling.filters <= Run::filters)
          tile<tiling.filters, Vectors, Last>(from, sum, out, c, f, p + g * wide, join);
        else if constexpr (Run::filters % tiling.filters != 0)
          tile<Run::filters % tiling.filters, Vectors, Last>(from, sum, out, c, f, p + g * wide, join);
      };
      if constexpr (filters_outside) {
        for (std::size_t f = filters.begin; f < filters.end; f += tiling.filters)
          for (std::size_t g = 0; g < count; ++g) all_filters(g, f);
      } else {
        for (std::size_t g = 0; g < count; ++g)
          for (std::size_t f = filters.begin; f < filters.end; f += tiling.filters) all_filters(g, f);
      }
    }
  }

  /// `Filters` by `Vectors` vectors of outputs: the channels from `c`, added to what is in `kept` already.
  template <std::size_t Filters, std::size_t Vectors, std::size_t Last, class Join>
  [[gnu::noinline]] void tile(const value* from, value* kept, value* out, std::size_t c, std::size_t f, std::size_t p,
                              const Join& join) const {
    constexpr std::size_t wide = Vectors * lanes;
    vec sum[Filters][Vectors];
    static_for<Filters, Vectors>([&](auto i, auto v) LEVADA_INLINE {
      sum[i][v] = in_channel_blocks && c != 0 ? vec::load_aligned(kept + i * wide + v * lanes) : vec(bias_[f + i]);
    });
    const value* k = weight_.data() + f * Run::channels + c * Filters;
    const std::size_t channels = in_channel_blocks ? std::min(channel_block, Run::channels - c) : Run::channels;
    for (std::size_t n = 0; n < channels; ++n, from += wide, k += Filters) {
      vec x[Vectors];
      static_for<Vectors>([&](auto v) LEVADA_INLINE { x[v] = vec::load_aligned(from + v * lanes); });
      static_for<Filters>([&](auto i) LEVADA_INLINE {
        const vec a(k[i]);
        static_for<Vectors>([&](auto v) LEVADA_INLINE { sum[i][v] = multiply_add(x[v], a, sum[i][v]); });
      });
    }
    if (in_channel_blocks && c + channel_block < Run::channels) {
      static_for<Filters, Vectors>([&](auto i, auto v)
                                       LEVADA_INLINE { sum[i][v].store_aligned(kept + i * wide + v * lanes); });
      return;
    }
    static_for<Filters, Vectors>([&](auto i, auto v) LEVADA_INLINE {
      const vec result = Run::relu ? relu_of(sum[i][v]) : sum[i][v];
      constexpr std::integral_constant<std::size_t, v + 1 == Vectors ? Last : lanes> count;
      store_part_as<count>(out + (f + i) * pixels + p + v * lanes,
                           join(epilogue_.of_filter(result, f + i), f + i, p + v * lanes, count));
    });
  }

  tensor<value, Run::filters * Run::channels> weight_;
  tensor<value, Run::filters> bias_;
  [[no_unique_address]] Epilogue epilogue_;
};

}  // namespace levada::detail
