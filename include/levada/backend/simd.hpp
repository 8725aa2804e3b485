// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd.hpp: the backend for vector registers, with the kernels that most programs need: those of MobileNet,
// ResNet and YOLO among them. <levada/ops.hpp> has the others.

#include <levada/backend/detail/define/boxes.hpp>
#include <levada/backend/detail/define/moves.hpp>
#include <levada/backend/simd/detail/activation.hpp>
#include <levada/backend/simd/detail/broadcast.hpp>
#include <levada/backend/simd/detail/conv2d.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/dense.hpp>
#include <levada/backend/simd/detail/direct.hpp>
#include <levada/backend/simd/detail/gated_conv.hpp>
#include <levada/backend/simd/detail/image.hpp>
#include <levada/backend/simd/detail/move.hpp>
#include <levada/backend/simd/detail/norm.hpp>
#include <levada/backend/simd/detail/nv12_to_planes.hpp>
#include <levada/backend/simd/detail/padded_conv.hpp>
#include <levada/backend/simd/detail/pool2d.hpp>
#include <levada/backend/simd/detail/pooled_dense.hpp>
#include <levada/backend/simd/detail/reduce.hpp>
#include <levada/backend/simd/detail/region.hpp>
#include <levada/backend/simd/detail/reshape.hpp>
#include <levada/backend/simd/detail/resize.hpp>
#include <levada/backend/simd/detail/separable_conv.hpp>
#include <levada/backend/simd/detail/to_rgb.hpp>
#include <levada/backend/simd/detail/top_k.hpp>
#include <levada/backend/simd/detail/transform.hpp>
#ifdef LEVADA_INSTRUCTION_SETS
#include <levada/backend/simd/detail/kernels_of_sets.hpp>
#endif
