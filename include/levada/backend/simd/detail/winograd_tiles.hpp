// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/winograd_tiles.hpp: the parts of Winograd's F(4 x 4, 3 x 3) and F(2 x 2, 3 x 3) that no shape of
// a convolution changes: the transforms of tiles and weights, and the product between them. 4 x 4 results of a 3 x 3
// window take 36 multiplications instead of 144, and 2 x 2 results 16 instead of 36. (Lavin and Gray, Fast Algorithms
// for Convolutional Neural Networks, 2016; the points are 0, 1, -1, for the larger tiles 2 and -2, and infinity.)

#include <cstddef>
#include <cstdint>

#include <levada/backend/simd/detail/vector.hpp>

namespace levada::detail {

/// Of tiles of `Results` x `Results` results.
template <std::size_t Results>
struct winograd_sizes {
  static_assert(Results == 2 || Results == 4);
  static constexpr std::size_t side = Results + 2, products = side * side;
};

/// The transform of the inputs in a row of a tile, of a step of `at`.
template <class Arch, std::size_t Results>
LEVADA_INLINE inline void winograd_input_row(const vector<float, Arch>* in, std::size_t at, vector<float, Arch>* out) {
  using vec = vector<float, Arch>;
  const vec d0 = in[0], d1 = in[at], d2 = in[2 * at], d3 = in[3 * at];
  if constexpr (Results == 2) {
    out[0] = d0 - d2;
    out[1] = d1 + d2;
    out[2] = d2 - d1;
    out[3] = d1 - d3;
  } else {
    const vec d4 = in[4 * at], d5 = in[5 * at];
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
}

/// The inputs of a tile, a vector of channels each, to as many values `plane` apart.
template <class Arch, std::size_t Results>
void winograd_input(const float* in, std::size_t row, std::size_t pixel, float* out, std::size_t plane) {
  using vec = vector<float, Arch>;
  constexpr std::size_t side = winograd_sizes<Results>::side;
  vec between[side][side];  // [column][row of the transform]
  unrolled<side>([&](std::size_t x) LEVADA_INLINE {
    vec column[side];
    unrolled<side>([&](std::size_t y) LEVADA_INLINE { column[y] = vec::load_aligned(in + y * row + x * pixel); });
    winograd_input_row<Arch, Results>(column, 1, between[x]);
  });
  unrolled<side>([&](std::size_t y) LEVADA_INLINE {
    vec to[side];
    winograd_input_row<Arch, Results>(&between[0][y], side, to);
    unrolled<side>([&](std::size_t x) LEVADA_INLINE { to[x].store_aligned(out + (y * side + x) * plane); });
  });
}

/// The results of the products in a row of a tile, of a step of `at`.
template <class Arch, std::size_t Results>
LEVADA_INLINE inline void winograd_result_row(const vector<float, Arch>* in, std::size_t at, vector<float, Arch>* out) {
  using vec = vector<float, Arch>;
  const vec m1 = in[at], m2 = in[2 * at], m3 = in[3 * at];
  const vec sum = m1 + m2, difference = m1 - m2;
  if constexpr (Results == 2) {
    out[0] = in[0] + sum;
    out[1] = difference - m3;
  } else {
    const vec m4 = in[4 * at];
    const vec far_sum = m3 + m4, far_difference = m3 - m4;
    out[0] = in[0] + sum + far_sum;
    out[1] = multiply_add(vec(2.0f), far_difference, difference);
    out[2] = multiply_add(vec(4.0f), far_sum, sum);
    out[3] = multiply_add(vec(8.0f), far_difference, difference) + in[5 * at];
  }
}

/// The products of a tile, a vector of filters each and `plane` apart, to its first `rows` x `columns` results.
template <class Arch, std::size_t Results, bool Relu>
void winograd_result(const float* in, std::size_t plane, const float* bias, float* out, std::size_t row,
                     std::size_t pixel, std::size_t rows, std::size_t columns) {
  using vec = vector<float, Arch>;
  constexpr std::size_t side = winograd_sizes<Results>::side;
  vec between[side][Results];  // [column][row of the results]
  unrolled<side>([&](std::size_t x) LEVADA_INLINE {
    vec column[side];
    unrolled<side>([&](std::size_t y) LEVADA_INLINE { column[y] = vec::load_aligned(in + (y * side + x) * plane); });
    winograd_result_row<Arch, Results>(column, 1, between[x]);
  });
  const vec b = vec::load_aligned(bias);
  unrolled<Results>([&](std::size_t y) LEVADA_INLINE {
    if (y >= rows) return;
    vec to[Results];
    winograd_result_row<Arch, Results>(&between[0][y], Results, to);
    unrolled<Results>([&](std::size_t x) LEVADA_INLINE {
      if (x >= columns) return;
      const vec result = to[x] + b;
      (Relu ? relu_of(result) : result).store_aligned(out + y * row + x * pixel);
    });
  });
}

/// The transforms of the 3 x 3 weights of one channel and `Filters` filters, side by side and `plane` apart.
template <std::size_t Results, std::size_t Filters>
void winograd_weights(const double (&g)[3][3][Filters], float* out, std::size_t plane) {
  constexpr std::size_t side = winograd_sizes<Results>::side;
  constexpr double of_two[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  constexpr double of_four[6][3] = {{1.0 / 4, 0, 0},
                                    {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                    {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                    {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                    {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                    {0, 0, 1}};
  const auto& matrix = [&]() -> const auto& {
    if constexpr (Results == 2)
      return of_two;
    else
      return of_four;
  }();
  double between[side][3][Filters];
  for (std::size_t y = 0; y < side; ++y)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t f = 0; f < Filters; ++f)
        between[y][j][f] = matrix[y][0] * g[0][j][f] + matrix[y][1] * g[1][j][f] + matrix[y][2] * g[2][j][f];
  for (std::size_t y = 0; y < side; ++y)
    for (std::size_t x = 0; x < side; ++x)
      for (std::size_t f = 0; f < Filters; ++f)
        out[(y * side + x) * plane + f] = static_cast<float>(
            matrix[x][0] * between[y][0][f] + matrix[x][1] * between[y][1][f] + matrix[x][2] * between[y][2][f]);
}

/// Of `Tiles` tiles, `Stride` apart and with `channels` channels each, the products with the weights of `Vectors`
/// vectors of filters, summed over the channels. For each channel `Ahead` bytes are brought from `next` on.
template <class Arch, std::size_t Tiles, std::size_t Vectors, std::size_t Stride, std::size_t Ahead>
void winograd_product(const float* tiles, const float* weights, std::size_t channels, float* out,
                      [[maybe_unused]] std::uintptr_t next) {
  using vec = vector<float, Arch>;
  constexpr std::size_t lanes = lanes_in<float, Arch>;
  vec sum[Tiles][Vectors];
  unrolled<Tiles, Vectors>([&](std::size_t q, std::size_t i) LEVADA_INLINE { sum[q][i] = vec(0.0f); });
  const auto add = [&](const float* tile, const float* weight) LEVADA_INLINE {
    vec a[Vectors];
    unrolled<Vectors>([&](std::size_t i) LEVADA_INLINE { a[i] = load_once<float, Arch>(weight + i * lanes); });
    unrolled<Tiles>([&](std::size_t q) LEVADA_INLINE {
      const vec b(tile[q * Stride]);
      unrolled<Vectors>([&](std::size_t i) LEVADA_INLINE { sum[q][i] = multiply_add(b, a[i], sum[q][i]); });
      if constexpr (Vectors > 1) outlive<float, Arch>(b);
    });
    if constexpr (Vectors > 1) unrolled<Vectors>([&](std::size_t i) LEVADA_INLINE { outlive<float, Arch>(a[i]); });
  };
  std::size_t c = 0;
  for (; c + channel_step <= channels; c += channel_step, tiles += channel_step) {
    if constexpr (Ahead != 0) fetch_ahead<channel_step * Ahead>(next);
    unrolled<channel_step>([&](std::size_t j) LEVADA_INLINE { add(tiles + j, weights + j * Vectors * lanes); });
    weights += channel_step * Vectors * lanes;
  }
  for (; c < channels; ++c, ++tiles, weights += Vectors * lanes) add(tiles, weights);
  unrolled<Tiles, Vectors>([&](std::size_t q, std::size_t i)
                               LEVADA_INLINE { sum[q][i].store_aligned(out + (q * Vectors + i) * lanes); });
}

}  // namespace levada::detail
