// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/vector.hpp: what the kernels need of a vector register beside xsimd: parts of vectors, a real
// fused multiply-add, reductions under one name, conversions, permutations, loops that vanish.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <levada/core/detail/bfloat16.hpp>
#include <levada/kernel/detail/instruction_set.hpp>

/// For lambdas whose arrays must become registers. Without optimisation nothing does, and a compiler that inlines them
/// takes several times as long.
#ifdef __OPTIMIZE__
#define LEVADA_INLINE __attribute__((always_inline))
#else
#define LEVADA_INLINE
#endif

namespace levada::detail {

template <class T, class Arch>
using vector = xsimd::batch<T, Arch>;

/// The number of elements of type `T` in a register.
template <class T, class Arch>
inline constexpr std::size_t lanes_in = vector<T, Arch>::size;

/// The vector registers of an instruction set.
template <class Arch>
inline constexpr std::size_t register_count =
#if defined(__aarch64__)
    32;
#else
    isa::is_avx512<Arch> ? 32 : 16;
#endif

constexpr std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
constexpr std::size_t ceil_div(std::size_t n, std::size_t step) { return (n + step - 1) / step; }

/// Calls `f(integral_constant<0>) ... f(integral_constant<N - 1>)`. A plain loop over a small array of vectors leaves
/// the array in memory with g++: it is unrolled after the pass that turns arrays into registers.
template <std::size_t N, class F>
LEVADA_INLINE inline constexpr void static_for(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>)
      LEVADA_INLINE { (f(std::integral_constant<std::size_t, I>()), ...); }(std::make_index_sequence<N>());
}

/// Calls `f(i, j)`, or `f(i, j, k)`, for all indices below these: one function for each of them to compile, where
/// nested ones would be several.
template <std::size_t I, std::size_t J, class F>
LEVADA_INLINE inline constexpr void static_for(F&& f) {
  [&]<std::size_t... N>(std::index_sequence<N...>) LEVADA_INLINE {
    (f(std::integral_constant<std::size_t, N / J>(), std::integral_constant<std::size_t, N % J>()), ...);
  }(std::make_index_sequence<I * J>());
}
template <std::size_t I, std::size_t J, std::size_t K, class F>
LEVADA_INLINE inline constexpr void static_for(F&& f) {
  [&]<std::size_t... N>(std::index_sequence<N...>) LEVADA_INLINE {
    (f(std::integral_constant<std::size_t, N / K / J>(), std::integral_constant<std::size_t, N / K % J>(),
       std::integral_constant<std::size_t, N % K>()),
     ...);
  }(std::make_index_sequence<I * J * K>());
}

/// Calls `f(0) ... f(N - 1)`, or `f(i, j)` and `f(i, j, k)` for all indices below these, each call
/// inlined. Where an index is a number alone: `f` is compiled once, by static_for once for each index.
template <std::size_t N, class F>
LEVADA_INLINE inline constexpr void unrolled(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) LEVADA_INLINE { (f(I), ...); }(std::make_index_sequence<N>());
}
template <std::size_t I, std::size_t J, class F>
LEVADA_INLINE inline constexpr void unrolled(F&& f) {
  [&]<std::size_t... N>(std::index_sequence<N...>)
      LEVADA_INLINE { (f(N / J, N % J), ...); }(std::make_index_sequence<I * J>());
}
template <std::size_t I, std::size_t J, std::size_t K, class F>
LEVADA_INLINE inline constexpr void unrolled(F&& f) {
  [&]<std::size_t... N>(std::index_sequence<N...>)
      LEVADA_INLINE { (f(N / K / J, N / K % J, N % K), ...); }(std::make_index_sequence<I * J * K>());
}

/// Integers wrap around: where xsimd multiplies number by number, signed ones must not overflow.
template <class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> product(const vector<T, Arch>& a, const vector<T, Arch>& b) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    using wide = vector<std::make_unsigned_t<T>, Arch>;
    return xsimd::bitwise_cast<vector<T, Arch>>(xsimd::bitwise_cast<wide>(a) * xsimd::bitwise_cast<wide>(b));
  } else {
    return a * b;
  }
}

