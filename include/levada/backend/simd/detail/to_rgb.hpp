// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/to_rgb.hpp: pixel formats to R, G, B. A vector of pixels is made as one 32-bit word each, whose
// fourth bytes are then squeezed out.

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/image/to_rgb.hpp>

namespace levada {
namespace detail {

/// Bytes change places in one instruction, as everywhere but on the first 64-bit x86: there plain loops are faster.
template <class Arch>
inline constexpr bool shuffles_bytes =
#if (defined(__x86_64__) || defined(__i386__)) && !defined(__SSSE3__)
    false;
#else
    true;
#endif

/// As many bytes or half-words as a vector of floats has lanes, as words.
template <class Arch, class T>
LEVADA_INLINE inline auto load_words(const std::uint8_t* p) {
  constexpr std::size_t n = lanes_in<float, Arch>;
  using words = typename raw_vector<std::uint32_t, n>::type;
  using half_words = typename raw_vector<std::uint16_t, n>::type;
  // One instruction, which g++ 12 does not find.
#if XSIMD_WITH_AVX512F
  if constexpr (n == 16) {
    __m512i widened;
    if constexpr (sizeof(T) == 1)
      widened = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    else
      widened = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    words result;
    std::memcpy(&result, &widened, sizeof result);
    return result;
  }
#endif
#if XSIMD_WITH_AVX2
  if constexpr (n == 8) {
    __m256i widened;
    if constexpr (sizeof(T) == 1)
      widened = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    else
      widened = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    words result;
    std::memcpy(&result, &widened, sizeof result);
    return result;
  }
#endif
  typename raw_vector<T, n>::type values;
  std::memcpy(&values, p, sizeof values);
  // In two steps: for one from bytes to words g++ takes the bytes apart.
  return __builtin_convertvector(__builtin_convertvector(values, half_words), words);
}

/// Lanes below 2^16 as floats.
template <class Arch, class Raw>
LEVADA_INLINE inline vector<float, Arch> floats_of(const Raw& values) {
  constexpr std::size_t n = lanes_in<float, Arch>;
  const auto converted = __builtin_convertvector(
      __builtin_convertvector(values, typename raw_vector<std::int32_t, n>::type), typename raw_vector<float, n>::type);
  vector<float, Arch> result;
  std::memcpy(&result, &converted, sizeof result);
  return result;
}

/// Pixels as words R | G << 8 | B << 16, one vector of them.
template <class Arch>
struct rgb_words {
  static constexpr std::size_t count = lanes_in<float, Arch>;
  using words = typename raw_vector<std::uint32_t, count>::type;
  using bytes = typename raw_vector<std::uint8_t, 4 * count>::type;

  words pixels;

  /// Writes three bytes a pixel, and `count` more behind them where there is `Room`. Any fourth byte is left out.
  template <bool Room>
  LEVADA_INLINE void store(std::uint8_t* out) const {
    if constexpr (!shuffles_bytes<Arch>) {
      for (std::size_t i = 0; i < 3 * count; ++i) out[i] = static_cast<std::uint8_t>(pixels[i / 3] >> i % 3 * 8);
      return;
    }
    bytes b;
    std::memcpy(&b, &pixels, sizeof b);
    // Within 16 bytes, then among words: two instructions where one for both would be many.
    b = squeeze(b, std::make_index_sequence<sizeof b>());
    words w;
    std::memcpy(&w, &b, sizeof w);
    w = gather(w, std::make_index_sequence<count>());
    std::memcpy(out, &w, Room ? 4 * count : 3 * count);
  }

 private:
  template <std::size_t... I>
  LEVADA_INLINE static bytes squeeze(bytes b, std::index_sequence<I...>) {
    return __builtin_shufflevector(
        b, b, (static_cast<int>(I / 16 * 16 + (I % 16 < 12 ? I % 16 / 3 * 4 + I % 16 % 3 : 15)))...);
  }
  template <std::size_t... I>
  LEVADA_INLINE static words gather(words w, std::index_sequence<I...>) {
    return __builtin_shufflevector(w, w, (static_cast<int>(I < count / 4 * 3 ? I / 3 * 4 + I % 3 : 3))...);
  }
};

/// What the chroma of a vector of pixels adds to their luma.
///
/// The factors are whole multiples of 2^-14 and every sum of products stays below 2^10: floats hold them exactly, so
/// that the result is that of the whole-number definition to the bit.
template <class Arch>
struct chroma_terms {
  using floats = vector<float, Arch>;
  using raw = typename raw_vector<float, lanes_in<float, Arch>>::type;

