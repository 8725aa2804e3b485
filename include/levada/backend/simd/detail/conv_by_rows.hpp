// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv_by_rows.hpp: convolution of one channel by one filter, of which a depthwise convolution has
// many, with a vector along the width. The rows are read in place where the instruction set loads some lanes of a
// vector, and else copied with their padding (columns.hpp). A tile is some rows by few vectors, so that what is loaded
// of an input row serves all outputs whose windows have it.

#include <algorithm>
#include <concepts>

#include <levada/backend/simd/detail/columns.hpp>
#include <levada/backend/simd/detail/conv_run.hpp>
#include <levada/backend/simd/detail/join.hpp>
#include <levada/graph/detail/tile_range.hpp>

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
  /// The padding is the lanes that are not loaded, and a row of zeros. Of two vectors a stride of two picks every
  /// second element. (Where weights are loaded, too, a stride of one gains nothing by it.)
  static constexpr bool in_place =
      (w.stride_x == 1 ? keeps_weights : w.stride_x == 2 && w.width <= 7) && loads_some_lanes<value, Arch>;
  static constexpr std::size_t picked_vectors = in_place && w.stride_x == 2 ? 2 : 0;

  static constexpr std::size_t vectors = ceil_div(Run::columns, lanes),
                               tile_vectors = keeps_weights ? 1 : std::min<std::size_t>(vectors, 2);
  static constexpr std::size_t most_rows = std::min<std::size_t>(
      8, (register_count<Arch> - 1 - picked_vectors - (keeps_weights ? w.taps() : tile_vectors)) / tile_vectors);
  static constexpr std::size_t tile_rows = ceil_div(Run::rows, ceil_div(Run::rows, most_rows));

  /// Each tile is compiled by itself, and those at the upper and lower border leave out the rows of the padding.
  static constexpr bool has_few_tiles = in_place && Run::rows <= 3 * tile_rows;

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

  /// The tiles of a row whose vectors lie on the picture for all taps: others have some lanes of theirs.
  static constexpr std::size_t tiles = ceil_div(vectors, tile_vectors), tile_step = tile_vectors * lanes * w.stride_x;
  static constexpr std::size_t whole_begin = in_place ? std::min(tiles - 1, ceil_div(w.left, tile_step)) : 0;
  static constexpr std::size_t whole_end = [] {
    constexpr std::size_t last_tap = (w.reach_x() - 1) / w.stride_x * w.stride_x;
    std::size_t end = tiles - 1;
    while (in_place && end > whole_begin && end * tile_step + last_tap > Run::width + w.left) --end;
    return end;
  }();

 public:
  static constexpr std::size_t scratch_bytes =
      round_up((in_place ? Run::width : padded_rows * row_type::pitch + 2 * row_type::slack) * sizeof(value), 64);
  /// Rows that are computed without others are as many, or to the last one.
  static constexpr std::size_t row_step = in_place ? tile_rows : Run::rows;

  template <class Parameters>
  conv_by_rows(const Parameters& p, const Epilogue& epilogue) : bias_(Run::bias(p, 0)), epilogue_(epilogue) {
    for (std::size_t y = 0; y < w.height; ++y)
      for (std::size_t x = 0; x < w.width; ++x) weight_[y * w.width + x] = Run::weight(p, 0, 0, y, x);
  }

  template <class Join = no_join>
  void operator()(const value* in, out_value* out, std::byte* scratch, const Join& join = {},
                  const value* = nullptr) const {
    of_rows(
        in, [out](std::size_t at) LEVADA_INLINE { return out + at; }, scratch, {0, Run::rows}, join);
  }

  /// Brings what those rows read nearer.
  static void fetch_rows(const value* in, tile_range some) {
    const std::size_t first = some.begin * w.stride_y, behind = first + rows_read(some.end - some.begin);
    const value* const end = in + std::min(std::max(behind, w.top) - w.top, Run::height) * Run::width;
    for (const value* at = in + (std::max(first, w.top) - w.top) * Run::width; at < end; at += 64 / sizeof(value))
      __builtin_prefetch(at);
  }

  /// Some rows, which begin and end at steps; `place` says where the result of a number goes, counted from the first of
  /// them on, and with it a vector of them.
  template <class Place, class Join = no_join>
  LEVADA_INLINE void of_rows(const value* in, const Place& place, std::byte* scratch, tile_range some,
                             const Join& join = {}) const {
    value* const rows = reinterpret_cast<value*>(scratch);
    if constexpr (in_place) {
      const bool has_padding = some.begin * w.stride_y < w.top || rows_read(some.end) > w.top + Run::height;
      if (!has_few_tiles && has_padding) std::fill_n(rows, Run::width, value{0});
    } else {
      for (std::size_t r = 0; r < padded_rows; ++r) {
        value* const to = rows + r * row_type::pitch;
        if (is_outside(r))
          std::fill_n(to, row_type::pitch, value{0});
        else
          row_type::fill(to, in + (r - w.top) * Run::width, value{0});
      }
    }
    vec kept[keeps_weights ? w.taps() : 1];
    if constexpr (keeps_weights) unrolled<w.taps()>([&](std::size_t i) LEVADA_INLINE { kept[i] = vec(weight_[i]); });
    constexpr std::size_t above_last = (Run::rows - 1) / tile_rows * tile_rows;
    const auto row_place = [&](std::size_t y) LEVADA_INLINE {
      return [&place, first = (y - some.begin) * Run::columns](std::size_t at)
                 LEVADA_INLINE { return place(first + at); };
    };
    if constexpr (above_last != 0) {
      const auto rows_from = [&](std::size_t y)
                                 LEVADA_INLINE { some_rows<tile_rows, false>(in, rows, kept, row_place(y), y, join); };
      if constexpr (has_few_tiles)
        unrolled<above_last / tile_rows>([&](std::size_t i) LEVADA_INLINE {
          if (i * tile_rows >= some.begin && i * tile_rows < some.end) rows_from(i * tile_rows);
        });
      else
        for (std::size_t y = some.begin; y < std::min(some.end, above_last); y += tile_rows) rows_from(y);
    }
    if (some.end > above_last)
      some_rows<Run::rows - above_last, true>(in, rows, kept, row_place(above_last), above_last, join);
  }

 private:
  static constexpr bool is_outside(std::size_t padded_row) {
    return padded_row < w.top || padded_row >= w.top + Run::height;
  }

  /// `scratch`: the rows with their padding; in place one row of zeros, which few tiles do not read. `place` counts
  /// from row `y` on.
  template <std::size_t Rows, bool AreLast, class Kept, class Place, class Join>
  LEVADA_INLINE void some_rows(const value* in, const value* scratch, const Kept& kept, const Place& place,
                               std::size_t y, const Join& join) const {
    const value* rows[rows_read(Rows)];
    for (std::size_t r = 0; r < rows_read(Rows); ++r) {
      const std::size_t row = y * w.stride_y + r;
      if constexpr (in_place)
        rows[r] = is_outside(row) ? scratch : in + (row - w.top) * Run::width;
      else
        rows[r] = scratch + row * row_type::pitch;
    }
    const auto tile_at = [&](auto at_border, std::size_t number) LEVADA_INLINE {
      tile<Rows, tile_vectors, AreLast, at_border>(rows, kept, place, y, number * tile_vectors * lanes, join);
    };
    // The last ones first: behind a row they write the first results of the next (`is_stored_whole`).
    constexpr std::size_t last = (tiles - 1) * tile_vectors;
    tile<Rows, vectors - last, AreLast, true>(rows, kept, place, y, last * lanes, join);
    for (std::size_t number = whole_end; number < tiles - 1; ++number) tile_at(std::true_type(), number);
    for (std::size_t number = whole_begin; number < whole_end; ++number) tile_at(std::false_type(), number);
    for (std::size_t number = 0; number < whole_begin; ++number) tile_at(std::true_type(), number);
  }

  /// `Rows` rows by `Vectors` vectors from row `y` and column `x` on. At a border lanes may lie in the padding.
  template <std::size_t Rows, std::size_t Vectors, bool AreLast, bool AtBorder, class Kept, class Place, class Join>
  LEVADA_INLINE void tile(const value* const* rows, const Kept& kept, const Place& place, std::size_t y, std::size_t x,
                          const Join& join) const {
    vec sum[Rows][Vectors];
    unrolled<Rows, Vectors>([&](std::size_t r, std::size_t v) LEVADA_INLINE { sum[r][v] = vec(bias_); });
    const tile_inputs<Vectors, AtBorder && in_place> inputs(x);
    static_for<rows_read(Rows)>([&](auto row) LEVADA_INLINE {
      if (has_few_tiles && is_outside(y * w.stride_y + row)) return;
      const auto add_tap = [&](std::size_t kx) LEVADA_INLINE {
        vec in[Vectors];
        unrolled<Vectors>([&](std::size_t v) LEVADA_INLINE { in[v] = inputs(rows[row], kx, v); });
        static_for<readers(row, Rows)>([&](auto number) LEVADA_INLINE {
          constexpr std::size_t r = reader(row, number), first_tap = window_row(row, r) * w.width;
          const vec k = weight(kept, first_tap + kx);
          unrolled<Vectors>([&](std::size_t v)
                                LEVADA_INLINE { sum[r][v] = Run::template add_products<Arch>(in[v], k, sum[r][v]); });
        });
      };
      if constexpr (keeps_weights || in_place)
        unrolled<w.width>(add_tap);
      else
        for_each_tap<w.width>(add_tap);
    });
    unrolled<Rows, Vectors>([&](std::size_t r, std::size_t v) LEVADA_INLINE {
      const std::size_t column = x + v * lanes, from_tile = r * Run::columns + column,
                        at = y * Run::columns + from_tile;
      out_value* const to = place(from_tile);
      const vec ordered = picked_vectors == 0 ? sum[r][v] : in_order<Arch>(sum[r][v]),
                result = Run::relu ? relu_of(ordered) : ordered;
      constexpr std::integral_constant<std::size_t, lanes> all;
      constexpr std::integral_constant<std::size_t, Run::columns % lanes> rest;
      if (!AtBorder || rest == 0 || column + lanes <= Run::columns) {
        store_as(to, join(epilogue_.of_filter(result, 0), 0, at, all));
      } else if constexpr (rest != 0) {
        const vec stored = join(epilogue_.of_filter(result, 0), 0, at, rest);
        if (is_stored_whole<Join>(rest, AreLast ? Rows - 1 - r : 1))
          store_as(to, stored);
        else
          store_part_as<rest>(to, stored);
      }
    });
  }
  /// A vector of which `count` lanes are results, with so many rows of results below it, is stored whole, which is
  /// faster: the other lanes are of results that come later, where nothing else reads or writes them.
  template <class Join>
  static constexpr bool is_stored_whole(std::size_t count, std::size_t rows_below) {
    return std::same_as<Join, no_join> && std::same_as<out_value, value> && rows_below * Run::columns >= lanes - count;
  }

  /// The vectors that each tap reads of a row for a tile of results from one column on.
  template <std::size_t Vectors, bool SomeLanes>
  class tile_inputs {
   public:
    LEVADA_INLINE explicit tile_inputs(std::size_t column) : column_(column) {
      if constexpr (SomeLanes)
        unrolled<w.width, Vectors>([&](std::size_t kx, std::size_t v) LEVADA_INLINE {
          some_[kx][v][0] = on_picture(place(kx, v));
          if constexpr (w.stride_x == 2) some_[kx][v][1] = on_picture(place(kx, v) + lanes);
        });
    }

    LEVADA_INLINE vec operator()(const value* row, std::size_t kx, std::size_t v) const {
      if constexpr (!in_place) {
        return load_once<value, Arch>(row + row_type::at(kx * w.dilation_x) + column_ + v * lanes);
      } else {
        const value* const from = row + place(kx, v) - w.left;
        vec loaded;
        if constexpr (w.stride_x == 1) {
          loaded = load_from(from, kx, v, 0);
        } else {
          const vec next = load_from(from + lanes, kx, v, 1);
          loaded = load_from(from, kx, v, 0);
          loaded =
              kx * w.dilation_x % 2 == 0 ? every_second<0, Arch>(loaded, next) : every_second<1, Arch>(loaded, next);
        }
        keep<value, Arch>(loaded);
        return loaded;
      }
    }

   private:
    struct no_lanes {};

    /// The column of the padded picture.
    LEVADA_INLINE std::size_t place(std::size_t kx, std::size_t v) const {
      return (column_ + v * lanes) * w.stride_x + kx * w.dilation_x / w.stride_x * w.stride_x;
    }
    LEVADA_INLINE static auto on_picture(std::size_t column) {
      constexpr std::size_t end = w.left + Run::width;
      if constexpr (SomeLanes)
        return some_lanes<value, Arch>(column < w.left ? std::min(lanes, w.left - column) : 0,
                                       column < end ? std::min(lanes, end - column) : 0);
      else
        return no_lanes();
    }
    LEVADA_INLINE vec load_from(const value* from, std::size_t kx, std::size_t v, std::size_t i) const {
      if constexpr (SomeLanes)
        return load_lanes<value, Arch>(from, some_[kx][v][i]);
      else
        return load<value, Arch>(from);
    }

    std::size_t column_;
    decltype(on_picture(0)) some_[SomeLanes ? w.width : 1][Vectors][w.stride_x == 2 ? 2 : 1];
  };

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
