// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/ops.hpp: the spirv backend with the ops of <levada/ops.hpp>.

#include <levada/backend/spirv.hpp>
#include <levada/backend/spirv/broadcast.hpp>
#include <levada/backend/spirv/cast.hpp>
#include <levada/backend/spirv/conv1d.hpp>
#include <levada/backend/spirv/conv_norm.hpp>
#include <levada/backend/spirv/conv_transpose2d.hpp>
#include <levada/backend/spirv/image.hpp>
#include <levada/backend/spirv/matmul.hpp>
#include <levada/backend/spirv/move.hpp>
#include <levada/backend/spirv/non_max_suppression.hpp>
#include <levada/backend/spirv/norm.hpp>
#include <levada/backend/spirv/reduce.hpp>
#include <levada/backend/spirv/to_rgb.hpp>
#include <levada/backend/spirv/top_k.hpp>
