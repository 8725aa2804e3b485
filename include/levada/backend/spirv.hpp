// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv.hpp: `vulkan<Index>` as a device, and the backend that computes there, all its kernels. Needs Vulkan's header
// <vulkan/vulkan_core.h> (Debian package libvulkan-dev) and links nothing: the loader is opened where a deployment asks for
// a device.

#include <levada/backend/spirv/batch.hpp>
#include <levada/backend/spirv/conv2d.hpp>
#include <levada/backend/spirv/dense.hpp>
#include <levada/backend/spirv/driver.hpp>
#include <levada/backend/spirv/kernel_stage.hpp>
#include <levada/backend/spirv/pool2d.hpp>
#include <levada/backend/spirv/softmax.hpp>
#include <levada/backend/spirv/transform.hpp>
