// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/quads.hpp: four bytes of the input times four weights, added to one int32: what a lane does in
// one instruction where the machine has VNNI. A vector of int32 holds a quad in each lane.

#include <cstddef>
#include <cstdint>

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

/// sum + the four products of bytes of `inputs`, uint8, and `weights`, int8, of each lane.
template <class Arch>
LEVADA_INLINE inline vector<std::int32_t, Arch> add_quad_products(const vector<std::int32_t, Arch>& inputs,
                                                                  const vector<std::int32_t, Arch>& weights,
                                                                  const vector<std::int32_t, Arch>& sum) {
#if XSIMD_WITH_AVX512BW && defined(__AVX512VNNI__)
  if constexpr (std::is_base_of_v<isa::avx512vnni, Arch>) return _mm512_dpbusd_epi32(sum, inputs, weights);
#endif
#if defined(__AVXVNNI__)
  if constexpr (std::is_base_of_v<isa::avxvnni, Arch>) return _mm256_dpbusd_avx_epi32(sum, inputs, weights);
#endif
  // Bytes at even and at odd places as int16: the products of two fit into int32, not into the int16 of pmaddubsw.
  using pairs = vector<std::int32_t, Arch>;
  using shorts = typename raw_vector<std::int16_t, 2 * lanes_in<std::int32_t, Arch>>::type;
  const pairs low(0x00ff00ff);
  const auto w = std::bit_cast<shorts>(weights);
  const pairs even = std::bit_cast<pairs>(w << 8 >> 8), odd = std::bit_cast<pairs>(w >> 8);
  return sum + (add_pairs<Arch>(inputs & low, even) + add_pairs<Arch>((inputs >> 8) & low, odd));
}

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
    const vec kept = xsimd::min(xsimd::select(steps > vec(low_), steps, vec(low_)), vec(high_));
    return std::bit_cast<vector<std::int32_t, Arch>>(kept + vec(one)) + vector<std::int32_t, Arch>(shift_);
  }

 private:
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
    return finish(sums, floats(factor_[filter]));
  }
  LEVADA_INLINE sums_type of_filters(const sums_type& sums, std::size_t first) const {
    return finish(sums, load<float, Arch>(factor_.data() + first));
  }

 private:
  LEVADA_INLINE sums_type finish(const sums_type& sums, const floats& factors) const {
    const floats scaled = xsimd::to_float(sums) * factors;
    if constexpr (gives_float)
      return std::bit_cast<sums_type>(relu_ ? relu_of(scaled) : scaled);
    else
      return rounding_(scaled);
  }

  tensor<float, round_up(Op::outputs, lanes_in<float, Arch>)> factor_{};
  step_rounding<Arch> rounding_;
  bool relu_;
};

}  // namespace levada::detail