/// a * b + c, rounded once where the machine can. (xsimd 8.1 multiplies and adds on AVX-512, which clang does not
/// fuse.)
template <class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> multiply_add(const vector<T, Arch>& a, const vector<T, Arch>& b,
                                                  const vector<T, Arch>& c) {
  if constexpr (std::is_integral_v<T>) return product<T, Arch>(a, b) + c;
#if XSIMD_WITH_AVX512F
  if constexpr (std::is_base_of_v<xsimd::avx512f, Arch> && std::is_same_v<T, float>)
    return _mm512_fmadd_ps(a, b, c);
  else if constexpr (std::is_base_of_v<xsimd::avx512f, Arch> && std::is_same_v<T, double>)
    return _mm512_fmadd_pd(a, b, c);
  else
#endif
    return xsimd::fma(a, b, c);
}

/// The larger; NaN where either is NaN.
template <class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> maximum(const vector<T, Arch>& a, const vector<T, Arch>& b) {
  if constexpr (std::is_integral_v<T>)
    return xsimd::max(a, b);
  else  // where either is NaN xsimd::max gives b on x86 and NaN on ARM, so that only a NaN of a is missing
    return xsimd::select(xsimd::isnan(a), a, xsimd::max(a, b));
}

/// max(a, 0), NaN where a is NaN.
template <class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> relu_of(const vector<T, Arch>& a) {
  return xsimd::max(vector<T, Arch>(T{0}), a);
}

/// Keeps a value in its register. Without, g++ 12 loads a vector again for each use as an operand from memory: a tile
/// of 4 x 3 multiply-adds has 16 loads instead of 7 and takes 1.3 times as long. `a` is a variable of its own: an array
/// of which an element is kept stays in memory.
template <class T, class Arch>
LEVADA_INLINE inline void keep([[maybe_unused]] vector<T, Arch>& a) {
#if defined(__x86_64__) || defined(__i386__)
  asm("" : "+v"(a.data));
#endif
}

/// Keeps a factor in its register behind its multiply-adds. Without, g++ 12 puts a sum there where the factor is needed
/// no more; where all registers are taken, other sums then move to memory and back.
template <class T, class Arch>
LEVADA_INLINE inline void outlive([[maybe_unused]] const vector<T, Arch>& a) {
#if defined(__x86_64__) || defined(__i386__)
  asm("" : : "v"(a.data));
#endif
}

/// The sum of all lanes.
template <class T, class Arch>
LEVADA_INLINE inline T sum_of(const vector<T, Arch>& a) {
  if constexpr (requires { reduce_add(a); })
    return reduce_add(a);
  else
    return hadd(a);
}

/// The largest lane, where none is NaN.
template <class T, class Arch>
inline T largest_of(const vector<T, Arch>& a) {
  alignas(Arch::alignment()) T values[lanes_in<T, Arch>];
  a.store_aligned(values);
  T largest = values[0];
  for (T v : values) largest = v > largest ? v : largest;
  return largest;
}

template <class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> load(const T* p) {
  return vector<T, Arch>::load_unaligned(p);
}

/// A vector that several multiply-adds use: read once.
template <class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> load_once(const T* p) {
  vector<T, Arch> loaded = load<T, Arch>(p);
  keep<T, Arch>(loaded);
  return loaded;
}

/// Channels of one round of a product's innermost loop. Two threads of a core share the instructions that it starts: of
/// those that do not multiply there should be few.
inline constexpr std::size_t channel_step = 4;

/// So many bytes of weights do not stay in a second-level cache from item to item: they are better fetched before they
/// are needed.
template <std::size_t Bytes>
inline constexpr bool streams_weights = Bytes > (std::size_t{256} << 10);

/// Brings the line at that address, which may be any, to the second-level cache.
LEVADA_INLINE inline void fetch_ahead(std::uintptr_t address) {
  // Nothing is read there. NOLINTNEXTLINE(performance-no-int-to-ptr)
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, 2);
}

