// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv_transpose2d.hpp: conv_transpose2d (+ bias) (+ relu) (+ transforms) (+ flatten or reshape) as
// one kernel. With a stride of n, every n-th result of a row has the same taps: these results are a phase, which is a
// convolution with a stride of one. A tile computes all phases of some columns, since they read the same inputs, and
// stores them in turn.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string_view>

#include <levada/backend/simd/detail/conv_run.hpp>
#include <levada/graph/detail/tile_range.hpp>
#include <levada/nn/conv_transpose2d.hpp>

namespace levada {

namespace detail {

/// Phases and taps of a row are unrolled: others are computed by the definition.
template <class Conv>
inline constexpr bool has_few_phases = Conv::window.stride_x <= 8 && Conv::window.width <= 16;

/// How many filters and vectors of columns a tile has.
struct phase_tiling {
  std::size_t filters, vectors;
};

/// The tiling that needs fewest cycles for `filters` filters of a group and so many vectors of columns.
template <class Arch>
constexpr phase_tiling best_phase_tiling(std::size_t filters, std::size_t vectors, std::size_t phases, std::size_t taps,
                                         std::size_t shifts) {
  const std::size_t sums = register_count<Arch> - 4;
  phase_tiling best{1, 1};
  std::size_t least = 0;
  for (std::size_t f = 1; f <= std::min(filters, sums); ++f)
    for (std::size_t v = 1; v <= std::min(vectors, sums); ++v) {
      if (f * v * phases > sums) continue;
      const std::size_t tap = std::max(tap_cost(f * v * taps, v * shifts + f * taps), 9 * ceil_div(taps, phases));
      const std::size_t cost = ceil_div(filters, f) * ceil_div(vectors, v) * tap;
      if (least == 0 || cost < least) best = {f, v}, least = cost;
    }
  return best;
}

template <class Arch, class In, class Conv, class... Tail>
class conv_by_phases {
  using value = float;
  using vec = vector<value, Arch>;
  using out_type = typename Conv::template output<In>;
  using epilogue = epilogue_t<Arch, value, Tail...>;
  using place = std::ptrdiff_t;

  static constexpr window2d w = Conv::window;
  static constexpr op_tail tail = op_tail_of<Tail...>();
  static constexpr std::size_t lanes = lanes_in<value, Arch>;
  static constexpr std::size_t height = In::extents[1], width = In::extents[2];
  static constexpr std::size_t filters = Conv::filters / Conv::groups, channels = In::extents[0] / Conv::groups;
  static constexpr std::size_t rows = out_type::extents[1], columns = out_type::extents[2];

  /// A tap of a row adds to the results of its phase; for result `phases * i + phase` it reads input `i - shift`.
  static constexpr std::size_t phases = w.stride_x, shifts = (w.reach_x() - 1) / phases + 1;
  static constexpr std::size_t phase_of(std::size_t kx) { return kx * w.dilation_x % phases; }
  static constexpr std::size_t shift_of(std::size_t kx) { return kx * w.dilation_x / phases; }

  /// The first of each phase's results that are not padding, and how many there are.
  static constexpr std::size_t first = w.left / phases, count = (w.left + columns - 1) / phases - first + 1;
  static constexpr std::size_t vectors = ceil_div(count, lanes);
  static constexpr phase_tiling tiling = best_phase_tiling<Arch>(filters, vectors, phases, w.width, shifts);

  struct tap {
    std::size_t ky, row;
  };
  struct row_taps {
    tap at[w.height];
    std::size_t size = 0;
  };

 public:
  static constexpr std::string_view method = "transposed by phases";
  static constexpr std::size_t scratch_bytes = 0, tiles = rows;

  explicit conv_by_phases(const parameter_values& p, const Tail&... ops) : epilogue_(epilogue_of<Arch, value>(ops...)) {
    value* to = weight_;
    for (std::size_t g = 0; g < Conv::groups; ++g)
      for (std::size_t f = 0; f < filters; f += tiling.filters)
        for (std::size_t ky = 0; ky < w.height; ++ky)
          for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t kx = 0; kx < w.width; ++kx)
              for (std::size_t i = f; i < std::min(f + tiling.filters, filters); ++i)
                *to++ = p.get<value>(0)[(((g * channels + c) * filters + i) * w.height + ky) * w.width + kx];
    for (std::size_t f = 0; f < Conv::filters; ++f) bias_[f] = conv_run<In, Conv, Tail...>::bias(p, f);
  }

  void operator()(const value* in, value* out, tile_range some = {0, tiles}) const {
    for (std::size_t y = some.begin; y < some.end; ++y) {
      const row_taps taps = taps_of(y + w.top);
      for (std::size_t g = 0; g < Conv::groups; ++g) {
        const value* const group = in + g * channels * height * width;
        for (std::size_t f = 0; f + tiling.filters <= filters; f += tiling.filters)
          row<tiling.filters>(group, taps, g * filters + f, out, y);
        if constexpr (constexpr std::size_t rest = filters % tiling.filters; rest != 0)
          row<rest>(group, taps, (g + 1) * filters - rest, out, y);
      }
    }
  }

