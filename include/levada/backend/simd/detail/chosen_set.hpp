// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/chosen_set.hpp: which of a program's instruction sets this processor and its operating system
// have. The program takes the last of these.

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <cstddef>
#include <string>
#include <string_view>

#include <levada/backend/simd/detail/matrix_registers.hpp>
#include <levada/core/error.hpp>
#include <levada/kernel/detail/instruction_set.hpp>

namespace levada::detail {

// The compiler's own question asks the operating system, too, which saves the wide registers or does not.
#if defined(__x86_64__) || defined(__i386__)
inline bool is_here(isa::sse4_2) { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"); }
inline bool is_here(isa::avx2) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
inline bool is_here(isa::avx512) {
  return is_here(isa::avx2()) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
inline bool is_here(isa::avx512vnni) { return is_here(isa::avx512()) && __builtin_cpu_supports("avx512vnni"); }
inline bool is_here(isa::avx512bf16) { return is_here(isa::avx512vnni()) && __builtin_cpu_supports("avx512bf16"); }
// clang 16 does not know the question. Linux permits nothing that the processor has not, but for each part of AMX.
inline bool is_here(isa::amx) {
  unsigned a = 0, b = 0, c = 0, parts = 0;
  constexpr unsigned bf16 = 1u << 22, tiles = 1u << 24, int8 = 1u << 25, all = bf16 | tiles | int8;
  return is_here(isa::avx512bf16()) && __get_cpuid_count(7, 0, &a, &b, &c, &parts) != 0 && (parts & all) == all &&
         may_use_matrices();
}
#endif

template <class... Set>
[[noreturn, gnu::cold]] void refuse_processor(isa::one_of<Set...>) {
  std::string names;
  ((names.append(names.empty() ? "" : ", ").append(Set::name())), ...);
  throw error("levada: this processor has none of the instruction sets that the program has kernels for: " + names);
}

/// The number of the last set that is here. Throws levada::error where none is.
template <class... Set>
[[gnu::cold]] std::size_t chosen_set(isa::one_of<Set...> sets) {
  static const std::size_t chosen = [&] {
    __builtin_cpu_init();  // a program may deploy before its constructors have run
    const bool here[] = {is_here(Set())...};
    for (std::size_t i = sizeof...(Set); i-- > 0;)
      if (here[i]) return i;
    refuse_processor(sets);
  }();
  return chosen;
}
template <class... Set>
std::string_view name_of_chosen_set(isa::one_of<Set...> sets) {
  const char* const names[] = {Set::name()...};
  return names[chosen_set(sets)];
}

}  // namespace levada::detail
