// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv_by_matrices.hpp: convolution by the matrix registers of AMX, of elements of 4 bytes
// (matrix_registers.hpp).
// - Filters are the rows of a result, pixels its columns. A sum is over parts of the window. A part is up to 16
//   elements that lie equally far apart: channels, or where these are few, rows of the window.
// - Of channels: pixel p of the whole picture reads a part at p + its offset, because the outputs lie in the rows of
//   the padded picture. The registers compute columns between these rows, too, which are not used. With a stride the
//   picture is laid out by phases: every `stride`-th row and column is a picture of its own.
// - Of rows: the same, but one row of the output after the other, and with phases of columns only.
// - Results lie in the first-level cache until they are written where they belong.

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <levada/backend/simd/detail/columns.hpp>
#include <levada/backend/simd/detail/conv_run.hpp>
#include <levada/backend/simd/detail/join.hpp>
#include <levada/backend/simd/detail/matrix_registers.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/tile_range.hpp>

namespace levada::detail {

/// A run whose elements AMX multiplies says of what they consist.
template <class Arch, class Run>
inline constexpr bool takes_matrices = false;
template <class Arch, class Run>
  requires isa::has_matrices<Arch> && std::same_as<const matrix_element, decltype(Run::elements)>
inline constexpr bool takes_matrices<Arch, Run> = Run::pool.height * Run::pool.width == 1;

/// Where a convolution's outputs and the parts of its window lie in the picture's phases.
template <class Run, bool OfRows>
struct matrix_layout {
  static constexpr bool of_rows = OfRows;
  static constexpr window2d w = Run::window;
  static constexpr std::size_t phases_y = OfRows ? 1 : w.stride_y, phases_x = w.stride_x;
  static constexpr std::size_t width = Run::columns + (w.reach_x() - 1) / phases_x,
                               height = OfRows ? (Run::rows - 1) * w.stride_y + w.reach_y()
                                               : Run::rows + (w.reach_y() - 1) / phases_y,
                               plane = width * height;
  static constexpr bool is_the_picture =
      phases_y == 1 && phases_x == 1 && w.top == 0 && w.left == 0 && height == Run::height && width == Run::width;

  /// Some tap reads a row of such a phase, or a column.
  static constexpr bool reads_row(std::size_t phase) {
    for (std::size_t ky = 0; ky < w.height; ++ky)
      if (ky * w.dilation_y % phases_y == phase) return true;
    return false;
  }
  static constexpr bool reads_column(std::size_t phase) {
    for (std::size_t kx = 0; kx < w.width; ++kx)
      if (kx * w.dilation_x % phases_x == phase) return true;
    return false;
  }
  static constexpr std::size_t rows_before(std::size_t phase) {
    std::size_t n = 0;
    for (std::size_t p = 0; p < phase; ++p) n += reads_row(p);
    return n;
  }
  static constexpr std::size_t columns_before(std::size_t phase) {
    std::size_t n = 0;
    for (std::size_t p = 0; p < phase; ++p) n += reads_column(p);
    return n;
  }
  /// Only phases that are read are there.
  static constexpr std::size_t of_phase(std::size_t py, std::size_t px) {
    return (rows_before(py) * columns_before(phases_x) + columns_before(px)) * plane;
  }
  static constexpr std::size_t of_channel = rows_before(phases_y) * columns_before(phases_x) * plane;

  /// The elements of a part: of channels, as many as a register has rows, and none left over.
  static constexpr std::size_t inner = [] {
    if (OfRows) return w.height;
    std::size_t n = std::min<std::size_t>(Run::channels, 16);
    while (Run::channels % n != 0) --n;
    return n;
  }();
  static constexpr std::size_t inner_pitch = OfRows ? w.dilation_y * width : of_channel,
                               next_row = OfRows ? w.stride_y * width : width;
  /// The outputs of so many rows, with what lies between them.
  static constexpr std::size_t most_rows = OfRows ? 1 : Run::rows;
  static constexpr std::size_t pixels(std::size_t rows) { return (rows - 1) * width + Run::columns; }

  /// Where a part begins: its first channel and tap.
  struct part {
    std::size_t channel, ky, kx;
  };
  static constexpr std::size_t parts = Run::channels * w.taps() / inner;
  static constexpr part part_of(std::size_t i) {
    if (OfRows) return {i / w.width, 0, i % w.width};
    const std::size_t blocks = Run::channels / inner, tap = i / blocks;
    return {i % blocks * inner, tap / w.width, tap % w.width};
  }
  static constexpr auto offsets = [] {
    std::array<std::size_t, parts> all{};
    for (std::size_t i = 0; i < parts; ++i) {
      const part of = part_of(i);
      const std::size_t y = of.ky * w.dilation_y, x = of.kx * w.dilation_x;
      all[i] = of.channel * of_channel + of_phase(y % phases_y, x % phases_x) + y / phases_y * width + x / phases_x;
    }
    return all;
  }();