 private:
  /// What a row of the results with their padding gets: a row of the window and the input's row that it multiplies.
  static row_taps taps_of(std::size_t y) {
    row_taps taps;
    for (std::size_t ky = 0; ky < w.height && ky * w.dilation_y <= y; ++ky) {
      const std::size_t from = y - ky * w.dilation_y;
      if (from % w.stride_y == 0 && from / w.stride_y < height) taps.at[taps.size++] = {ky, from / w.stride_y};
    }
    return taps;
  }

  /// Row `y` of `Filters` filters.
  template <std::size_t Filters>
  void row(const value* group, const row_taps& taps, std::size_t f, value* out, std::size_t y) const {
    const auto of_tile = [&]<std::size_t Vectors>(std::size_t i, std::integral_constant<std::size_t, Vectors>) {
      if (is_whole<Vectors>(i))
        tile<Filters, Vectors, false>(group, taps, f, out, y, i);
      else
        tile<Filters, Vectors, true>(group, taps, f, out, y, i);
    };
    std::size_t v = 0;
    for (; v + tiling.vectors <= vectors; v += tiling.vectors)
      of_tile(first + v * lanes, std::integral_constant<std::size_t, tiling.vectors>());
    if constexpr (constexpr std::size_t rest = vectors % tiling.vectors; rest != 0)
      of_tile(first + v * lanes, std::integral_constant<std::size_t, rest>());
  }

  /// All that a tile reads lies on the picture, and all its results on that of the results.
  template <std::size_t Vectors>
  static constexpr bool is_whole(std::size_t i) {
    return i >= shifts - 1 && i + Vectors * lanes <= width && i * phases >= w.left &&
           (i + Vectors * lanes) * phases <= w.left + columns;
  }

  /// The results from the `i`-th of each phase on.
  template <std::size_t Filters, std::size_t Vectors, bool AtBorder>
  LEVADA_INLINE void tile(const value* group, const row_taps& taps, std::size_t f, value* out, std::size_t y,
                          std::size_t i) const {
    vec sum[Filters][phases][Vectors];
    unrolled<Filters, phases, Vectors>([&](std::size_t n, std::size_t phase, std::size_t v)
                                           LEVADA_INLINE { sum[n][phase][v] = vec(bias_[f + n]); });
    const tile_inputs<Vectors, AtBorder> inputs(static_cast<place>(i));
    const value* const weights = weight_ + f * channels * w.taps();
    for (std::size_t t = 0; t < taps.size; ++t) {
      const value* from = group + taps.at[t].row * width;
      const value* weight = weights + taps.at[t].ky * channels * w.width * Filters;
      for (std::size_t c = 0; c < channels; ++c, from += height * width, weight += w.width * Filters)
        static_for<shifts>([&](auto shift) LEVADA_INLINE {
          vec in[Vectors];
          unrolled<Vectors>([&](std::size_t v) LEVADA_INLINE { in[v] = inputs(from, shift, v); });
          static_for<w.width>([&](auto kx) LEVADA_INLINE {
            if constexpr (shift_of(kx) == shift)
              unrolled<Filters>([&](std::size_t n) LEVADA_INLINE {
                const vec k(weight[kx * Filters + n]);
                unrolled<Vectors>([&](std::size_t v) LEVADA_INLINE {
                  sum[n][phase_of(kx)][v] = multiply_add(in[v], k, sum[n][phase_of(kx)][v]);
                });
              });
          });
        });
    }
    unrolled<Filters, Vectors>([&](std::size_t n, std::size_t v) LEVADA_INLINE {
      vec results[phases];
      unrolled<phases>([&](std::size_t p) LEVADA_INLINE {
        const vec x = tail.relu ? relu_of(sum[n][p][v]) : sum[n][p][v];
        results[p] = epilogue_.of_filter(x, f + n);
      });
      store<AtBorder>(results, out + ((f + n) * rows + y) * columns, static_cast<place>((i + v * lanes) * phases));
    });
  }

  /// The results of all phases in turn, from column `at` of the row with its padding on.
  template <bool AtBorder>
  LEVADA_INLINE static void store(vec (&results)[phases], value* row, place at) {
    constexpr place left = w.left, end = left + place{columns};
    in_turn(results);
    unrolled<phases>([&](std::size_t p) LEVADA_INLINE {
      const place begin = at + static_cast<place>(p * lanes);
      if (!AtBorder || (begin >= left && begin + place{lanes} <= end)) {
        results[p].store_unaligned(row + (begin - left));
      } else {
        alignas(Arch::alignment()) value values[lanes];
        results[p].store_aligned(values);
        for (place x = std::max(begin, left); x < std::min(begin + place{lanes}, end); ++x)
          row[x - left] = values[x - begin];
      }
    });
  }

