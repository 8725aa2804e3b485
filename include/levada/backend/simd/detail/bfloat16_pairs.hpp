// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/bfloat16_pairs.hpp: vectors of float that are rounded to bfloat16, and pairs of bfloat16, one in
// each lane of 32 bits: two products are added to one float in a single instruction where the machine has AVX512_BF16,
// which takes denormals for zeros.

#include <bit>
#include <cstdint>
#include <cstring>

#include <levada/backend/simd/detail/vector.hpp>
#include <levada/core/detail/bfloat16.hpp>
#include <levada/nn/bfloat16.hpp>

namespace levada::detail {

template <class Arch>
LEVADA_INLINE inline vector<std::int32_t, Arch> bits_of(const vector<float, Arch>& x) {
  return std::bit_cast<vector<std::int32_t, Arch>>(x);
}
template <class Arch>
LEVADA_INLINE inline vector<float, Arch> float_of(const vector<std::int32_t, Arch>& bits) {
  return std::bit_cast<vector<float, Arch>>(bits);
}

/// The nearest numbers of bfloat16, halves to even, as `bfloat16` rounds.
template <class Arch>
LEVADA_INLINE inline vector<float, Arch> rounded_to_bfloat16(const vector<float, Arch>& x) {
  using ints = vector<std::int32_t, Arch>;
  const ints bits = bits_of<Arch>(x);
  const ints near = bits + ((bits >> 16) & ints(1)) + ints(0x7fff), quiet = bits | ints(0x400000);
  const vector<float, Arch> kept = xsimd::select(xsimd::isnan(x), float_of<Arch>(quiet), float_of<Arch>(near));
  return float_of<Arch>(bits_of<Arch>(kept) & ints(static_cast<std::int32_t>(0xffff0000)));
}

/// A vector from memory of float or bfloat16, rounded to bfloat16; `N` elements of it are there, the others are zeros.
template <std::size_t N, class Arch>
LEVADA_INLINE inline vector<float, Arch> load_rounded(const float* from) {
  return rounded_to_bfloat16<Arch>(load_part<N, float, Arch>(from));
}
template <std::size_t N, class Arch>
LEVADA_INLINE inline vector<float, Arch> load_rounded(const bfloat16* from) {
  std::uint16_t bits[lanes_in<float, Arch>]{};
  std::memcpy(bits, from, N * sizeof *bits);
  return float_of<Arch>(load_as<std::int32_t, Arch>(bits) << 16);
}

/// The first `N` lanes to memory of float or bfloat16.
template <std::size_t N, class Arch>
LEVADA_INLINE inline void store_rounded(float* to, const vector<float, Arch>& x) {
  store_part<N>(to, x);
}
template <std::size_t N, class Arch>
LEVADA_INLINE inline void store_rounded(bfloat16* to, const vector<float, Arch>& x) {
  std::uint16_t bits[lanes_in<float, Arch>];
  store_as(bits, bits_of<Arch>(rounded_to_bfloat16<Arch>(x)) >> 16 & vector<std::int32_t, Arch>(0xffff));
  std::memcpy(to, bits, N * sizeof *bits);
}

/// Two vectors, rounded, as pairs.
template <class Arch>
LEVADA_INLINE inline vector<float, Arch> paired(const vector<float, Arch>& first, const vector<float, Arch>& second) {
  return float_of<Arch>((bits_of<Arch>(first) >> 16 & vector<std::int32_t, Arch>(0xffff)) | bits_of<Arch>(second));
}
constexpr float paired(bfloat16 first, bfloat16 second) {
  return std::bit_cast<float>(std::uint32_t{second.bits} << 16 | first.bits);
}

/// The machine multiplies pairs.
template <class Arch>
inline constexpr bool multiplies_pairs = isa::has_bf16<Arch>;

/// sum + the two products of each lane.
template <class Arch>
LEVADA_INLINE inline vector<float, Arch> add_pair_products(const vector<float, Arch>& a, const vector<float, Arch>& b,
                                                           const vector<float, Arch>& sum) {
#if XSIMD_WITH_AVX512BW && defined(__AVX512BF16__)
  if constexpr (multiplies_pairs<Arch>) {
#if defined(__clang__)  // clang 16 crashes where it sees that the bits of a float are a pair
    __m512 result = sum;
    asm("vdpbf16ps %2, %1, %0" : "+v"(result) : "v"(a.data), "v"(b.data));
    return result;
#else
    return _mm512_dpbf16_ps(sum, std::bit_cast<__m512bh>(a.data), std::bit_cast<__m512bh>(b.data));
#endif
  }
#endif
  using ints = vector<std::int32_t, Arch>;
  const ints x = bits_of<Arch>(a), y = bits_of<Arch>(b), upper(static_cast<std::int32_t>(0xffff0000));
  return multiply_add(float_of<Arch>(x << 16), float_of<Arch>(y << 16),
                      multiply_add(float_of<Arch>(x & upper), float_of<Arch>(y & upper), sum));
}

/// Numbers kept in a range; NaN stays NaN, by the order of the operands.
template <class Arch>
LEVADA_INLINE inline vector<float, Arch> kept_in(const result_range& range, const vector<float, Arch>& x) {
  using vec = vector<float, Arch>;
  return xsimd::min(vec(range.high), xsimd::max(vec(range.low), x));
}

/// Sums as an op gives them: in its range, and rounded where `To` is bfloat16.
template <std::size_t Count, class Arch, class To>
LEVADA_INLINE inline void finish_sums(const float* sums, To* to, const result_range& range) {
  for_each_vector<float, Arch, Count>(
      [&](std::size_t i) LEVADA_INLINE {
        store_rounded<lanes_in<float, Arch>>(to + i, kept_in<Arch>(range, load<float, Arch>(sums + i)));
      },
      [&](std::size_t i, auto n)
          LEVADA_INLINE { store_rounded<n>(to + i, kept_in<Arch>(range, load_part<n, float, Arch>(sums + i))); });
}

}  // namespace levada::detail
