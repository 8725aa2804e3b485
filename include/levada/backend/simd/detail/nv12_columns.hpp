// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/nv12_columns.hpp: eight pixels of a smaller picture at a time from two rows of an NV12 picture,
// by AVX2. Colours are those of the whole-number definition to the bit; they are mixed with 16 bits of the weight
// across and 14 of the one down.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <levada/backend/simd/detail/to_rgb.hpp>
#include <levada/backend/simd/detail/vector.hpp>

namespace levada::detail {

#if XSIMD_WITH_AVX2
/// Picks four bytes of a row for each column, by shuffles of `Parts` times 16 neighbouring bytes.
template <class Arch, std::size_t Columns, std::size_t Parts>
class byte_shuffles {
  static constexpr std::size_t lanes = 8, blocks = ceil_div(Columns, lanes);

 public:
  /// `places`: of the bytes in a row of `row_bytes`; a negative place gives a zero. False where they lie too far apart.
  bool fill(const std::array<std::array<std::int32_t, 4>, Columns>& places, std::size_t row_bytes) {
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t x = std::min(b * lanes, Columns - lanes);
      std::int32_t first = static_cast<std::int32_t>(row_bytes - 16 * Parts);
      for (std::size_t i = 0; i < 4 * lanes; ++i)
        if (const std::int32_t place = places[x + i / 4][i % 4]; place >= 0) first = std::min(first, place);
      first_[b] = first;
      for (auto& part : pick_[b]) part.fill(0x80);  // a zero
      for (std::size_t i = 0; i < 4 * lanes; ++i) {
        if (places[x + i / 4][i % 4] < 0) continue;
        const auto place = static_cast<std::size_t>(places[x + i / 4][i % 4] - first);
        if (place >= 16 * Parts) return false;
        pick_[b][place / 16][i] = static_cast<std::uint8_t>(place % 16);
      }
    }
    return true;
  }

  /// Those of the columns of block `b`.
  LEVADA_INLINE __m256i of(const std::uint8_t* row, std::size_t b) const {
    __m256i all = _mm256_setzero_si256();
    unrolled<Parts>([&](std::size_t p) LEVADA_INLINE {
      const auto bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + first_[b] + 16 * p));
      const auto pick = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pick_[b][p].data()));
      all = _mm256_or_si256(all, _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), pick));
    });
    return all;
  }

 private:
  std::array<std::int32_t, blocks> first_;
  std::array<std::array<std::array<std::uint8_t, 4 * lanes>, Parts>, blocks> pick_;
};

/// Of rows of `Width` pixels `Columns`, at least eight.
template <class Arch, const ycbcr_factors& Factors, std::size_t Width, std::size_t Columns>
class nv12_columns {
  using floats = vector<float, Arch>;
  static constexpr std::size_t lanes = 8, blocks = ceil_div(Columns, lanes), strip = 8;
  /// What eight columns need lies in so many times 16 bytes of Y', or of Cb and Cr.
  static constexpr std::size_t apart = ceil_div(7 * Width, Columns), luma_parts = ceil_div(apart + 2, 16),
                               chroma_parts = ceil_div(apart + 4, 16);

 public:
  static constexpr bool possible = chroma_parts <= 4 && Width >= 16 * chroma_parts;

  /// Column x is mixed of the pixels first[x] and first[x] + 1, of which the second weighs weight[x]. Without `between`
  /// each column is its first pixel. False where the bytes lie too far apart.
  bool fill(const std::array<std::int32_t, Columns>& first, const std::array<float, Columns>& weight, bool between) {
    std::array<std::array<std::int32_t, 4>, Columns> luma, chroma;
    for (std::size_t x = 0; x < Columns; ++x) {
      // A weight of one has no byte: a single pixel counts as two halves of itself.
      auto second = static_cast<std::int32_t>(std::min(std::lround(weight[x] * 65536), 65535L));
      const std::int32_t left = first[x] + (weight[x] == 1), right = first[x] + (second != 0);
      if (left == right) second = 32768;
      const std::int32_t weights[2] = {65536 - second, second};
      for (std::size_t i = 0; i < 4; ++i) {
        upper_weight_[x][i] = static_cast<std::uint8_t>(weights[i % 2] / 256);
        lower_weight_[x][i] = static_cast<std::uint8_t>(weights[i % 2] % 256);
      }
      const std::int32_t cells[2] = {left / 2 * 2, right / 2 * 2};
      luma[x] = {-1, left, -1, right};
      if (between)
        chroma[x] = {cells[0], cells[0] + 1, cells[1], cells[1] + 1};
      else
        chroma[x] = {-1, cells[0], -1, cells[0] + 1};
    }
    return luma_.fill(luma, Width) && chroma_.fill(chroma, Width);
  }

