// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/winograd_tiles.hpp: the parts of Winograd's F(4 x 4, 3 x 3) that no shape of a convolution
// changes: the transforms of tiles and weights, and the product between them. 4 x 4 results of a 3 x 3 window take
// 36 multiplications instead of 144. (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016; the
// points are 0, 1, -1, 2, -2 and infinity.)

#include <array>
#include <cstddef>

#include <levada/backend/simd/detail/vector.hpp>

namespace levada::detail {

inline constexpr std::size_t winograd_side = 6, winograd_results = 4, winograd_products = 36;

/// The transform of six inputs in a row, of a step of `at`.
template <class Arch>
LEVADA_INLINE inline void winograd_input_row(const vector<float, Arch>* in, std::size_t at, vector<float, Arch>* out) {
  using vec = vector<float, Arch>;
  const vec d0 = in[0], d1 = in[at], d2 = in[2 * at], d3 = in[3 * at], d4 = in[4 * at], d5 = in[5 * at];
  const vec four(4.0f), minus_four(-4.0f), minus_five(-5.0f), two(2.0f), minus_two(-2.0f);
  const vec even = multiply_add(minus_four, d2, d4), odd = multiply_add(minus_four, d1, d3);
  const vec outer = d4 - d2, inner = d3 - d1;
  out[0] = multiply_add(four, d0, multiply_add(minus_five, d2, d4));
  out[1] = even + odd;
  out[2] = even - odd;
  out[3] = multiply_add(two, inner, outer);
  out[4] = multiply_add(minus_two, inner, outer);
  out[5] = multiply_add(four, d1, multiply_add(minus_five, d3, d5));
}

/// The 6 x 6 inputs of a tile, a vector of channels each, to 36 values `plane` apart.
template <class Arch>
void winograd_input(const float* in, std::size_t row, std::size_t pixel, float* out, std::size_t plane) {
  using vec = vector<float, Arch>;
  vec between[winograd_side][winograd_side];  // [column][row of the transform]
  static_for<winograd_side>([&](auto x) LEVADA_INLINE {
    vec column[winograd_side];
    static_for<winograd_side>([&](auto y) LEVADA_INLINE { column[y] = vec::load_aligned(in + y * row + x * pixel); });
    winograd_input_row<Arch>(column, 1, between[x]);
  });
  static_for<winograd_side>([&](auto y) LEVADA_INLINE {
    vec to[winograd_side];
    winograd_input_row<Arch>(&between[0][y], winograd_side, to);
    static_for<winograd_side>([&](auto x)
                                  LEVADA_INLINE { to[x].store_aligned(out + (y * winograd_side + x) * plane); });
  });
}

/// Four results of six products in a row, of a step of `at`.
template <class Arch>
LEVADA_INLINE inline void winograd_result_row(const vector<float, Arch>* in, std::size_t at, vector<float, Arch>* out) {
  using vec = vector<float, Arch>;
  const vec m1 = in[at], m2 = in[2 * at], m3 = in[3 * at], m4 = in[4 * at];
  const vec sum = m1 + m2, difference = m1 - m2, far_sum = m3 + m4, far_difference = m3 - m4;
  out[0] = in[0] + sum + far_sum;
  out[1] = multiply_add(vec(2.0f), far_difference, difference);
  out[2] = multiply_add(vec(4.0f), far_sum, sum);
  out[3] = multiply_add(vec(8.0f), far_difference, difference) + in[5 * at];
}

/// The 36 products of a tile, a vector of filters each and `plane` apart, to its first `rows` x `columns` results.
template <class Arch, bool Relu>
void winograd_result(const float* in, std::size_t plane, const float* bias, float* out, std::size_t row,
                     std::size_t pixel, std::size_t rows, std::size_t columns) {
  using vec = vector<float, Arch>;
  vec between[winograd_side][winograd_results];  // [column][row of the results]
  static_for<winograd_side>([&](auto x) LEVADA_INLINE {
    vec column[winograd_side];
    static_for<winograd_side>(
        [&](auto y) LEVADA_INLINE { column[y] = vec::load_aligned(in + (y * winograd_side + x) * plane); });
    winograd_result_row<Arch>(column, 1, between[x]);
  });
  const vec b = vec::load_aligned(bias);
  static_for<winograd_results>([&](auto y) LEVADA_INLINE {
    if (y >= rows) return;
    vec to[winograd_results];
    winograd_result_row<Arch>(&between[0][y], winograd_results, to);
    static_for<winograd_results>([&](auto x) LEVADA_INLINE {
      if (x >= columns) return;
      const vec result = to[x] + b;
      (Relu ? relu_of(result) : result).store_aligned(out + y * row + x * pixel);
    });
  });
}

/// The transform of the 3 x 3 weights of one channel and filter.
inline std::array<float, winograd_products> winograd_weights(const std::array<double, 9>& g) {
  constexpr double matrix[winograd_side][3] = {{1.0 / 4, 0, 0},
                                               {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                               {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                               {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                               {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                               {0, 0, 1}};
  std::array<float, winograd_products> result{};
  for (std::size_t y = 0; y < winograd_side; ++y)
    for (std::size_t x = 0; x < winograd_side; ++x) {
      double sum = 0;
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) sum += matrix[y][i] * g[i * 3 + j] * matrix[x][j];
      result[y * winograd_side + x] = static_cast<float>(sum);
    }
  return result;
}

/// Of `Tiles` tiles, `Stride` apart and with `channels` channels each, the products with the weights of `Vectors`
/// vectors of filters, summed over the channels.
template <class Arch, std::size_t Tiles, std::size_t Vectors, std::size_t Stride>
void winograd_product(const float* tiles, const float* weights, std::size_t channels, float* out) {
  using vec = vector<float, Arch>;
  constexpr std::size_t lanes = lanes_in<float, Arch>;
  vec sum[Tiles][Vectors];
  static_for<Tiles, Vectors>([&](auto q, auto i) LEVADA_INLINE { sum[q][i] = vec(0.0f); });
  for (std::size_t c = 0; c < channels; ++c, ++tiles, weights += Vectors * lanes) {
    vec a[Vectors];
    static_for<Vectors>([&](auto i) LEVADA_INLINE { a[i] = load_once<float, Arch>(weights + i * lanes); });
    static_for<Tiles>([&](auto q) LEVADA_INLINE {
      const vec b(tiles[q * Stride]);
      static_for<Vectors>([&](auto i) LEVADA_INLINE { sum[q][i] = multiply_add(b, a[i], sum[q][i]); });
    });
  }
  static_for<Tiles, Vectors>([&](auto q, auto i)
                                 LEVADA_INLINE { sum[q][i].store_aligned(out + (q * Vectors + i) * lanes); });
}

}  // namespace levada::detail
