// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/xsimd.hpp: xsimd, included here only.
// g++ 12 warns of uninitialised values inside its own AVX-512 intrinsics wherever they are inlined; in functions of
// this library, too, so the warning stays off for code that is expanded from those headers.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <xsimd/xsimd.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