  /// Cycles, doubled: a product takes 16, however many elements a part has, and some more to be read.
  static constexpr std::size_t cost = inner > 16 ? ~std::size_t{0}
                                                 : 2 * 22 * parts* ceil_div(Run::filters, 16) *
                                                       (OfRows ? Run::rows * ceil_div(Run::columns, 16)
                                                               : ceil_div(pixels(Run::rows), 16));
};
template <class Run>
using best_matrix_layout = matrix_layout<Run, (matrix_layout<Run, true>::cost < matrix_layout<Run, false>::cost)>;

template <class Arch, class Run, class Epilogue>
class conv_by_matrices {
 public:
  using value = typename Run::value;
  using out_value = typename Run::result;
  static constexpr std::string_view method = "matrix registers";

 private:
  static constexpr window2d w = Run::window;
  using layout = best_matrix_layout<Run>;
  using registers = matrix_registers<Run::elements, layout::inner>;
  using vec = vector<value, Arch>;
  static constexpr std::size_t lanes = lanes_in<value, Arch>;
  static_assert(lanes == registers::columns && sizeof(value) == 4);

  static constexpr std::size_t filter_blocks = ceil_div(Run::filters, registers::rows);
  static constexpr std::size_t block_elements = registers::rows * Run::channels * w.taps();
  /// Behind the last output the registers read what is there.
  static constexpr std::size_t packed_elements =
      layout::is_the_picture ? 0 : round_up(Run::channels * layout::of_channel + 2 * registers::columns, 16);

  /// So many rows of the output at a time: their results take some 16 KB.
  static constexpr std::size_t row_group = std::clamp<std::size_t>(128 / layout::width, 1, layout::most_rows);
  static constexpr std::size_t result_pitch = round_up(layout::pixels(row_group), registers::columns);
  static constexpr std::size_t result_elements = 2 * registers::rows * result_pitch;
  using axes = tile_axes<ceil_div(Run::rows, row_group), ceil_div(filter_blocks, 2)>;

 public:
  static constexpr std::size_t scratch_bytes =
      round_up((packed_elements + result_elements) * sizeof(value) + result_pitch * sizeof(out_value), 64);
  static constexpr std::size_t tiles = axes::tiles;

  template <class Parameters>
  conv_by_matrices(const Parameters& p, const Epilogue& epilogue) : epilogue_(epilogue) {
    require_matrices();
    std::size_t at = 0;
    for (std::size_t f = 0; f < filter_blocks; f += 2)
      for (std::size_t i = 0; i < layout::parts; ++i)
        for (std::size_t row = f * registers::rows; row < std::min(f + 2, filter_blocks) * registers::rows; ++row)
          for (std::size_t k = 0; k < layout::inner; ++k) weight_[at++] = row < Run::filters ? weight(p, row, i, k) : 0;
    for (std::size_t f = 0; f < Run::filters; ++f) bias_[f] = Run::bias(p, f);
  }

  template <class Join = no_join>
  void operator()(const value* in, out_value* out, std::byte* scratch, const Join& join = {}, const value* = nullptr,
                  tile_range some = {0, tiles}) const {
    auto* const packed = reinterpret_cast<value*>(scratch);
    value* const results = packed + packed_elements;
    auto* const last = reinterpret_cast<out_value*>(results + result_elements);
    if constexpr (!layout::is_the_picture) {
      pack(in, packed);
      in = packed;
    }
    const registers of_thread;
    const tile_range groups = axes::rows(some), pairs = axes::columns(some);
    const tile_range of{2 * pairs.begin, std::min(2 * pairs.end, filter_blocks)};
    const std::size_t end = std::min(groups.end * row_group, Run::rows);
    std::size_t y = groups.begin * row_group;
    for (; y + row_group <= end; y += row_group) rows<row_group>(in, out, results, last, y, of, join);
    if constexpr (Run::rows % row_group != 0)
      if (y != end) rows<Run::rows % row_group>(in, out, results, last, y, of, join);
  }

 private:
  /// Of the k-th element of a part.
  template <class Parameters>
  static value weight(const Parameters& p, std::size_t filter, std::size_t part, std::size_t k) {
    const auto of = layout::part_of(part);
    return layout::of_rows ? Run::weight(p, filter, of.channel, k, of.kx)
                           : Run::weight(p, filter, of.channel + k, of.ky, of.kx);
  }

