// SPDX-License-Identifier: Apache-2.0
#pragma once
// spirv/needs_device.hpp: where the machine has no Vulkan device, a line says so and the tests pass.

#include <string>

#include <dlfcn.h>

#include <doctest/doctest.h>

#include <levada/backend/spirv/detail/device.hpp>

namespace spirv_test {

namespace lv = levada;

/// The loader closes a driver and its layers with the last instance. Mesa's software driver then leaves 128 bytes
/// behind each time, and what a layer keeps to the end of the process looks lost to a leak checker.
inline void keep_driver_open() {
  for (const char* const library : {"libvulkan_lvp.so", "libVkLayer_khronos_validation.so"})
    dlopen(library, RTLD_NOW | RTLD_NODELETE);
}

/// Why there is no device 0, or nothing.
inline std::string why_no_device() {
  keep_driver_open();
  try {
    const lv::detail::vulkan_context open(0, {});
    return {};
  } catch (const lv::device_error& e) {
    return e.what();
  }
}

/// A test that needs a device ends here where there is none.
#define LEVADA_NEEDS_DEVICE()                                              \
  if (const std::string why = spirv_test::why_no_device(); !why.empty()) { \
    MESSAGE("not tested: ", why);                                          \
    return;                                                                \
  }

}  // namespace spirv_test
