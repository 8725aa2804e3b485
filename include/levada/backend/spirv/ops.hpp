// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/ops.hpp: the spirv backend with the ops of <levada/ops.hpp>.

#include <levada/backend/spirv.hpp>
#include <levada/backend/spirv/detail/broadcast.hpp>
#include <levada/backend/spirv/detail/cast.hpp>
#include <levada/backend/spirv/detail/conv1d.hpp>
#include <levada/backend/spirv/detail/conv_norm.hpp>
#include <levada/backend/spirv/detail/conv_transpose2d.hpp>
#include <levada/backend/spirv/detail/image.hpp>
#include <levada/backend/spirv/detail/joined_region.hpp>
#include <levada/backend/spirv/detail/matmul.hpp>
#include <levada/backend/spirv/detail/move.hpp>
#include <levada/backend/spirv/detail/non_max_suppression.hpp>
#include <levada/backend/spirv/detail/norm.hpp>
#include <levada/backend/spirv/detail/padded_conv.hpp>
#include <levada/backend/spirv/detail/parameter.hpp>
#include <levada/backend/spirv/detail/reduce.hpp>
#include <levada/backend/spirv/detail/region.hpp>
#include <levada/backend/spirv/detail/row_region.hpp>
#include <levada/backend/spirv/detail/to_rgb.hpp>
#include <levada/backend/spirv/detail/top_k.hpp>

namespace levada::detail {
template <>
inline constexpr bool has_all_kernels<spirv> = true;
}  // namespace levada::detail
