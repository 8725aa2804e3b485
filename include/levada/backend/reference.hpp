// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference.hpp: the reference backend, all its kernels.

#include <levada/backend/reference/activation.hpp>
#include <levada/backend/reference/conv2d.hpp>
#include <levada/backend/reference/dense.hpp>
#include <levada/backend/reference/image.hpp>
#include <levada/backend/reference/pool2d.hpp>
#include <levada/backend/reference/reshape.hpp>
#include <levada/backend/reference/top_k.hpp>
#include <levada/backend/reference/transform.hpp>