/// Brings `Bytes` from that address on, which is moved behind them.
template <std::size_t Bytes>
LEVADA_INLINE inline void fetch_ahead(std::uintptr_t& address) {
  unrolled<ceil_div(Bytes, 64)>([&](std::size_t i) LEVADA_INLINE { fetch_ahead(address + i * 64); });
  address += Bytes;
}

/// The compiler's own vector type: it has conversions and permutations for every instruction set, which xsimd lacks.
template <class T, std::size_t N>
struct raw_vector {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};

/// The lanes `place(0)`, `place(1)`, ... of `a` and of `b` behind it.
template <class T, class Arch, class Place>
LEVADA_INLINE inline vector<T, Arch> shuffled(const vector<T, Arch>& a, const vector<T, Arch>& b, Place place) {
  constexpr std::size_t lanes = lanes_in<T, Arch>;
  using raw = typename raw_vector<T, lanes>::type;
  return [&]<std::size_t... I>(std::index_sequence<I...>) LEVADA_INLINE {
    return std::bit_cast<vector<T, Arch>>(
        __builtin_shufflevector(std::bit_cast<raw>(a), std::bit_cast<raw>(b), static_cast<int>(place(I))...));
  }(std::make_index_sequence<lanes>());
}

/// The lower halves of `a` and `b` with their lanes in turn, or the upper ones.
template <bool Upper, class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> interleaved(const vector<T, Arch>& a, const vector<T, Arch>& b) {
  constexpr std::size_t lanes = lanes_in<T, Arch>, first = Upper ? lanes / 2 : 0;
  return shuffled(a, b, [](std::size_t i) { return first + i / 2 + i % 2 * lanes; });
}

/// Whether the instruction set loads some lanes of a vector by itself.
template <class T, class Arch>
inline constexpr bool loads_some_lanes =
    std::is_same_v<T, float> && (isa::is_avx512<Arch> || std::is_base_of_v<xsimd::avx, Arch>);

/// Which lanes are loaded: `first` to `end - 1`.
template <class T, class Arch>
  requires loads_some_lanes<T, Arch>
LEVADA_INLINE inline auto some_lanes(std::size_t first, std::size_t end) {
  if constexpr (isa::is_avx512<Arch>) {
    return static_cast<std::uint16_t>((1u << end) - (1u << std::min(first, end)));
  } else {
    using raw = typename raw_vector<std::int32_t, 8>::type;
    static constexpr std::int32_t set_in_the_middle[24] = {0,  0,  0,  0,  0, 0, 0, 0, -1, -1, -1, -1,
                                                           -1, -1, -1, -1, 0, 0, 0, 0, 0,  0,  0,  0};
    raw from_first, to_end;
    std::memcpy(&from_first, set_in_the_middle + 8 - first, sizeof from_first);
    std::memcpy(&to_end, set_in_the_middle + 16 - end, sizeof to_end);
    return from_first & to_end;
  }
}
/// These lanes of the vector at `p`, zeros in the others; nothing else is read.
template <class T, class Arch, class Lanes>
LEVADA_INLINE inline vector<T, Arch> load_lanes([[maybe_unused]] const T* p, [[maybe_unused]] const Lanes& lanes) {
#if XSIMD_WITH_AVX512F
  if constexpr (isa::is_avx512<Arch>) return _mm512_maskz_loadu_ps(lanes, p);
#endif
#if XSIMD_WITH_AVX
  if constexpr (!isa::is_avx512<Arch>) return _mm256_maskload_ps(p, std::bit_cast<__m256i>(lanes));
#endif
}

/// The first `N` lanes from memory, zeros in the rest; nothing else is read.
template <std::size_t N, class T, class Arch>
LEVADA_INLINE inline vector<T, Arch> load_part(const T* p) {
  if constexpr (N >= lanes_in<T, Arch>) {
    return load<T, Arch>(p);
  } else if constexpr (loads_some_lanes<T, Arch>) {
    return load_lanes<T, Arch>(p, some_lanes<T, Arch>(0, N));
  } else {
    alignas(Arch::alignment()) T values[lanes_in<T, Arch>]{};
    std::memcpy(values, p, N * sizeof(T));
    return vector<T, Arch>::load_aligned(values);
  }
}

