// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/packed_product.hpp: rows times a matrix that is known when the program starts: it lies in panels
// as wide as the tile of sums that stays in registers, so that a tile reads it front to back.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <levada/backend/simd/detail/transpose.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/core/tensor.hpp>

namespace levada::detail {

/// How many where all are meant.
template <std::size_t Count>
using all_of = std::integral_constant<std::size_t, Count>;

/// `Rows` rows of `Inner` elements times a matrix of `Columns` columns.
template <class Arch, class T, std::size_t Rows, std::size_t Inner, std::size_t Columns>
class packed_product {
  using vec = vector<T, Arch>;
  static constexpr std::size_t lanes = vec::size;
  static constexpr std::size_t registers = lanes * sizeof(T) >= 64 ? 32 : 16;
  // Of one row eight sums are in flight at once to cover the latency of a multiply-add.
  static constexpr std::size_t panel_vectors = std::min<std::size_t>(ceil_div(Columns, lanes), Rows == 1         ? 8
                                                                                               : registers >= 32 ? 4
                                                                                                                 : 3);
  static constexpr std::size_t panel = panel_vectors * lanes, panels = ceil_div(Columns, panel);
  // Beside the sums a vector of each column of the panel and one element of a row are in registers.
  static constexpr std::size_t tile_rows =
      Rows == 1 ? 1 : std::min<std::size_t>({Rows, 8, (registers - 1 - panel_vectors) / panel_vectors});

 public:
  static constexpr std::size_t packed_elements = panels * Inner * panel;

  /// `element(k, column)` of the matrix.
  template <class Element>
  explicit packed_product(Element element) {
    pack(matrix_.data(), element);
  }
  template <class Element>
  static void pack(T* to, Element element) {
    for (std::size_t p = 0; p < panels; ++p)
      for (std::size_t k = 0; k < Inner; ++k)
        for (std::size_t x = p * panel; x < (p + 1) * panel; ++x) *to++ = x < Columns ? element(k, x) : T{0};
  }

  /// A matrix that lies row by row is packed as it is.
  static constexpr bool rows_are_packed = panels == 1 && Columns == panel;
  static void pack_rows(T* to, const T* matrix) {
    for (std::size_t p = 0; p < panels; ++p)
      for (std::size_t k = 0; k < Inner; ++k, to += panel) {
        const std::size_t first = p * panel, width = std::min(panel, Columns - first);
        std::memcpy(to, matrix + k * Columns + first, width * sizeof(T));
        std::fill(to + width, to + panel, T{0});
      }
  }
  /// Of a matrix that lies column by column.
  static void pack_columns(T* to, const T* matrix) {
    for (std::size_t p = 0; p < panels; ++p, to += Inner * panel)
      for (std::size_t x = 0; x < panel; x += lanes) {
        const std::size_t first = p * panel + x, kept = first < Columns ? Columns - first : 0;
        std::size_t k = 0;
        for (; k + lanes <= Inner; k += lanes) turn<lanes>(to + k * panel + x, matrix + first * Inner + k, kept);
        if constexpr (Inner % lanes != 0) turn<Inner % lanes>(to + k * panel + x, matrix + first * Inner + k, kept);
      }
  }

  /// `begin(column, count)`: the vector that the sums begin with; `finish(sum, row, column, count)`: what is stored.
  template <class Begin, class Finish>
  void operator()(const T* in, T* out, const Begin& begin, const Finish& finish) const {
    multiply<Rows>(matrix_.data(), in, out, begin, finish);
  }
  /// Of `Count` rows by a matrix that was packed: by its first `depth` rows, and at least its first `columns` columns.
  template <std::size_t Count, class Begin, class Finish, class Depth = all_of<Inner>, class Width = all_of<Columns>>
  static void multiply(const T* packed, const T* in, T* out, const Begin& begin, const Finish& finish, Depth depth = {},
                       Width columns = {}) {
    const std::size_t end = ceil_div(std::size_t{columns}, panel), whole = std::min(end, Columns / panel);
    for (std::size_t p = 0; p < whole; ++p) of_panel<Count, panel>(packed, in, out, p, begin, finish, depth);
    if constexpr (Columns % panel != 0)
      if (end == panels) of_panel<Count, Columns % panel>(packed, in, out, panels - 1, begin, finish, depth);
  }

 private:
  /// `Count` elements of each of as many columns as a vector has; those behind `kept` are zeros.
  template <std::size_t Count>
  static void turn(T* to, const T* columns, std::size_t kept) {
    square<Arch, T> s{};
    unrolled<lanes>([&](std::size_t i) LEVADA_INLINE {
      if (i < kept) std::memcpy(&s.row[i], columns + i * Inner, Count * sizeof(T));
    });
    s.transpose();
    unrolled<Count>([&](std::size_t i) LEVADA_INLINE { std::memcpy(to + i * panel, &s.row[i], sizeof s.row[i]); });
  }

  template <std::size_t Count, std::size_t Width, class Begin, class Finish, class Depth>
  static void of_panel(const T* packed, const T* in, T* out, std::size_t p, const Begin& begin, const Finish& finish,
                       Depth depth) {
    constexpr std::size_t together = std::min(tile_rows, Count);
    const T* const matrix = packed + p * (Inner * panel);
    std::size_t row = 0;
    for (; row + together <= Count; row += together)
      tile<together, Width>(in, out, matrix, row, p, begin, finish, depth);
    if constexpr (Count % together != 0) tile<Count % together, Width>(in, out, matrix, row, p, begin, finish, depth);
  }

  template <std::size_t Count, std::size_t Width, class Begin, class Finish, class Depth>
  LEVADA_INLINE static void tile(const T* in, T* out, const T* matrix, std::size_t row, std::size_t p,
                                 const Begin& begin, const Finish& finish, Depth depth) {
    constexpr std::size_t vectors = ceil_div(Width, lanes);
    vec sums[Count][vectors];
    static_for<vectors>([&](auto v) LEVADA_INLINE {
      const vec first = begin(p * panel + v * lanes, width<Width, v>());
      unrolled<Count>([&](std::size_t y) LEVADA_INLINE { sums[y][v] = first; });
    });
    const T* const left = in + row * Inner;
    for (std::size_t k = 0; k < depth; ++k) {
      vec columns[vectors];
      unrolled<vectors>([&](std::size_t v)
                            LEVADA_INLINE { columns[v] = load_once<T, Arch>(matrix + k * panel + v * lanes); });
      unrolled<Count>([&](std::size_t y) LEVADA_INLINE {
        const vec x(left[y * Inner + k]);
        unrolled<vectors>([&](std::size_t v) LEVADA_INLINE { sums[y][v] = multiply_add(x, columns[v], sums[y][v]); });
      });
    }
    unrolled<Count>([&](std::size_t y) LEVADA_INLINE {
      static_for<vectors>([&](auto v) LEVADA_INLINE {
        constexpr width<Width, v> count;
        store_part<count>(out + (row + y) * Columns + p * panel + v * lanes,
                          finish(sums[y][v], row + y, p * panel + v * lanes, count));
      });
    });
  }

  /// The columns of vector `V` of a panel's `Width`.
  template <std::size_t Width, std::size_t V>
  using width = std::integral_constant<std::size_t, std::min(lanes, Width - V * lanes)>;

  tensor<T, packed_elements> matrix_;
};

/// What the sums of a product begin with where nothing is added.
template <class Arch, class T>
struct begin_with_zero {
  template <class Count>
  LEVADA_INLINE vector<T, Arch> operator()(std::size_t, Count) const {
    return vector<T, Arch>(T{0});
  }
};

}  // namespace levada::detail
