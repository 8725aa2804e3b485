// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/ops.hpp: the simd backend with the ops of <levada/ops.hpp>.

#include <levada/backend/detail/define/along_axis.hpp>
#include <levada/backend/detail/define/attention.hpp>
#include <levada/backend/detail/define/bfloat16.hpp>
#include <levada/backend/detail/define/boxes.hpp>
#include <levada/backend/detail/define/broadcast.hpp>
#include <levada/backend/detail/define/conv.hpp>
#include <levada/backend/detail/define/grid_sample.hpp>
#include <levada/backend/detail/define/integers.hpp>
#include <levada/backend/detail/define/more_norms.hpp>
#include <levada/backend/detail/define/moves.hpp>
#include <levada/backend/detail/define/norms.hpp>
#include <levada/backend/detail/define/parameters.hpp>
#include <levada/backend/detail/define/pictures.hpp>
#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/detail/define/recurrent.hpp>
#include <levada/backend/detail/define/scatter.hpp>
#include <levada/backend/detail/define/sequence.hpp>
#include <levada/backend/detail/define/signals.hpp>
#include <levada/backend/detail/define/sums.hpp>
#include <levada/backend/simd.hpp>
#include <levada/backend/simd/detail/attention.hpp>
#include <levada/backend/simd/detail/bfloat16_conv2d.hpp>
#include <levada/backend/simd/detail/bfloat16_dense.hpp>
#include <levada/backend/simd/detail/bfloat16_ops.hpp>
#include <levada/backend/simd/detail/bfloat16_sum.hpp>
#include <levada/backend/simd/detail/blur.hpp>
#include <levada/backend/simd/detail/broadcast.hpp>
#include <levada/backend/simd/detail/conv1d.hpp>
#include <levada/backend/simd/detail/conv_transpose2d.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/matmul.hpp>
#include <levada/backend/simd/detail/move.hpp>
#include <levada/backend/simd/detail/norm.hpp>
#include <levada/backend/simd/detail/operand_region.hpp>
#include <levada/backend/simd/detail/parameter.hpp>
#include <levada/backend/simd/detail/qlinear_add.hpp>
#include <levada/backend/simd/detail/qlinear_conv2d.hpp>
#include <levada/backend/simd/detail/qlinear_dense.hpp>
#include <levada/backend/simd/detail/qlinear_depthwise.hpp>
#include <levada/backend/simd/detail/quantize_linear.hpp>
#include <levada/backend/simd/detail/recurrent.hpp>
#include <levada/backend/simd/detail/reduce.hpp>
#include <levada/backend/simd/detail/sequence.hpp>
#include <levada/backend/simd/detail/softmax_along.hpp>
#include <levada/nn/element_wise.hpp>

namespace levada::detail {
template <class Arch>
inline constexpr bool has_all_kernels<simd_on<Arch>> = true;
}  // namespace levada::detail
