// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/driver.hpp: `vulkan<Index>` as a device of a target. The machine's Vulkan is first touched where
// a deployment whose plan uses the device opens it.

#include <memory>

#include <levada/backend/spirv/detail/kernel.hpp>
#include <levada/backend/spirv/detail/queue.hpp>

namespace levada {

template <int Index, class... Options>
struct device_driver<vulkan<Index, Options...>> {
  using backend = spirv;
  static std::unique_ptr<detail::device_queue> open() {
    return std::make_unique<detail::vulkan_queue>(Index, vulkan_device<Index>());
  }
};

}  // namespace levada