  static void pack(const value* in, value* packed) {
    for (std::size_t c = 0; c < Run::channels; ++c, in += Run::height * Run::width)
      for (std::size_t py = 0; py < layout::phases_y; ++py)
        static_for<layout::phases_x>([&](auto px) {
          if constexpr (layout::reads_column(px))
            if (layout::reads_row(py))
              pack_phase<px>(in, py, packed + c * layout::of_channel + layout::of_phase(py, px));
        });
  }
  /// The columns Px, Px + stride, ... of the rows py, py + stride, ... of the padded picture.
  template <std::size_t Px>
  static void pack_phase(const value* in, std::size_t py, value* to) {
    constexpr std::size_t before = w.left > Px ? ceil_div(w.left - Px, w.stride_x) : 0,
                          from = Px + before * w.stride_x - w.left,
                          there = std::min(from < Run::width ? ceil_div(Run::width - from, w.stride_x) : 0,
                                           layout::width - std::min(before, layout::width));
    for (std::size_t i = 0; i < layout::height; ++i, to += layout::width) {
      const std::size_t y = py + i * layout::phases_y;
      if (y < w.top || y >= w.top + Run::height) {
        std::fill_n(to, layout::width, value{0});
        continue;
      }
      const value* const row = in + (y - w.top) * Run::width;
      if constexpr (before != 0) std::fill_n(to, std::min(before, layout::width), value{0});
      if constexpr (there != 0) {
        if constexpr (w.stride_x == 1)
          std::memcpy(to + before, row + from, there * sizeof(value));
        else if constexpr (w.stride_x == 2)
          copy_every_second<Arch, there, Run::width - from>(row + from, to + before);
        else
          for (std::size_t x = 0; x < there; ++x) to[before + x] = row[from + x * w.stride_x];
      }
      if constexpr (before + there < layout::width)
        std::fill_n(to + before + there, layout::width - before - there, value{0});
    }
  }

  /// `Rows` rows of the output from row `y`, of some blocks of filters.
  template <std::size_t Rows, class Join>
  void rows(const value* in, out_value* out, value* results, out_value* last, std::size_t y, tile_range of,
            const Join& join) const {
    in += y * layout::next_row;
    std::size_t f = of.begin;
    for (; f + 2 <= of.end; f += 2) {
      blocks<2, Rows>(in, results, f);
      write<Rows>(results, out, last, f * registers::rows, 2 * registers::rows, y, join);
    }
    if constexpr (filter_blocks % 2 != 0) {
      if (f == of.end) return;
      blocks<1, Rows>(in, results, f);
      write<Rows>(results, out, last, f * registers::rows, registers::rows, y, join);
    }
  }

  template <std::size_t Blocks, std::size_t Rows>
  void blocks(const value* in, value* results, std::size_t block) const {
    constexpr std::size_t columns = registers::columns, all = ceil_div(layout::pixels(Rows), columns);
    std::size_t p = 0;
    for (; p + 2 <= all; p += 2) sums<Blocks, 2>(in + p * columns, results + p * columns, block);
    if constexpr (all % 2 != 0) sums<Blocks, 1>(in + p * columns, results + p * columns, block);
  }
  template <std::size_t Blocks, std::size_t Side>
  void sums(const value* in, value* results, std::size_t block) const {
    registers::template products<Blocks, Side>(layout::inner_pitch, results, result_pitch,
                                               [&](auto part) LEVADA_INLINE {
                                                 const value* weight = weight_.data() + block * block_elements;
                                                 for (const std::size_t offset : layout::offsets) {
                                                   part(weight, in + offset);
                                                   weight += Blocks * registers::rows * layout::inner;
                                                 }
                                               });
  }

  template <std::size_t Rows, class Join>
  void write(const value* results, out_value* out, [[maybe_unused]] out_value* last, std::size_t first,
             std::size_t count, std::size_t y, [[maybe_unused]] const Join& join) const {
    constexpr std::size_t plane = Run::rows * Run::columns, pixels = layout::pixels(Rows);
    constexpr bool in_a_row = Rows == 1 || layout::width == Run::columns;
    for (std::size_t f = first; f < std::min(first + count, Run::filters); ++f, results += result_pitch) {
      out_value* const to = out + f * plane + y * Run::columns;
      const vec bias(bias_[f]);
      const auto result = [&](std::size_t p) LEVADA_INLINE {
        const vec sum = vec::load_unaligned(results + p) + bias;
        return epilogue_.of_filter(Run::relu ? relu_of(sum) : sum, f);
      };
      if constexpr (!std::same_as<Join, no_join>) {
        for (std::size_t r = 0; r < (in_a_row ? 1 : Rows); ++r) {
          const auto joined = [&](std::size_t x, auto n) LEVADA_INLINE {
            const std::size_t at = r * Run::columns + x;
            store_part_as<n>(to + at, join(result(r * layout::width + x), f, y * Run::columns + at, n));
          };
          for_each_vector<value, Arch, in_a_row ? pixels : Run::columns>(
              [&](std::size_t x) LEVADA_INLINE { joined(x, std::integral_constant<std::size_t, lanes>()); }, joined);
        }
      } else if constexpr (in_a_row) {
        for_each_vector<value, Arch, pixels>([&](std::size_t p) LEVADA_INLINE { store_as(to + p, result(p)); },
                                             [&](std::size_t p, auto n)
                                                 LEVADA_INLINE { store_part_as<n>(to + p, result(p)); });
      } else {
        for (std::size_t p = 0; p < pixels; p += lanes) store_as(last + p, result(p));
        for (std::size_t r = 0; r < Rows; ++r)
          std::memcpy(to + r * Run::columns, last + r * layout::width, Run::columns * sizeof(out_value));
      }
    }
  }

  tensor<value, filter_blocks * block_elements> weight_;
  tensor<value, Run::filters> bias_;
  [[no_unique_address]] Epilogue epilogue_;
};

}  // namespace levada::detail
