// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/product.hpp: a matrix product in tiles, what matmul and convolutions are made of. A workgroup of
// 16 x 8 invocations computes one tile: pieces of both sides go through arrays that it shares, and each invocation
// keeps a block of sums in registers. Every sum is made in the order of the inner axis.

#include <array>
#include <cstddef>
#include <type_traits>

#include <levada/backend/spirv/detail/grid.hpp>

namespace levada::detail {

template <std::size_t Rows, std::size_t Columns, std::size_t Inner, std::size_t Batch>
struct tiled_product {
  static constexpr int width = 16, height = 8, depth = 8, invocations = width * height;
  /// The sums of one invocation, `width` columns and `height` rows apart.
  static constexpr int columns_each = Columns >= 64 ? 4 : Columns >= 32 ? 2 : 1;
  static constexpr int rows_each = Rows >= 64 ? 8 : Rows >= 32 ? 4 : 2;
  static constexpr int tile_columns = width * columns_each, tile_rows = height * rows_each;
  static constexpr int rows = static_cast<int>(Rows), columns = static_cast<int>(Columns),
                       inner = static_cast<int>(Inner);

  /// Smaller products do not fill a tile.
  static constexpr bool pays = Rows >= 16 && Columns >= 16 && Inner >= 16;

  using over = grid<static_cast<std::size_t>((columns + tile_columns - 1) / tile_columns * width),
                    static_cast<std::size_t>((rows + tile_rows - 1) / tile_rows * height), Batch,
                    workgroup<static_cast<std::size_t>(width), static_cast<std::size_t>(height)>>;

  /// `store(row, column, initial(row) + sum over k of left(row, k) * right(k, column))` for the whole matrix; `initial`
  /// may also be of row and column.
  template <class G, class Initial, class Left, class Right, class Store>
  static constexpr void run(const G& g, Initial initial, Left left, Right right, Store store) {
    const auto left_tile = g.template shared<float, static_cast<std::size_t>(tile_rows * depth)>();
    const auto right_tile = g.template shared<float, static_cast<std::size_t>(depth * tile_columns)>();
    const auto local_x = g.local_x(), local_y = g.local_y();
    const auto local = local_y * width + local_x;
    const auto first_row = g.group_y() * tile_rows, first_column = g.group_x() * tile_columns;
    const auto row_of = [&](int i) { return first_row + local_y + i * height; };
    const auto column_of = [&](int j) { return first_column + local_x + j * width; };

    const auto sums = g.fold(
        0, (inner + depth - 1) / depth,
        [&]<std::size_t... S>(std::index_sequence<S...>) {
          return std::array{g.value(begin(initial, row_of(static_cast<int>(S) / columns_each),
                                          [&] { return column_of(static_cast<int>(S) % columns_each); }))...};
        }(std::make_index_sequence<static_cast<std::size_t>(rows_each * columns_each)>()),
        [&](auto piece, auto s) {
          const auto first = piece * depth;
          for (int part = 0; part < tile_rows * depth / invocations; ++part) {
            const auto row = local / depth + part * (invocations / depth), k = local % depth;
            left_tile[row * depth + k] =
                inside(first + k, left(clamped<rows, tile_rows>(first_row + row), clamped<inner, depth>(first + k)));
          }
          for (int part = 0; part < tile_columns * depth / invocations; ++part) {
            const auto k = local / tile_columns + part * (invocations / tile_columns), column = local % tile_columns;
            right_tile[k * tile_columns + column] =
                inside(first + k,
                       right(clamped<inner, depth>(first + k), clamped<columns, tile_columns>(first_column + column)));
          }
          g.barrier();
          for (int k = 0; k < depth; ++k)
            for (int i = 0; i < rows_each; ++i) {
              const auto a = left_tile((local_y + i * height) * depth + k);
              for (int j = 0; j < columns_each; ++j)
                s[static_cast<std::size_t>(i * columns_each + j)] +=
                    a * right_tile(local_x + (k * tile_columns + j * width));
            }
          g.barrier();
          return s;
        });

    for (int i = 0; i < rows_each; ++i)
      for (int j = 0; j < columns_each; ++j) {
        const auto row = row_of(i), column = column_of(j);
        const auto& sum = sums[static_cast<std::size_t>(i * columns_each + j)];
        if constexpr (rows % tile_rows == 0 && columns % tile_columns == 0)
          store(row, column, sum);
        else
          g.when(row < rows && column < columns, [&] { store(row, column, sum); });
      }
  }

 private:
  template <class Initial, class Row, class Column>
  static constexpr auto begin(Initial initial, const Row& row, const Column& column) {
    if constexpr (std::is_invocable_v<Initial, Row, decltype(column())>)
      return initial(clamped<rows, tile_rows>(row), clamped<columns, tile_columns>(column()));
    else
      return initial(clamped<rows, tile_rows>(row));
  }
  /// An index that may lie beyond the matrix, where the tile does, on it.
  template <int Extent, int Tile, class V>
  static constexpr V clamped(const V& index) {
    if constexpr (Extent % Tile == 0)
      return index;
    else
      return min(index, Extent - 1);
  }
  /// Beyond the inner axis nothing is added.
  template <class K, class V>
  static constexpr V inside(const K& k, const V& x) {
    if constexpr (inner % depth == 0)
      return x;
    else
      return select(k < inner, x, 0.0f);
  }
};

}  // namespace levada::detail
