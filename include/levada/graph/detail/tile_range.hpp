// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/tile_range.hpp: the output of a kernel in tiles, of which threads may compute some each. What a tile is,
// each kernel says for itself; that of an element does not depend on who computes which, nor do its bits.

#include <cstddef>

namespace levada::detail {

/// Tiles from one to before another.
struct tile_range {
  std::size_t begin = 0, end = 0;
};

/// Of so many tiles the share of a part: parts differ by one at most.
constexpr tile_range tiles_of_part(std::size_t tiles, std::size_t part, std::size_t parts) {
  return {tiles * part / parts, tiles * (part + 1) / parts};
}

/// How many tiles a kernel has. It computes some by `of_tiles(in, out, scratch, range)`, which several threads call at
/// once, each with a scratch of its own, and which does not throw. 1: it has no such function.
template <class Kernel>
inline constexpr std::size_t tiles_of = 1;
template <class Kernel>
  requires requires { Kernel::tiles; }
inline constexpr std::size_t tiles_of<Kernel> = Kernel::tiles;

/// An output that is computed in rows and, in each, in columns: tiles are the rows, or the columns of all rows where
/// there are more of them. Of many rows one that is smaller is a small share.
template <std::size_t Rows, std::size_t Columns>
struct tile_axes {
  static constexpr bool by_rows = Rows >= 8 || Rows >= Columns;
  static constexpr std::size_t tiles = by_rows ? Rows : Columns;
  static constexpr tile_range rows(tile_range some) { return by_rows ? some : tile_range{0, Rows}; }
  static constexpr tile_range columns(tile_range some) { return by_rows ? tile_range{0, Columns} : some; }
};

}  // namespace levada::detail
