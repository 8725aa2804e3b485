// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/ops.hpp: the simd backend with the ops of <levada/ops.hpp>.

#include <levada/backend/define_bfloat16.hpp>
#include <levada/backend/define_boxes.hpp>
#include <levada/backend/define_broadcast.hpp>
#include <levada/backend/define_conv.hpp>
#include <levada/backend/define_moves.hpp>
#include <levada/backend/define_norms.hpp>
#include <levada/backend/define_pictures.hpp>
#include <levada/backend/define_quantized.hpp>
#include <levada/backend/define_recurrent.hpp>
#include <levada/backend/define_signals.hpp>
#include <levada/backend/define_sums.hpp>
#include <levada/backend/simd.hpp>
#include <levada/backend/simd/bfloat16_conv2d.hpp>
#include <levada/backend/simd/bfloat16_dense.hpp>
#include <levada/backend/simd/blur.hpp>
#include <levada/backend/simd/broadcast.hpp>
#include <levada/backend/simd/conv1d.hpp>
#include <levada/backend/simd/definition.hpp>
#include <levada/backend/simd/matmul.hpp>
#include <levada/backend/simd/move.hpp>
#include <levada/backend/simd/norm.hpp>
#include <levada/backend/simd/qlinear_conv2d.hpp>
#include <levada/backend/simd/qlinear_dense.hpp>
#include <levada/backend/simd/quantize_linear.hpp>
#include <levada/backend/simd/recurrent.hpp>
#include <levada/backend/simd/reduce.hpp>
#include <levada/nn/element_wise.hpp>