  /// The two rows that an output row lies between, each of Y' and of Cb, Cr, and what the lower one weighs.
  struct rows {
    std::array<const std::uint8_t*, 2> luma, chroma;
    float lower_weight;
  };

  /// Writes columns of an output row, three planes of `plane` floats each, as `factor` of their levels and `offset`.
  /// Rows of `OneChroma` share Cb and Cr.
  template <bool OneChroma, bool Between>
  void write(const rows& from, const std::array<float, 3>& factor, const std::array<float, 3>& offset, float* to,
             std::size_t plane) const {
    __m256i colours[strip][3];
    for (std::size_t begin = 0; begin < blocks; begin += strip) {
      const std::size_t count = std::min(strip, blocks - begin);
      for (std::size_t i = 0; i < count; ++i) colours_at<OneChroma, Between>(from, begin + i, colours[i]);
      mix<Between>(from.lower_weight, factor, offset, begin, count, colours, to, plane);
    }
  }

 private:
  /// The part of Y' in a colour less 128, in units of 2^-22: of the left pixels and of the right ones.
  struct lumas {
    __m256i of[2];
  };
  /// The part of Cb and Cr in each of the three colours, likewise.
  struct chromas {
    __m256i of[2][3];
  };

  /// The colours of a block. With `Between` as bytes: of the upper row the left and the right pixel, then those of the
  /// lower. Else as words: of the upper row and of the lower.
  template <bool OneChroma, bool Between>
  LEVADA_INLINE void colours_at(const rows& from, std::size_t block, __m256i (&to)[3]) const {
    const chromas above = chromas_of<Between>(from.chroma[0], block);
    const chromas below = OneChroma ? above : chromas_of<Between>(from.chroma[1], block);
    const lumas upper = lumas_of<Between>(from.luma[0], block), lower = lumas_of<Between>(from.luma[1], block);
    static_for<3>([&](auto c) LEVADA_INLINE {
      if constexpr (Between) {
        to[c] = _mm256_shuffle_epi8(
            _mm256_packs_epi16(
                whole(_mm256_add_epi32(upper.of[0], above.of[0][c]), _mm256_add_epi32(upper.of[1], above.of[1][c])),
                whole(_mm256_add_epi32(lower.of[0], below.of[0][c]), _mm256_add_epi32(lower.of[1], below.of[1][c]))),
            bytes(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
      } else {
        const auto two =
            whole(_mm256_add_epi32(upper.of[0], above.of[0][c]), _mm256_add_epi32(lower.of[0], below.of[0][c]));
        to[c] = _mm256_min_epi16(_mm256_max_epi16(two, _mm256_set1_epi16(-128)), _mm256_set1_epi16(127));
      }
    });
  }

  template <bool Between>
  LEVADA_INLINE void mix(float lower_weight, const std::array<float, 3>& factor, const std::array<float, 3>& offset,
                         std::size_t begin, std::size_t count, const __m256i (*colours)[3], float* to,
                         std::size_t plane) const {
    const auto down = static_cast<std::int32_t>(lower_weight * 16384 + 0.5f);
    const __m256i weights = pairs(16384 - down, down);
    const floats factors[3] = {floats(factor[0]), floats(factor[1]), floats(factor[2])},
                 offsets[3] = {floats(offset[0]), floats(offset[1]), floats(offset[2])};
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t x = std::min((begin + i) * lanes, Columns - lanes);
      static_for<3>([&](auto c) LEVADA_INLINE {
        const __m256i all = colours[i][c];
        floats levels;
        if constexpr (Between) {
          const auto across = _mm256_add_epi16(
              _mm256_maddubs_epi16(weights_at(upper_weight_, x), all),
              _mm256_mulhrs_epi16(_mm256_maddubs_epi16(weights_at(lower_weight_, x), all), _mm256_set1_epi16(128)));
          levels = rounded<22>(_mm256_madd_epi16(across, weights));
        } else {
          levels = rounded<14>(_mm256_madd_epi16(all, weights));
        }
        multiply_add(levels, factors[c], offsets[c]).store_unaligned(to + c * plane + x);
      });
    }
  }

  template <bool Between>
  LEVADA_INLINE lumas lumas_of(const std::uint8_t* row, std::size_t block) const {
    constexpr std::int32_t one = ycbcr_factors::one;
    const auto base = _mm256_set1_epi32(256 * (Factors.luma * (128 - Factors.offset) + one / 2 - 128 * one));
    const auto levels = _mm256_xor_si256(luma_.of(row, block), _mm256_set1_epi16(-0x8000));
    lumas result{};
    result.of[0] = _mm256_add_epi32(_mm256_madd_epi16(levels, pairs(Factors.luma, 0)), base);
    if constexpr (Between) result.of[1] = _mm256_add_epi32(_mm256_madd_epi16(levels, pairs(0, Factors.luma)), base);
    return result;
  }

  template <bool Between>
  LEVADA_INLINE chromas chromas_of(const std::uint8_t* row, std::size_t block) const {
    const auto cells = _mm256_xor_si256(chroma_.of(row, block), _mm256_set1_epi16(Between ? -0x7f80 : -0x8000));
    chromas result{};
    static_for<Between ? 2 : 1>([&](auto k) LEVADA_INLINE {
      constexpr char cb = Between ? 2 * k : 1, cr = Between ? cb + 1 : 3;
      const auto both = Between ? _mm256_shuffle_epi8(cells, words(cb, cr)) : cells,
                 twice = _mm256_shuffle_epi8(cells, words(cb, cb));
      result.of[k][0] = _mm256_madd_epi16(both, pairs(0, Factors.red_cr));
      result.of[k][1] = _mm256_madd_epi16(both, pairs(Factors.green_cb, Factors.green_cr));
      // The factor has more than 15 bits.
      result.of[k][2] = _mm256_madd_epi16(twice, pairs(Factors.blue_cb / 2, Factors.blue_cb - Factors.blue_cb / 2));
    });
    return result;
  }

  LEVADA_INLINE static __m256i pairs(std::int32_t lower, std::int32_t upper) {
    return _mm256_set1_epi32(static_cast<std::int32_t>(static_cast<std::uint32_t>(upper) << 16 |
                                                       (static_cast<std::uint32_t>(lower) & 0xffff)));
  }
  /// Whole numbers of `a` in lower halves, of `b` in upper ones.
  LEVADA_INLINE static __m256i whole(__m256i a, __m256i b) {
    return _mm256_srai_epi16(_mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa), 6);
  }
  template <int Bits>
  LEVADA_INLINE static vector<float, Arch> rounded(__m256i less_128) {
    const auto levels = _mm256_add_epi32(less_128, _mm256_set1_epi32((257 << Bits) / 2));
    return _mm256_cvtepi32_ps(_mm256_srli_epi32(levels, Bits));
  }
  template <class... Place>
  LEVADA_INLINE static __m256i bytes(Place... place) {
    return _mm256_broadcastsi128_si256(_mm_setr_epi8(static_cast<char>(place)...));
  }
  LEVADA_INLINE static __m256i words(int lower, int upper) {
    return bytes(-1, lower, -1, upper, -1, lower + 4, -1, upper + 4, -1, lower + 8, -1, upper + 8, -1, lower + 12, -1,
                 upper + 12);
  }
  using column_weights = std::array<std::array<std::uint8_t, 4>, Columns>;
  LEVADA_INLINE static __m256i weights_at(const column_weights& weights, std::size_t x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights[x].data()));
  }

  byte_shuffles<Arch, Columns, luma_parts> luma_;
  byte_shuffles<Arch, Columns, chroma_parts> chroma_;
  /// The weights' upper and lower bytes: of the left and the right pixel, twice.
  column_weights upper_weight_, lower_weight_;
};

#else

template <class Arch, const ycbcr_factors& Factors, std::size_t Width, std::size_t Columns>
class nv12_columns {
 public:
  static constexpr bool possible = false;
};

#endif

}  // namespace levada::detail