/// The first `N` lanes to memory; nothing else is written.
template <std::size_t N, class T, class Arch>
LEVADA_INLINE inline void store_part(T* p, const vector<T, Arch>& v) {
  if constexpr (N >= lanes_in<T, Arch>) {
    v.store_unaligned(p);
  } else {
#if XSIMD_WITH_AVX512F
    if constexpr (std::is_base_of_v<xsimd::avx512f, Arch> && std::is_same_v<T, float>) {
      _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << N) - 1), v);
      return;
    }
#endif
    alignas(Arch::alignment()) T values[lanes_in<T, Arch>];
    v.store_aligned(values);
    std::memcpy(p, values, N * sizeof(T));
  }
}

/// Calls `whole(i)` for each full vector of `N` elements and `part(i, integral_constant<rest>)` for what remains.
template <class T, class Arch, std::size_t N, class Whole, class Part>
LEVADA_INLINE inline void for_each_vector(Whole&& whole, Part&& part) {
  constexpr std::size_t step = lanes_in<T, Arch>, rest = N % step;
  for (std::size_t i = 0; i + step <= N; i += step) whole(i);
  if constexpr (rest != 0) part(N - rest, std::integral_constant<std::size_t, rest>());
}

/// The low bytes of `N` lanes. (g++ 12 takes the vector apart for what is one instruction.)
template <class To, std::size_t N>
LEVADA_INLINE inline typename raw_vector<To, N>::type low_bytes(
    const typename raw_vector<std::int32_t, N>::type& from) {
#if XSIMD_WITH_AVX512F
  if constexpr (N == 16) {
    __m128i low = _mm512_cvtepi32_epi8(std::bit_cast<__m512i>(from));
    asm("" : "+v"(low));  // written to memory by the same instruction, it takes longer (Zen 4)
    return std::bit_cast<typename raw_vector<To, N>::type>(low);
  }
#endif
#if XSIMD_WITH_AVX2 && defined(__x86_64__)
  if constexpr (N == 8) {
    const __m256i first = _mm256_set1_epi32(0x0c080400);  // of each four bytes, in each half
    const __m256i halves = _mm256_shuffle_epi8(std::bit_cast<__m256i>(from), first);
    const __m128i joined = _mm_unpacklo_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    return std::bit_cast<typename raw_vector<To, N>::type>(_mm_cvtsi128_si64(joined));
  }
#endif
  return __builtin_convertvector(from, typename raw_vector<To, N>::type);
}

