// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/instruction_set.hpp: the instruction sets of kernels as tags. Each is an architecture of xsimd. VNNI,
// BF16 and AMX, for which xsimd 8.1 has none, are tags of their own and no macro inside one. So a type with a tag in
// its name has the same members, sizes and constants in every unit, whatever flags compile that. In a unit that may not
// use a set the vectors of that set only have a size.

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <levada/kernel/detail/xsimd.hpp>

namespace levada::isa {

/// What the sets of this library have in common. `Base`: the architecture of xsimd whose vectors it computes with.
template <class Base>
struct set_of : Base {
  using base = Base;
};

struct sse4_2 : set_of<xsimd::sse4_2> {
  static constexpr const char* name() noexcept { return "sse4.2"; }
};
/// With FMA.
struct avx2 : set_of<xsimd::fma3<xsimd::avx2>> {
  static constexpr const char* name() noexcept { return "avx2"; }
};
/// AVX2 with VNNI.
struct avxvnni : avx2 {
  static constexpr const char* name() noexcept { return "avxvnni"; }
};
/// F, BW, CD, DQ and VL.
struct avx512 : set_of<xsimd::avx512bw> {
  static constexpr const char* name() noexcept { return "avx512"; }
};
struct avx512vnni : avx512 {
  static constexpr const char* name() noexcept { return "avx512vnni"; }
};
/// With VNNI, as all processors have it.
struct avx512bf16 : avx512vnni {
  static constexpr const char* name() noexcept { return "avx512bf16"; }
};
/// AVX-512 with BF16, and AMX: registers of matrices, which are multiplied (Sapphire Rapids).
struct amx : avx512bf16 {
  static constexpr const char* name() noexcept { return "amx"; }
};

/// A tag of this file.
template <class Arch>
concept instruction_set = std::derived_from<Arch, set_of<typename Arch::base>>;

/// Those that a program has kernels for, from the least to the most: it takes one when it starts.
template <class... Set>
struct one_of {};

/// The widest set that the compiler's flags enable.
#if XSIMD_WITH_AVX512BW && defined(__AVX512VNNI__) && defined(__AVX512BF16__) && defined(__AMX_INT8__) && \
    defined(__AMX_BF16__)
using native = amx;
#elif XSIMD_WITH_AVX512BW && defined(__AVX512VNNI__) && defined(__AVX512BF16__)
using native = avx512bf16;
#elif XSIMD_WITH_AVX512BW && defined(__AVX512VNNI__)
using native = avx512vnni;
#elif XSIMD_WITH_FMA3_AVX2 && defined(__AVXVNNI__) && !XSIMD_WITH_AVX512F
using native = avxvnni;
#else
using native = xsimd::default_arch;
#endif

/// It multiplies bfloat16.
template <class Arch>
inline constexpr bool has_bf16 = std::is_base_of_v<avx512bf16, Arch>;
/// It multiplies matrices of bytes and of bfloat16.
template <class Arch>
inline constexpr bool has_matrices = std::is_base_of_v<amx, Arch>;
/// Vectors of 512 bits, and masks beside them.
template <class Arch>
inline constexpr bool is_avx512 = std::is_base_of_v<xsimd::avx512f, Arch>;
/// The set itself, or of those the one with vectors of half the bits.
template <class Arch>
using at_most_256_bits = std::conditional_t<is_avx512<Arch>, avx2, Arch>;

/// The register of a set that the unit may not use: its size, and nothing to compute with.
template <class Arch>
struct absent_register {
  alignas(Arch::alignment()) std::byte bytes[Arch::alignment()];
};

}  // namespace levada::isa

namespace xsimd::types {

template <class T, levada::isa::instruction_set Arch>
struct has_simd_register<T, Arch> : has_simd_register<T, typename Arch::base> {};

template <class T, levada::isa::instruction_set Arch>
  requires(Arch::supported())
struct simd_register<T, Arch> : simd_register<T, typename Arch::base> {
  using register_type = typename simd_register<T, typename Arch::base>::register_type;
  simd_register(register_type value) noexcept : simd_register<T, typename Arch::base>{value} {}
  simd_register() = default;
};
template <class T, levada::isa::instruction_set Arch>
  requires(!Arch::supported())
struct simd_register<T, Arch> {
  using register_type = levada::isa::absent_register<Arch>;
  register_type data;
};

template <class T, levada::isa::instruction_set Arch>
  requires(Arch::supported() && levada::isa::is_avx512<Arch>)
struct get_bool_simd_register<T, Arch> : get_bool_simd_register<T, typename Arch::base> {};

}  // namespace xsimd::types
