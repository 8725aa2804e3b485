// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd.hpp: the backend for vector registers, all its kernels.

#include <levada/backend/simd/activation.hpp>
#include <levada/backend/simd/conv2d.hpp>
#include <levada/backend/simd/dense.hpp>
#include <levada/backend/simd/image.hpp>
#include <levada/backend/simd/pool2d.hpp>
#include <levada/backend/simd/reshape.hpp>
#include <levada/backend/simd/resize.hpp>
#include <levada/backend/simd/to_rgb.hpp>
#include <levada/backend/simd/top_k.hpp>
#include <levada/backend/simd/transform.hpp>
