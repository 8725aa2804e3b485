// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/quantized.hpp: kernels of networks in integers and in bfloat16, for programs that are not to compile all
// of ops.hpp.

#include <levada/backend/simd/detail/bfloat16_conv2d.hpp>
#include <levada/backend/simd/detail/bfloat16_dense.hpp>
#include <levada/backend/simd/detail/bfloat16_ops.hpp>
#include <levada/backend/simd/detail/bfloat16_sum.hpp>
#include <levada/backend/simd/detail/qlinear_add.hpp>
#include <levada/backend/simd/detail/qlinear_conv2d.hpp>
#include <levada/backend/simd/detail/qlinear_dense.hpp>
#include <levada/backend/simd/detail/qlinear_depthwise.hpp>
#include <levada/backend/simd/detail/quantize_linear.hpp>
