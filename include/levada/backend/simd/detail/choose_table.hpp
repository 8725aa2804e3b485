// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/choose_table.hpp: what the unit includes in which a program takes the tables of its kernels of
// the instruction set that it chose (levada_add_kernels with ISA). It is compiled by the program's own flags.

#include <levada/backend/simd/detail/chosen_set.hpp>
#include <levada/backend/simd/detail/kernel_code.hpp>
#include <levada/backend/simd/detail/kernels_of_sets.hpp>

/// The table of a unit for one set, which that unit exports.
#define LEVADA_TABLE_ELSEWHERE(name) extern "C" [[gnu::visibility("hidden")]] const levada::detail::kernel_code name[]

/// The kernel, and where it stands in which unit's tables. Weak: two parts of a program may have the same kernel.
#define LEVADA_CHOSEN_CODE(unit, number, ...)                                                    \
  template <>                                                                                    \
  [[gnu::weak]] const levada::detail::kernel_code& levada::detail::code_of_sets<__VA_ARGS__>() { \
    return tables_##unit[chosen_set(levada::isa::one_of<LEVADA_INSTRUCTION_SETS>())][number];    \
  }
