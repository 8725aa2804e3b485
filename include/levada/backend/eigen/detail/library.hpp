// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eigen/detail/library.hpp: Eigen, without a warning of GCC 12's about its own AVX-512 intrinsics.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <Eigen/Core>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
