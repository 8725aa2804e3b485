// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/bfloat16.hpp: kernels of bfloat16 networks, for programs that are not to compile all of ops.hpp.

#include <levada/backend/simd/detail/bfloat16_conv2d.hpp>
#include <levada/backend/simd/detail/bfloat16_dense.hpp>