  /// Vectors of one phase each become vectors of neighbours.
  LEVADA_INLINE static void in_turn(vec (&results)[phases]) {
    if constexpr (phases == 2) {
      zip(results[0], results[1]);
    } else if constexpr (phases == 4) {
      zip(results[0], results[2]);
      zip(results[1], results[3]);
      zip(results[0], results[1]);
      zip(results[2], results[3]);
    } else if constexpr (phases != 1) {
      alignas(Arch::alignment()) value values[lanes], ordered[phases * lanes];
      for (std::size_t p = 0; p < phases; ++p) {
        results[p].store_aligned(values);
        for (std::size_t i = 0; i < lanes; ++i) ordered[i * phases + p] = values[i];
      }
      for (std::size_t p = 0; p < phases; ++p) results[p] = vec::load_aligned(ordered + p * lanes);
    }
  }
  LEVADA_INLINE static void zip(vec& a, vec& b) {
    const vec low = interleaved<false, value, Arch>(a, b);
    b = interleaved<true, value, Arch>(a, b);
    a = low;
  }

  /// The vectors that a tile reads of a row of the picture, with zeros beside it.
  template <std::size_t Vectors, bool AtBorder>
  class tile_inputs {
    struct lane_range {
      place first, end;
    };
    /// Which lanes of a vector from column `at` on lie on the picture.
    LEVADA_INLINE static auto on_picture(place at) {
      const lane_range some{std::clamp<place>(-at, 0, lanes), std::clamp<place>(place{width} - at, 0, lanes)};
      if constexpr (loads_some_lanes<value, Arch>)
        return some_lanes<value, Arch>(static_cast<std::size_t>(some.first), static_cast<std::size_t>(some.end));
      else
        return some;
    }

   public:
    LEVADA_INLINE explicit tile_inputs(place i) : first_(i) {
      if constexpr (AtBorder)
        unrolled<shifts, Vectors>([&](std::size_t shift, std::size_t v)
                                      LEVADA_INLINE { some_[shift][v] = on_picture(at(shift, v)); });
    }

    LEVADA_INLINE vec operator()(const value* row, std::size_t shift, std::size_t v) const {
      const value* const from = row + at(shift, v);
      vec loaded;
      if constexpr (!AtBorder) {
        loaded = load<value, Arch>(from);
      } else if constexpr (loads_some_lanes<value, Arch>) {
        loaded = load_lanes<value, Arch>(from, some_[shift][v]);
      } else {
        alignas(Arch::alignment()) value values[lanes]{};
        for (place i = some_[shift][v].first; i < some_[shift][v].end; ++i) values[i] = from[i];
        loaded = vec::load_aligned(values);
      }
      keep<value, Arch>(loaded);
      return loaded;
    }

   private:
    LEVADA_INLINE place at(std::size_t shift, std::size_t v) const {
      return first_ + static_cast<place>(v * lanes) - static_cast<place>(shift);
    }

    place first_;
    decltype(on_picture(0)) some_[AtBorder ? shifts : 1][Vectors];
  };

  value weight_[In::extents[0] * filters * w.taps()], bias_[Conv::filters];
  [[no_unique_address]] epilogue epilogue_;
};

/// Whether phases take a transposed convolution and what follows it.
template <class In, class Conv, class... Tail>
inline constexpr bool takes_phases =
    run_takes<In, Conv, Tail...> && std::same_as<typename In::value_type, float> && has_few_phases<Conv> &&
    op_tail_of<Tail...>().fuses && !op_tail_of<Tail...>().pooled && (fits_epilogue<float, Tail> && ...);

template <class Arch, class In, class Conv, class... Tail>
class simd_conv_transpose {
  using conv = conv_by_phases<Arch, In, Conv, Tail...>;

 public:
  using op_type = Conv;
  using out_type = run_output_t<In, Conv, Tail...>;
  static constexpr std::size_t scratch_bytes = conv::scratch_bytes, tiles = conv::tiles;
  static constexpr std::string_view method = conv::method;

  simd_conv_transpose(const Conv&, const Tail&... tail, parameter_values p) : conv_(p, tail...) {}

  void operator()(const In& in, out_type& out, std::byte*) const { conv_(in.data(), out.data()); }
  void of_tiles(const In& in, out_type& out, std::byte*, tile_range some) const { conv_(in.data(), out.data(), some); }

 private:
  conv conv_;
};

}  // namespace detail

// Alone, which is more special than its definition, and with what follows.
template <class Arch, class In, std::size_t Filters, class... Options>
  requires detail::takes_phases<In, conv_transpose2d_op<Filters, Options...>>
struct simd_kernel<Arch, In, conv_transpose2d_op<Filters, Options...>>
    : detail::simd_conv_transpose<Arch, In, conv_transpose2d_op<Filters, Options...>> {
  using simd_kernel::simd_conv_transpose::simd_conv_transpose;
};
template <class Arch, class In, std::size_t Filters, class... Options, class First, class... Rest>
  requires detail::takes_phases<In, conv_transpose2d_op<Filters, Options...>, First, Rest...>
struct simd_kernel<Arch, In, conv_transpose2d_op<Filters, Options...>, First, Rest...>
    : detail::simd_conv_transpose<Arch, In, conv_transpose2d_op<Filters, Options...>, First, Rest...> {
  using simd_kernel::simd_conv_transpose::simd_conv_transpose;
};

}  // namespace levada
