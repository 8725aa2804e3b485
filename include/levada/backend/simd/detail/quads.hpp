// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/quads.hpp: four bytes of the input times four weights, added to one int32: what a lane does in
// one instruction where the machine has VNNI. A vector of int32 holds a quad in each lane.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <levada/backend/detail/quantized_weights.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/nn/quantized.hpp>

namespace levada::detail {

/// Four weights as they lie in a lane.
constexpr std::int32_t quad_of(const std::int8_t (&bytes)[4]) {
  std::uint32_t quad = 0;
  for (std::size_t i = 0; i < 4; ++i) quad |= std::uint32_t{static_cast<std::uint8_t>(bytes[i])} << 8 * i;
  return static_cast<std::int32_t>(quad);
}

/// The sums of the products of neighbours: int16 times int16, as int32.
template <class Arch>
LEVADA_INLINE inline vector<std::int32_t, Arch> add_pairs(const vector<std::int32_t, Arch>& a,
                                                          const vector<std::int32_t, Arch>& b) {
#if XSIMD_WITH_AVX512BW
  if constexpr (std::is_base_of_v<xsimd::avx512bw, Arch>) return _mm512_madd_epi16(a, b);
#endif
#if XSIMD_WITH_AVX2
  if constexpr (std::is_base_of_v<xsimd::avx2, Arch>) return _mm256_madd_epi16(a, b);
#endif
#if XSIMD_WITH_SSE2
  if constexpr (std::is_base_of_v<xsimd::sse2, Arch> && lanes_in<std::int32_t, Arch> == 4) return _mm_madd_epi16(a, b);
#endif
  using raw = typename raw_vector<std::int32_t, lanes_in<std::int32_t, Arch>>::type;
  const raw x = std::bit_cast<raw>(a), y = std::bit_cast<raw>(b);
  return std::bit_cast<vector<std::int32_t, Arch>>((x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16));
}

/// The machine multiplies quads in one instruction.
template <class Arch>
inline constexpr bool multiplies_quads =
    std::is_base_of_v<isa::avx512vnni, Arch> || std::is_base_of_v<isa::avxvnni, Arch>;

/// It multiplies bytes and adds neighbours, as int16 that stop at their limits.
template <class Arch>
inline constexpr bool multiplies_byte_pairs =
    !multiplies_quads<Arch> && (std::is_base_of_v<xsimd::avx512bw, Arch> || std::is_base_of_v<xsimd::avx2, Arch> ||
                                (std::is_base_of_v<xsimd::ssse3, Arch> && lanes_in<std::int32_t, Arch> == 4));

/// No uint8 take the sums of neighbours of such weights to the limits of int16.
constexpr bool pairs_fit(std::int32_t quad) {
  for (int first : {0, 16}) {
    const int a = quad << (24 - first) >> 24, b = quad << (16 - first) >> 24;  // with their signs
    if (std::max(a, 0) + std::max(b, 0) > 128 || std::min(a, 0) + std::min(b, 0) < -128) return false;
  }
  return true;
}

/// The products of neighbours: uint8 times int8, added as int16.
template <class Arch>
LEVADA_INLINE inline vector<std::int32_t, Arch> add_byte_pairs(
    [[maybe_unused]] const vector<std::int32_t, Arch>& inputs,
    [[maybe_unused]] const vector<std::int32_t, Arch>& weights) {
  static_assert(multiplies_byte_pairs<Arch>);
#if XSIMD_WITH_AVX512BW
  if constexpr (std::is_base_of_v<xsimd::avx512bw, Arch>) return _mm512_maddubs_epi16(inputs, weights);
#endif
#if XSIMD_WITH_AVX2
  if constexpr (std::is_base_of_v<xsimd::avx2, Arch>) return _mm256_maddubs_epi16(inputs, weights);
#endif
#if XSIMD_WITH_SSSE3
  if constexpr (std::is_base_of_v<xsimd::ssse3, Arch> && lanes_in<std::int32_t, Arch> == 4)
    return _mm_maddubs_epi16(inputs, weights);
#endif
}

/// sum + the four products of each lane.
template <class Arch>
LEVADA_INLINE inline vector<std::int32_t, Arch> add_quads_at_once(
    [[maybe_unused]] const vector<std::int32_t, Arch>& inputs,
    [[maybe_unused]] const vector<std::int32_t, Arch>& weights, const vector<std::int32_t, Arch>& sum) {
  static_assert(multiplies_quads<Arch>);
#if XSIMD_WITH_AVX512BW && defined(__AVX512VNNI__)
  if constexpr (std::is_base_of_v<isa::avx512vnni, Arch>) return _mm512_dpbusd_epi32(sum, inputs, weights);
#endif
#if defined(__AVXVNNI__)
  if constexpr (std::is_base_of_v<isa::avxvnni, Arch>) return _mm256_dpbusd_avx_epi32(sum, inputs, weights);
#endif
  return sum;  // a unit that may not use the set knows it by its name alone
}

/// Registers that products of quads take beside their factors and the sum.
template <class Arch>
inline constexpr std::size_t registers_of_quads = multiplies_quads<Arch> ? 0 : 2;

/// sum + the four products of bytes of `inputs`, uint8, and `weights`, int8, of each lane. `PairsFit`: those of all
/// weights do.
template <class Arch, bool PairsFit = false>
LEVADA_INLINE inline vector<std::int32_t, Arch> add_quad_products(const vector<std::int32_t, Arch>& inputs,
                                                                  const vector<std::int32_t, Arch>& weights,
                                                                  const vector<std::int32_t, Arch>& sum) {
  using pairs = vector<std::int32_t, Arch>;
  pairs all;
  if constexpr (multiplies_quads<Arch>) {
    all = add_quads_at_once<Arch>(inputs, weights, sum);
  } else if constexpr (PairsFit && multiplies_byte_pairs<Arch>) {
    all = sum + add_pairs<Arch>(add_byte_pairs<Arch>(inputs, weights), pairs(0x00010001));
  } else {
    // Bytes at even and at odd places as int16: the products of two fit into int32, not into the int16 of pmaddubsw.
    using shorts = typename raw_vector<std::int16_t, 2 * lanes_in<std::int32_t, Arch>>::type;
    const pairs low(0x00ff00ff);
    const auto w = std::bit_cast<shorts>(weights);
    const pairs even = std::bit_cast<pairs>(w << 8 >> 8), odd = std::bit_cast<pairs>(w >> 8);
    all = sum + (add_pairs<Arch>(inputs & low, even) + add_pairs<Arch>((inputs >> 8) & low, odd));
  }
  // Integers may be added in any order: g++ 12 would have the products of several taps before it adds any, and keep
  // them, or the sums of a large tile, in memory.
#if defined(__x86_64__) || defined(__i386__)
  asm("" : "+v"(all.data));
#endif
  return all;
}

/// It also puts bytes of a vector where they are needed.
template <class Arch>
inline constexpr bool picks_quads = multiplies_quads<Arch> || multiplies_byte_pairs<Arch>;

/// Each lane the four bytes from `Step` times its number on, for a Step of 1 or 2. Reads `neighbour_bytes`.
template <std::size_t Step, class Arch>
LEVADA_INLINE inline vector<std::int32_t, Arch> neighbour_quads(const void* from) {
  static_assert((Step == 1 || Step == 2) && picks_quads<Arch>);
#if XSIMD_WITH_SSSE3
  // First the dwords that each part of 128 bits needs, then its bytes.
  constexpr int s = Step;
  const __m128i bytes = s == 1 ? _mm_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6)
                               : _mm_setr_epi8(0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7, 8, 9);
#if XSIMD_WITH_AVX512BW
  if constexpr (isa::is_avx512<Arch>) {
    const __m512i parts = _mm512_setr_epi32(0, 1, 2, 3, s, s + 1, s + 2, s + 3, 2 * s, 2 * s + 1, 2 * s + 2, 2 * s + 3,
                                            3 * s, 3 * s + 1, 3 * s + 2, 3 * s + 3);
    const __m512i all = s == 1 ? _mm512_castsi256_si512(_mm256_loadu_si256(static_cast<const __m256i*>(from)))
                               : _mm512_loadu_si512(from);
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(parts, all), _mm512_broadcast_i32x4(bytes));
  }
