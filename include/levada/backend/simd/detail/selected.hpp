// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/selected.hpp: lanes of two vectors by a condition, for elements of every type.

#include <type_traits>

#include <levada/backend/simd/detail/vector.hpp>

namespace levada::detail {

/// The lanes of `a` where `takes_a` holds, else those of `b`. (xsimd 8.1 does not compile for integers of AVX-512
/// without optimisation, where the intrinsics are macros.)
template <class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> selected(const xsimd::batch_bool<T, Arch>& takes_a, const vector<T, Arch>& a,
                                              const vector<T, Arch>& b) {
#if XSIMD_WITH_AVX512BW
  if constexpr (isa::is_avx512<Arch> && std::is_integral_v<T>) {
    const __m512i yes = a, no = b;
    if constexpr (sizeof(T) == 1)
      return _mm512_mask_blend_epi8(takes_a.data, no, yes);
    else if constexpr (sizeof(T) == 2)
      return _mm512_mask_blend_epi16(takes_a.data, no, yes);
    else if constexpr (sizeof(T) == 4)
      return _mm512_mask_blend_epi32(takes_a.data, no, yes);
    else
      return _mm512_mask_blend_epi64(takes_a.data, no, yes);
  } else
#endif
    return xsimd::select(takes_a, a, b);
}

}  // namespace levada::detail