  floats red, green, blue;

  /// From Cb, Cr, Cb, Cr, ..., a pair for every two pixels.
  template <const ycbcr_factors& Factors>
  LEVADA_INLINE static chroma_terms of(const floats& pairs) {
    return of<Factors>(every_other<0>(pairs), every_other<1>(pairs));
  }
  template <const ycbcr_factors& Factors>
  LEVADA_INLINE static chroma_terms of(const floats& cb, const floats& cr) {
    constexpr std::int32_t base = ycbcr_factors::one / 2 - Factors.luma * Factors.offset;
    const auto term = [](std::int32_t f) LEVADA_INLINE { return floats(real(f)); };
    return {multiply_add(cr, term(Factors.red_cr), term(base - 128 * Factors.red_cr)),
            multiply_add(
                cr, term(Factors.green_cr),
                multiply_add(cb, term(Factors.green_cb), term(base - 128 * (Factors.green_cb + Factors.green_cr)))),
            multiply_add(cb, term(Factors.blue_cb), term(base - 128 * Factors.blue_cb))};
  }

  template <const ycbcr_factors& Factors>
  LEVADA_INLINE rgb_words<Arch> with(const floats& luma) const {
    const floats factor(real(Factors.luma));
    return {level(multiply_add(luma, factor, red)) | level(multiply_add(luma, factor, green)) << 8 |
            level(multiply_add(luma, factor, blue)) << 16};
  }
  /// The same as whole numbers in floats.
  template <const ycbcr_factors& Factors>
  LEVADA_INLINE std::array<floats, 3> colours(const floats& luma) const {
    const floats factor(real(Factors.luma));
    const auto whole = [](const floats& v) LEVADA_INLINE { return xsimd::trunc(held(v)); };
    return {whole(multiply_add(luma, factor, red)), whole(multiply_add(luma, factor, green)),
            whole(multiply_add(luma, factor, blue))};
  }

 private:
  using words = typename rgb_words<Arch>::words;

  static constexpr float real(std::int32_t factor) {
    return static_cast<float>(factor) / static_cast<float>(ycbcr_factors::one);
  }

  LEVADA_INLINE static floats held(const floats& v) { return xsimd::min(xsimd::max(v, floats(0.0f)), floats(255.0f)); }
  LEVADA_INLINE static words level(const floats& v) {
    const auto whole = convert<std::int32_t>(held(v));
    words w;
    static_assert(sizeof w == sizeof whole);
    std::memcpy(&w, &whole, sizeof w);
    return w;
  }

  template <std::size_t Which>
  LEVADA_INLINE static floats every_other(const floats& pairs) {
    raw values;
    std::memcpy(&values, &pairs, sizeof values);
    values = doubled<Which>(values, std::make_index_sequence<lanes_in<float, Arch>>());
    floats result;
    std::memcpy(&result, &values, sizeof values);
    return result;
  }
  template <std::size_t Which, std::size_t... I>
  LEVADA_INLINE static raw doubled(raw v, std::index_sequence<I...>) {
    return __builtin_shufflevector(v, v, (static_cast<int>(I / 2 * 2 + Which))...);
  }
};

}  // namespace detail

template <class Arch, class In, ycbcr_matrix Matrix, ycbcr_range Range>
  requires op_takes<to_rgb_op<Matrix, Range>, In>
struct simd_kernel<Arch, In, to_rgb_op<Matrix, Range>> : detail::plain_simd_kernel<Arch, to_rgb_op<Matrix, Range>> {
  using op_type = to_rgb_op<Matrix, Range>;
  using detail::plain_simd_kernel<Arch, op_type>::plain_simd_kernel;
  using out_type = typename op_type::template output<In>;

  void operator()(const In& in, out_type& out, std::byte*) const {
    const view& from = view_of(in);
    if constexpr (std::same_as<format, pixel::nv12> && width >= lanes) {
      for (std::size_t y = 0; y < height; y += 2) two_rows_of_nv12(from, y, out);
    } else {
      for (std::size_t y = 0; y < height; ++y) row(from, y, row_of(out, y));
    }
  }