#endif
#if XSIMD_WITH_AVX2
  if constexpr (lanes_in<std::int32_t, Arch> == 8) {
    const __m256i parts = _mm256_setr_epi32(0, 1, 2, 3, s, s + 1, s + 2, s + 3);
    const __m256i all = _mm256_loadu_si256(static_cast<const __m256i*>(from));
    return _mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(all, parts), _mm256_broadcastsi128_si256(bytes));
  }
#endif
  if constexpr (lanes_in<std::int32_t, Arch> == 4)
    return _mm_shuffle_epi8(_mm_loadu_si128(static_cast<const __m128i*>(from)), bytes);
#endif
  // A unit that may not use the set knows it by its name alone.
  std::int32_t quads[lanes_in<std::int32_t, Arch>];
  for (std::size_t i = 0; i < std::size(quads); ++i)
    std::memcpy(quads + i, static_cast<const std::byte*>(from) + Step * i, sizeof *quads);
  return load<std::int32_t, Arch>(quads);
}
template <std::size_t Step, class Arch>
inline constexpr std::size_t neighbour_bytes = isa::is_avx512<Arch> && Step == 2 ? 64 : 32;

/// What turns int8 into the uint8 that is 128 more, in a whole quad.
template <class Value>
inline constexpr std::int32_t quad_sign =
    std::is_same_v<Value, std::int8_t> ? static_cast<std::int32_t>(0x80808080) : 0;
