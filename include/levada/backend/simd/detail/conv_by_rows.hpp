// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv_by_rows.hpp: convolution of one channel by one filter, of which a depthwise convolution has
// many, with a vector along the width. The rows are copied with their padding (columns.hpp); a tile is some rows by few
// vectors, so that what is loaded of an input row serves all outputs whose windows have it.

#include <algorithm>
#include <concepts>

#include <levada/backend/simd/detail/columns.hpp>
#include <levada/backend/simd/detail/conv_run.hpp>
#include <levada/backend/simd/detail/join.hpp>

namespace levada::detail {

template <class Run>
inline constexpr bool takes_rows = std::same_as<typename Run::value, float> && Run::channels == 1 &&
                                   Run::filters == 1 && Run::pool.height * Run::pool.width == 1 && !scales_input<Run>;

template <class Arch, class Run, class Epilogue>
class conv_by_rows {
 public:
  using value = float;
  using out_value = typename Run::result;

 private:
  static constexpr window2d w = Run::window;
  static constexpr std::size_t lanes = lanes_in<value, Arch>;
  using vec = vector<value, Arch>;
  using row_type = column_row<Arch, value, Run::width, w.left, w.stride_x, Run::columns, w.reach_x()>;

  /// Weights of few taps stay in registers; others are loaded for two vectors at once.
  static constexpr bool keeps_weights = 2 * w.taps() <= register_count<Arch> + 2;
  static constexpr std::size_t vectors = ceil_div(Run::columns, lanes),
                               tile_vectors = keeps_weights ? 1 : std::min<std::size_t>(vectors, 2);
  static constexpr std::size_t most_rows =
      std::min<std::size_t>(8, (register_count<Arch> - 1 - (keeps_weights ? w.taps() : tile_vectors)) / tile_vectors);
  static constexpr std::size_t tile_rows = ceil_div(Run::rows, ceil_div(Run::rows, most_rows));

  /// The row of the window that lies on row `row` of what is read, for row `r` of the results; the window's height if
  /// none does.
  static constexpr std::size_t window_row(std::size_t row, std::size_t r) {
    const std::size_t first = r * w.stride_y;
    if (row < first || (row - first) % w.dilation_y != 0) return w.height;
    return std::min<std::size_t>((row - first) / w.dilation_y, w.height);
  }
  /// How many of the first `rows` rows of results have row `row` in their windows, and the first of these from `r` on.
  static constexpr std::size_t readers(std::size_t row, std::size_t rows) {
    std::size_t count = 0;
    for (std::size_t r = 0; r < rows; ++r) count += window_row(row, r) != w.height;
    return count;
  }
  static constexpr std::size_t reader(std::size_t row, std::size_t number) {
    std::size_t r = 0;
    while (window_row(row, r) == w.height || number-- != 0) ++r;
    return r;
  }

  /// Rows that so many rows of results read, those of the padding among them.
  static constexpr std::size_t rows_read(std::size_t rows) { return (rows - 1) * w.stride_y + w.reach_y(); }
  static constexpr std::size_t padded_rows = rows_read(Run::rows);

 public:
  static constexpr std::size_t scratch_bytes =
      round_up((padded_rows * row_type::pitch + 2 * row_type::slack) * sizeof(value), 64);

  template <class Parameters>
  conv_by_rows(const Parameters& p, const Epilogue& epilogue) : bias_(Run::bias(p, 0)), epilogue_(epilogue) {
    for (std::size_t y = 0; y < w.height; ++y)
      for (std::size_t x = 0; x < w.width; ++x) weight_[y * w.width + x] = Run::weight(p, 0, 0, y, x);
  }

