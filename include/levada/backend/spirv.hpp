// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv.hpp: `vulkan<Index>` as a device, and the backend that computes there, all its kernels. Needs Vulkan's
// header <vulkan/vulkan_core.h> (Debian package libvulkan-dev) and links nothing: the loader is opened where a
// deployment asks for a device.

#include <levada/backend/spirv/detail/batch.hpp>
#include <levada/backend/spirv/detail/conv2d.hpp>
#include <levada/backend/spirv/detail/dense.hpp>
#include <levada/backend/spirv/detail/driver.hpp>
#include <levada/backend/spirv/detail/kernel_stage.hpp>
#include <levada/backend/spirv/detail/pool2d.hpp>
#include <levada/backend/spirv/detail/softmax.hpp>
#include <levada/backend/spirv/detail/transform.hpp>
