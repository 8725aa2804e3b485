// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/loader.hpp: Vulkan's functions, found while the program runs: nothing is linked. The library
// stays open, since drivers keep threads of their own.

#include <dlfcn.h>
#include <vulkan/vulkan_core.h>

#include <string>
#include <string_view>

#include <levada/core/error.hpp>

// Debug names and messages are there only where validation is asked for, the memory of others only where the driver
// offers the extension; see device.hpp.
// clang-format off
#define LEVADA_VULKAN_INSTANCE_FUNCTIONS(X) \
  X(vkDestroyInstance) X(vkEnumeratePhysicalDevices) X(vkEnumerateDeviceExtensionProperties) \
  X(vkGetPhysicalDeviceProperties2) X(vkGetPhysicalDeviceFeatures2) X(vkGetPhysicalDeviceMemoryProperties) \
  X(vkGetPhysicalDeviceQueueFamilyProperties) X(vkGetPhysicalDeviceExternalBufferProperties) X(vkCreateDevice) \
  X(vkGetDeviceProcAddr) \
  X(vkCreateDebugUtilsMessengerEXT) X(vkDestroyDebugUtilsMessengerEXT) X(vkSetDebugUtilsObjectNameEXT)
#define LEVADA_VULKAN_DEVICE_FUNCTIONS(X) \
  X(vkDestroyDevice) X(vkDeviceWaitIdle) X(vkGetDeviceQueue) X(vkQueueSubmit) X(vkCreateSemaphore) \
  X(vkDestroySemaphore) X(vkWaitSemaphores) X(vkGetSemaphoreCounterValue) X(vkCreateBuffer) X(vkDestroyBuffer) \
  X(vkGetBufferMemoryRequirements) X(vkBindBufferMemory) X(vkAllocateMemory) X(vkFreeMemory) X(vkMapMemory) \
  X(vkCreateShaderModule) X(vkDestroyShaderModule) X(vkCreatePipelineCache) X(vkDestroyPipelineCache) \
  X(vkGetPipelineCacheData) X(vkCreateComputePipelines) X(vkDestroyPipeline) X(vkCreatePipelineLayout) \
  X(vkDestroyPipelineLayout) X(vkCreateDescriptorSetLayout) X(vkDestroyDescriptorSetLayout) \
  X(vkCreateDescriptorPool) X(vkDestroyDescriptorPool) X(vkAllocateDescriptorSets) X(vkUpdateDescriptorSets) \
  X(vkCreateCommandPool) X(vkDestroyCommandPool) X(vkAllocateCommandBuffers) X(vkBeginCommandBuffer) \
  X(vkEndCommandBuffer) X(vkCmdBindPipeline) X(vkCmdBindDescriptorSets) X(vkCmdPushConstants) X(vkCmdDispatch) \
  X(vkCmdPipelineBarrier) X(vkCmdCopyBuffer) X(vkCreateQueryPool) X(vkDestroyQueryPool) X(vkResetQueryPool) \
  X(vkCmdWriteTimestamp) X(vkGetQueryPoolResults) X(vkGetMemoryFdKHR) X(vkGetMemoryHostPointerPropertiesEXT)
// clang-format on

namespace levada::detail {

/// The functions of an instance and of its one device.
struct vulkan_functions {
#define LEVADA_VULKAN_MEMBER(name) PFN_##name name = nullptr;
  LEVADA_VULKAN_INSTANCE_FUNCTIONS(LEVADA_VULKAN_MEMBER)
  LEVADA_VULKAN_DEVICE_FUNCTIONS(LEVADA_VULKAN_MEMBER)
#undef LEVADA_VULKAN_MEMBER

  void load(PFN_vkGetInstanceProcAddr find, VkInstance instance) {
#define LEVADA_VULKAN_FIND(name) name = reinterpret_cast<PFN_##name>(find(instance, #name));
    LEVADA_VULKAN_INSTANCE_FUNCTIONS(LEVADA_VULKAN_FIND)
#undef LEVADA_VULKAN_FIND
  }
  void load(VkDevice device) {
#define LEVADA_VULKAN_FIND(name) name = reinterpret_cast<PFN_##name>(vkGetDeviceProcAddr(device, #name));
    LEVADA_VULKAN_DEVICE_FUNCTIONS(LEVADA_VULKAN_FIND)
#undef LEVADA_VULKAN_FIND
  }
};

/// What `result` says, in words.
inline std::string_view vulkan_words(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "there is no host memory left";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "there is no device memory left";
    case VK_ERROR_DEVICE_LOST:
      return "the device was lost";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "it could not be initialised";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "no driver is installed";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "a layer is not installed";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "an extension is missing";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "a feature is missing";
    default:
      return "";
  }
}

/// "vulkan<0>", as messages name a device.
inline std::string vulkan_name(int index) { return "vulkan<" + std::to_string(index) + ">"; }

/// `what` went wrong on the device.
inline device_error vulkan_error(int index, const std::string& what) {
  return device_error("levada: device " + vulkan_name(index) + ": " + what);
}
inline device_error vulkan_error(int index, const char* function, VkResult result) {
  const std::string_view words = vulkan_words(result);
  return vulkan_error(index, std::string(function) + " failed" +
                                 (words.empty() ? " with VkResult " + std::to_string(static_cast<int>(result))
                                                : ": " + std::string(words)));
}

/// Opens the loader; throws where there is none.
inline PFN_vkGetInstanceProcAddr open_vulkan(int index) {
  void* const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const entry = library != nullptr ? dlsym(library, "vkGetInstanceProcAddr") : nullptr;
  if (entry == nullptr)
    throw vulkan_error(index, "the machine has no Vulkan loader (libvulkan.so.1, Debian package libvulkan1)");
  return reinterpret_cast<PFN_vkGetInstanceProcAddr>(entry);
}

}  // namespace levada::detail