 private:
  using view = image_of<In>;
  using format = typename view::format;
  using words = detail::rgb_words<Arch>;
  using terms = detail::chroma_terms<Arch>;
  using raw_words = typename words::words;
  static constexpr std::size_t lanes = words::count, height = view::height, width = view::width;
  static constexpr const ycbcr_factors& factors = op_type::factors;

  static std::uint8_t* row_of(out_type& out, std::size_t y) { return out.data() + y * 3 * width; }

  /// Calls `block(x, room)` for whole vectors of a row that is no shorter than one; the last two may overlap. Where
  /// there is `room`, as many pixels as a third of a vector follow that are written later.
  template <class Block>
  LEVADA_INLINE static void for_blocks(Block&& block) {
    std::size_t x = 0;
    for (; x + lanes + (lanes + 2) / 3 <= width; x += lanes) block(x, std::true_type());
    for (; x + lanes <= width; x += lanes) block(x, std::false_type());
    if constexpr (width % lanes != 0) block(width - lanes, std::false_type());
  }

  /// Two rows share their chroma.
  static void two_rows_of_nv12(const view& from, std::size_t y, out_type& out) {
    const std::uint8_t *const upper = from.row(0, y), *const lower = from.row(0, y + 1),
                              *const pairs = from.row(1, y / 2);
    std::uint8_t *const to_upper = row_of(out, y), *const to_lower = row_of(out, y + 1);
    for_blocks([&](std::size_t x, auto room) LEVADA_INLINE {
      const auto chroma = terms::template of<factors>(floats(pairs + x));
      chroma.template with<factors>(floats(upper + x)).template store<room()>(to_upper + 3 * x);
      chroma.template with<factors>(floats(lower + x)).template store<room()>(to_lower + 3 * x);
    });
  }

  LEVADA_INLINE static auto floats(const std::uint8_t* p) {
    return detail::floats_of<Arch>(detail::load_words<Arch, std::uint8_t>(p));
  }

  static void row(const view& from, std::size_t y, std::uint8_t* out) {
    const std::uint8_t* const in = from.row(0, y);
    if constexpr (std::same_as<format, pixel::rgb>) {
      std::memcpy(out, in, 3 * width);
    } else if constexpr (std::same_as<format, pixel::bgr>) {
      std::size_t x = 0;
      // Five pixels in 16 bytes; the sixteenth is written again by who comes next.
      for (; detail::shuffles_bytes<Arch> && 3 * x + 16 <= 3 * width; x += 5) {
        typename detail::raw_vector<std::uint8_t, 16>::type five;
        std::memcpy(&five, in + 3 * x, 16);
        five = __builtin_shufflevector(five, five, 2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 15);
        std::memcpy(out + 3 * x, &five, 16);
      }
      for (; x < width; ++x) one_by_one(from, y, x, out);
    } else if constexpr (width < lanes || (!detail::shuffles_bytes<Arch> && !std::same_as<format, pixel::yuyv>)) {
      for (std::size_t x = 0; x < width; ++x) one_by_one(from, y, x, out);
    } else {
      for_blocks([&](std::size_t x, auto room) LEVADA_INLINE { block(in, x).template store<room()>(out + 3 * x); });
    }
  }

  static void one_by_one(const view& from, std::size_t y, std::size_t x, std::uint8_t* out) {
    const rgb_pixel p = rgb_at(from, factors, y, x);
    for (std::size_t c = 0; c < 3; ++c) out[3 * x + c] = p[c];
  }

  LEVADA_INLINE static words block(const std::uint8_t* in, std::size_t x) {
    if constexpr (std::same_as<format, pixel::rgba>) {
      raw_words w;
      std::memcpy(&w, in + 4 * x, sizeof w);
      return {w};
    } else if constexpr (std::same_as<format, pixel::gray>) {
      const raw_words w = detail::load_words<Arch, std::uint8_t>(in + x);
      return {w | w << 8 | w << 16};
    } else {
      static_assert(std::same_as<format, pixel::yuyv> && std::endian::native == std::endian::little);
      // Y' below, Cb and Cr in turn above it.
      const raw_words both = detail::load_words<Arch, std::uint16_t>(in + 2 * x);
      return terms::template of<factors>(detail::floats_of<Arch>(both >> 8))
          .template with<factors>(detail::floats_of<Arch>(both & 255));
    }
  }
};

}  // namespace levada
