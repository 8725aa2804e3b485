// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/transpose.hpp: rows of channels, as kernels compute them, to planes, as tensors hold them.

#include <bit>

#include <levada/backend/simd/detail/vector.hpp>

namespace levada::detail {

/// A square of vectors, one register a row, transposed by log2(lanes) perfect shuffles.
template <class Arch, class T>
struct square {
  static constexpr std::size_t side = lanes_in<T, Arch>;
  using raw = typename raw_vector<T, side>::type;

  raw row[side];

  LEVADA_INLINE void transpose() {
    for (std::size_t step = 1; step < side; step *= 2) {
      raw next[side];
      unrolled<side / 2>([&](std::size_t i) LEVADA_INLINE {
        next[2 * i] = zip<false>(row[i], row[i + side / 2]);
        next[2 * i + 1] = zip<true>(row[i], row[i + side / 2]);
      });
      unrolled<side>([&](std::size_t i) LEVADA_INLINE { row[i] = next[i]; });
    }
  }

 private:
  template <bool Upper>
  LEVADA_INLINE static raw zip(const raw& a, const raw& b) {
    using vec = vector<T, Arch>;
    return std::bit_cast<raw>(interleaved<Upper, T, Arch>(std::bit_cast<vec>(a), std::bit_cast<vec>(b)));
  }
};

/// Writes `finish(pixels[p * Stride + c], c, p, count)`, of `count` pixels in a vector, to `out[c * plane + p]` for p <
/// Pixels, c < channels, converted where that is of another type. `pixels` has room for whole squares.
template <class Arch, class T, std::size_t Pixels, std::size_t Stride, class Out, class Finish>
void to_planes(const T* pixels, std::size_t channels, Out* out, std::size_t plane, const Finish& finish) {
  constexpr std::size_t side = lanes_in<T, Arch>;
  const auto turn = [&](std::size_t p, std::size_t c, auto count) LEVADA_INLINE {
    square<Arch, T> s;
    unrolled<side>([&](std::size_t i)
                       LEVADA_INLINE { std::memcpy(&s.row[i], pixels + (p + i) * Stride + c, sizeof s.row[i]); });
    s.transpose();
    // A loop: `finish` may be a chain of ops, of which a copy for each row is much to compile and to read.
    const std::size_t kept = channels - c < side ? channels - c : side;
    for (std::size_t i = 0; i < kept; ++i) {
      alignas(Arch::alignment()) T values[side];
      std::memcpy(values, &s.row[i], sizeof values);
      store_part_as<count>(out + (c + i) * plane + p, finish(vector<T, Arch>::load_aligned(values), c + i, p, count));
    }
  };
  for (std::size_t c = 0; c < channels; c += side) {
    std::size_t p = 0;
    for (; p + side <= Pixels; p += side) turn(p, c, std::integral_constant<std::size_t, side>());
    if constexpr (Pixels % side != 0) turn(p, c, std::integral_constant<std::size_t, Pixels % side>());
  }
}

}  // namespace levada::detail
