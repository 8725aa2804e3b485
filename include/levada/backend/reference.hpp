// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference.hpp: the reference backend, all its kernels.

#include <levada/backend/reference/detail/activation.hpp>
#include <levada/backend/reference/detail/conv2d.hpp>
#include <levada/backend/reference/detail/dense.hpp>
#include <levada/backend/reference/detail/image.hpp>
#include <levada/backend/reference/detail/pool2d.hpp>
#include <levada/backend/reference/detail/reshape.hpp>
#include <levada/backend/reference/detail/top_k.hpp>
#include <levada/backend/reference/detail/transform.hpp>