/// `N` bytes as int32. (As above.)
template <class From, std::size_t N>
LEVADA_INLINE inline typename raw_vector<std::int32_t, N>::type of_bytes(
    const typename raw_vector<From, N>::type& from) {
#if XSIMD_WITH_AVX2 && defined(__x86_64__)
  if constexpr (N == 8) {
    const __m128i bytes = _mm_cvtsi64_si128(std::bit_cast<long long>(from));
    return std::bit_cast<typename raw_vector<std::int32_t, N>::type>(
        std::is_signed_v<From> ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
  }
#endif
  return __builtin_convertvector(from, typename raw_vector<std::int32_t, N>::type);
}

/// `N` lanes converted; between floating numbers and narrow integers through int32, or g++ 12 takes the vector apart.
template <class To, class From, std::size_t N>
LEVADA_INLINE inline typename raw_vector<To, N>::type converted_raw(const typename raw_vector<From, N>::type& from) {
  using to = typename raw_vector<To, N>::type;
  using between = typename raw_vector<std::int32_t, N>::type;
  constexpr bool narrow = (std::is_floating_point_v<To> && std::is_integral_v<From> && sizeof(From) < 4) ||
                          (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4);
  if constexpr (std::is_integral_v<To> && sizeof(To) == 1 && std::is_same_v<From, std::int32_t>)
    return low_bytes<To, N>(from);
  else if constexpr (narrow && sizeof(To) == 1)
    return low_bytes<To, N>(__builtin_convertvector(from, between));
  else if constexpr (std::is_integral_v<From> && sizeof(From) == 1 && std::is_same_v<To, std::int32_t>)
    return of_bytes<From, N>(from);
  else if constexpr (narrow && sizeof(From) == 1)
    return __builtin_convertvector((of_bytes<From, N>(from)), to);
  else if constexpr (narrow)
    return __builtin_convertvector(__builtin_convertvector(from, between), to);
  else
    return __builtin_convertvector(from, to);
}

/// `From` lanes converted to type `To`; the vectors have equally many lanes.
template <class To, class From, class Arch>
LEVADA_INLINE inline vector<To, Arch> convert(const vector<From, Arch>& v) {
  static_assert(lanes_in<To, Arch> == lanes_in<From, Arch>);
  using from = typename raw_vector<From, lanes_in<From, Arch>>::type;
  using to = typename raw_vector<To, lanes_in<To, Arch>>::type;
  alignas(Arch::alignment()) From values[lanes_in<From, Arch>];
  v.store_aligned(values);
  from f;
  std::memcpy(&f, values, sizeof f);
  const to t = converted_raw<To, From, lanes_in<From, Arch>>(f);
  alignas(Arch::alignment()) To results[lanes_in<To, Arch>];
  std::memcpy(results, &t, sizeof t);
  return vector<To, Arch>::load_aligned(results);
}

/// As many elements of type `From` as a vector of `To` has lanes, converted.
template <class To, class Arch, class From>
LEVADA_INLINE inline vector<To, Arch> load_as(const From* p) {
  if constexpr (std::is_same_v<To, From>) {
    return load<To, Arch>(p);
  } else {
    constexpr std::size_t n = lanes_in<To, Arch>;
    typename raw_vector<From, n>::type from;
    std::memcpy(&from, p, sizeof from);
#if defined(__x86_64__) || defined(__i386__)
    // In a register first, or g++ 12 loads and converts one lane after the other.
    if constexpr (sizeof from >= 16) asm("" : "+v"(from));
#endif
    const auto to = converted_raw<To, From, n>(from);
    alignas(Arch::alignment()) To values[n];
    std::memcpy(values, &to, sizeof to);
    return vector<To, Arch>::load_aligned(values);
  }
}

/// The first `N` of them, the other lanes those of zeros; nothing else is read.
template <std::size_t N, class To, class Arch, class From>
LEVADA_INLINE inline vector<To, Arch> load_part_as(const From* p) {
  From values[lanes_in<To, Arch>]{};
  std::memcpy(values, p, N * sizeof(From));
  return load_as<To, Arch>(values);
}

/// The first `N` lanes, rounded: backend/simd/detail/bfloat16_pairs.hpp.
template <std::size_t N, class Arch>
void store_rounded(bfloat16* to, const vector<float, Arch>& x);

/// The lanes converted to type `To` and stored.
template <class To, class From, class Arch>
LEVADA_INLINE inline void store_as(To* p, const vector<From, Arch>& v) {
  if constexpr (std::is_same_v<To, From>) {
    v.store_unaligned(p);
  } else if constexpr (std::is_same_v<To, bfloat16>) {
    store_rounded<lanes_in<From, Arch>>(p, v);
  } else {
    constexpr std::size_t n = lanes_in<From, Arch>;
    alignas(Arch::alignment()) From values[n];
    v.store_aligned(values);
    typename raw_vector<From, n>::type from;
    std::memcpy(&from, values, sizeof from);
    const auto to = converted_raw<To, From, n>(from);
    std::memcpy(p, &to, sizeof to);
  }
}

/// The first `N` lanes converted to type `To` and stored; nothing else is written.
template <std::size_t N, class To, class From, class Arch>
LEVADA_INLINE inline void store_part_as(To* p, const vector<From, Arch>& v) {
  if constexpr (std::is_same_v<To, From>) {
    store_part<N>(p, v);
  } else if constexpr (std::is_same_v<To, bfloat16>) {
    store_rounded<(N < lanes_in<From, Arch> ? N : lanes_in<From, Arch>)>(p, v);
  } else if constexpr (N >= lanes_in<From, Arch>) {
    store_as(p, v);
  } else {
    To values[lanes_in<From, Arch>];
    store_as(values, v);
    std::memcpy(p, values, N * sizeof(To));
  }
}

}  // namespace levada::detail