/// The zero point of inputs as the uint8 that are multiplied.
template <class Value>
constexpr int quad_zero_point(const qlinear_numbers& numbers) {
  return numbers.x.zero_point + (std::is_same_v<Value, std::int8_t> ? 128 : 0);
}

/// The numbers that integers stand for.
template <class Arch>
LEVADA_INLINE inline vector<float, Arch> dequantized(const vector<std::int32_t, Arch>& integers,
                                                     const quantization& of) {
  return xsimd::to_float(integers - vector<std::int32_t, Arch>(of.zero_point)) * vector<float, Arch>(of.scale);
}

/// Numbers counted in steps as the nearest integers, halves to even, from a zero point on.
template <class Arch>
class step_rounding {
 public:
  step_rounding(int zero_point, int lowest, int highest)
      : low_(static_cast<float>(lowest - zero_point)),
        high_(static_cast<float>(highest - zero_point)),
        shift_(zero_point - one_bits) {}

  LEVADA_INLINE vector<std::int32_t, Arch> operator()(const vector<float, Arch>& steps) const {
    using vec = vector<float, Arch>;
    // NaN is not above the lowest. A number of this size beside `one` has no binary places: the sum is rounded to an
    // integer.
    const vec kept = xsimd::min(larger(steps, vec(low_)), vec(high_));
    return std::bit_cast<vector<std::int32_t, Arch>>(kept + vec(one)) + vector<std::int32_t, Arch>(shift_);
  }

 private:
  /// a > b ? a : b. (maxps is that.)
  LEVADA_INLINE static vector<float, Arch> larger(const vector<float, Arch>& a, const vector<float, Arch>& b) {
    if constexpr (std::is_base_of_v<xsimd::sse2, Arch> || std::is_base_of_v<xsimd::avx, Arch> || isa::is_avx512<Arch>)
      return xsimd::max(a, b);
    else
      return xsimd::select(a > b, a, b);
  }

  static constexpr float one = 0x1.8p23f;
  static constexpr int one_bits = std::bit_cast<int>(one);

  float low_, high_;
  int shift_;
};

/// What becomes of the sums of `Op`, as an epilogue (backend/simd/detail/tail.hpp): integers, or the bits of float.
template <class Arch, class Op>
class qlinear_epilogue {
  using sums_type = vector<std::int32_t, Arch>;
  using floats = vector<float, Arch>;
  using result = typename Op::result_type;
  static constexpr bool gives_float = std::is_same_v<result, float>;
  using integer = std::conditional_t<gives_float, std::uint8_t, result>;  // float is not rounded

 public:
  /// What it gives, as kernels write it.
  using written = std::conditional_t<gives_float, std::int32_t, result>;

  template <class Weights>
  qlinear_epilogue(const Op& op, const Weights& weights)
      : rounding_(op.numbers.y.zero_point, lowest_of<integer>(op.numbers.y, op.numbers.relu),
                  std::numeric_limits<integer>::max()),
        relu_(op.numbers.relu) {
    std::copy_n(weights.factor.begin(), Op::outputs, factor_.begin());
  }

  LEVADA_INLINE sums_type of_filter(const sums_type& sums, std::size_t filter) const {
    return local(*this).of_filter(sums, filter);
  }
  LEVADA_INLINE sums_type of_filters(const sums_type& sums, std::size_t first) const {
    return local(*this).of_filters(sums, first);
  }

  /// Its numbers as a caller's own, which bytes that are written cannot change.
  class local {
   public:
    LEVADA_INLINE explicit local(const qlinear_epilogue& of)
        : factors_(of.factor_.data()), rounding_(of.rounding_), relu_(of.relu_) {}

    LEVADA_INLINE sums_type of_filter(const sums_type& sums, std::size_t filter) const {
      return finish(sums, floats(factors_[filter]));
    }
    LEVADA_INLINE sums_type of_filters(const sums_type& sums, std::size_t first) const {
      return finish(sums, load<float, Arch>(factors_ + first));
    }

   private:
    LEVADA_INLINE sums_type finish(const sums_type& sums, const floats& factors) const {
      const floats scaled = xsimd::to_float(sums) * factors;
      if constexpr (gives_float)
        return std::bit_cast<sums_type>(relu_ ? relu_of(scaled) : scaled);
      else
        return rounding_(scaled);
    }

    const float* factors_;
    step_rounding<Arch> rounding_;
    bool relu_;
  };

 private:
  tensor<float, round_up(Op::outputs, lanes_in<float, Arch>)> factor_{};
  step_rounding<Arch> rounding_;
  bool relu_;
};

}  // namespace levada::detail