  template <class Join = no_join>
  void operator()(const value* in, out_value* out, std::byte* scratch, const Join& join = {},
                  const value* = nullptr) const {
    value* const rows = reinterpret_cast<value*>(scratch);
    for (std::size_t r = 0; r < padded_rows; ++r) {
      value* const to = rows + r * row_type::pitch;
      if (r < w.top || r >= w.top + Run::height)
        std::fill_n(to, row_type::pitch, value{0});
      else
        row_type::fill(to, in + (r - w.top) * Run::width, value{0});
    }
    vec kept[keeps_weights ? w.taps() : 1];
    if constexpr (keeps_weights) unrolled<w.taps()>([&](std::size_t i) LEVADA_INLINE { kept[i] = vec(weight_[i]); });
    constexpr std::size_t whole = Run::rows / tile_rows * tile_rows;
    for (std::size_t y = 0; y < whole; y += tile_rows) some_rows<tile_rows>(rows, kept, out, y, join);
    if constexpr (whole != Run::rows) some_rows<Run::rows - whole>(rows, kept, out, whole, join);
  }

 private:
  template <std::size_t Rows, class Kept, class Join>
  LEVADA_INLINE void some_rows(const value* rows, const Kept& kept, out_value* out, std::size_t y,
                               const Join& join) const {
    constexpr std::size_t last = (vectors - 1) / tile_vectors * tile_vectors;
    for (std::size_t v = 0; v < last; v += tile_vectors)
      tile<Rows, tile_vectors, lanes>(rows, kept, out, y, v * lanes, join);
    tile<Rows, vectors - last, Run::columns - (vectors - 1) * lanes>(rows, kept, out, y, last * lanes, join);
  }

  /// `Rows` rows by `Vectors` vectors, of which the last has `Last` lanes that count.
  template <std::size_t Rows, std::size_t Vectors, std::size_t Last, class Kept, class Join>
  LEVADA_INLINE void tile(const value* rows, const Kept& kept, out_value* out, std::size_t y, std::size_t x,
                          const Join& join) const {
    vec sum[Rows][Vectors];
    unrolled<Rows, Vectors>([&](std::size_t r, std::size_t v) LEVADA_INLINE { sum[r][v] = vec(bias_); });
    const value* from = rows + y * w.stride_y * row_type::pitch + x;
    static_for<rows_read(Rows)>([&](auto row) LEVADA_INLINE {
      const auto add_tap = [&](std::size_t kx) LEVADA_INLINE {
        vec in[Vectors];
        unrolled<Vectors>([&](std::size_t v) LEVADA_INLINE {
          in[v] = load_once<value, Arch>(from + row * row_type::pitch + row_type::at(kx * w.dilation_x) + v * lanes);
        });
        static_for<readers(row, Rows)>([&](auto number) LEVADA_INLINE {
          constexpr std::size_t r = reader(row, number), first_tap = window_row(row, r) * w.width;
          const vec k = weight(kept, first_tap + kx);
          unrolled<Vectors>([&](std::size_t v)
                                LEVADA_INLINE { sum[r][v] = Run::template add_products<Arch>(in[v], k, sum[r][v]); });
        });
      };
      if constexpr (keeps_weights)
        unrolled<w.width>(add_tap);
      else
        for_each_tap<w.width>(add_tap);
    });
    unrolled<Rows>([&](std::size_t r) LEVADA_INLINE {
      static_for<Vectors>([&](auto v) LEVADA_INLINE {
        const std::size_t at = (y + r) * Run::columns + x + v * lanes;
        const vec result = Run::relu ? relu_of(sum[r][v]) : sum[r][v];
        constexpr std::integral_constant<std::size_t, v + 1 == Vectors ? Last : lanes> count;
        store_part_as<count>(out + at, join(epilogue_.of_filter(result, 0), 0, at, count));
      });
    });
  }

  /// The weight of a tap in all lanes.
  template <class Kept>
  LEVADA_INLINE vec weight([[maybe_unused]] const Kept& kept, std::size_t tap) const {
    if constexpr (keeps_weights)
      return kept[tap];
    else
      return vec(weight_[tap]);
  }

  value weight_[w.taps()], bias_;
  [[no_unique_address]] Epilogue epilogue_;
};

}  // namespace levada::detail
