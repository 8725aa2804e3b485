// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/external_memory.hpp: blocks in memory that two devices see, so that one can compute on what the
// other has given without a copy by the host. Two Vulkan devices on one physical device share a block of its own memory
// through a file descriptor; others take in the same pages of the host's memory.

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <new>

#include <levada/backend/spirv/detail/memory.hpp>

namespace levada::detail {

/// The driver makes buffers in memory of that kind, to be given away and to be taken in.
inline bool shares_buffers(const vulkan_context& on, VkExternalMemoryHandleTypeFlagBits kind,
                           VkExternalMemoryFeatureFlags wanted) {
  auto info = vulkan_struct<VkPhysicalDeviceExternalBufferInfo>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO);
  info.usage = block_usage;
  info.handleType = kind;
  auto offered = vulkan_struct<VkExternalBufferProperties>(VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES);
  on.vk.vkGetPhysicalDeviceExternalBufferProperties(on.physical(), &info, &offered);
  const VkExternalMemoryFeatureFlags features = offered.externalMemoryProperties.externalMemoryFeatures;
  return (features & wanted) == wanted && (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) == 0;
}

// ---- memory of one physical device ----

inline constexpr VkExternalMemoryHandleTypeFlagBits file_descriptor = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

/// Such memory is for the device and the driver that it is of.
inline bool share_device_memory(const vulkan_context& from, const vulkan_context& to) {
  constexpr VkExternalMemoryFeatureFlags both =
      VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  return from.is_same_device(to) && from.vk.vkGetMemoryFdKHR != nullptr && to.vk.vkGetMemoryFdKHR != nullptr &&
         shares_buffers(from, file_descriptor, both);
}

/// A block that another device can take in.
inline memory_block exported_block(const vulkan_context& on, block_use use, std::size_t bytes,
                                   const std::string& name) {
  auto info = vulkan_struct<VkExportMemoryAllocateInfo>(VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
  info.handleTypes = file_descriptor;
  return memory_block(on, use, bytes, name, {file_descriptor, &info});
}

/// The exported block `of` as the device `on` sees it.
inline memory_block imported_block(const vulkan_context& on, const vulkan_context& from, const memory_block& of,
                                   const std::string& name) {
  auto wanted = vulkan_struct<VkMemoryGetFdInfoKHR>(VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR);
  wanted.memory = of.memory();
  wanted.handleType = file_descriptor;
  int fd = -1;
  from.check(from.vk.vkGetMemoryFdKHR(from.device(), &wanted, &fd), "vkGetMemoryFdKHR");
  auto info = vulkan_struct<VkImportMemoryFdInfoKHR>(VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
  info.handleType = file_descriptor;
  info.fd = fd;
  try {
    return memory_block(on, block_use::device, of.bytes(), name,
                        {file_descriptor, &info, 1u << of.memory_type(), of.allocated()});
  } catch (...) {
    close(fd);  // memory that could be made would own it
    throw;
  }
}

// ---- memory of the host ----

/// Pages of the host's memory for devices to take in.
class host_pages {
 public:
  host_pages(std::size_t bytes, std::size_t alignment)
      : bytes_((bytes + alignment - 1) / alignment * alignment), begin_(std::aligned_alloc(alignment, bytes_)) {
    if (begin_ == nullptr) throw std::bad_alloc();
  }
  host_pages(const host_pages&) = delete;
  host_pages& operator=(const host_pages&) = delete;
  ~host_pages() { std::free(begin_); }

  void* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  void* begin_;
};

inline constexpr VkExternalMemoryHandleTypeFlagBits host_allocation =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

inline bool takes_host_memory(const vulkan_context& on) {
  return on.vk.vkGetMemoryHostPointerPropertiesEXT != nullptr &&
         shares_buffers(on, host_allocation, VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT);
}

/// What pages have to be aligned to.
inline std::size_t host_page_alignment(const vulkan_context& on) {
  auto host = vulkan_struct<VkPhysicalDeviceExternalMemoryHostPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);
  auto properties = vulkan_struct<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  properties.pNext = &host;
  on.vk.vkGetPhysicalDeviceProperties2(on.physical(), &properties);
  return static_cast<std::size_t>(host.minImportedHostPointerAlignment);
}

/// The pages, which have to outlast it, as the device sees them.
inline memory_block block_of_pages(const vulkan_context& on, block_use use, const host_pages& pages, std::size_t bytes,
                                   const std::string& name) {
  auto possible = vulkan_struct<VkMemoryHostPointerPropertiesEXT>(VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT);
  on.check(on.vk.vkGetMemoryHostPointerPropertiesEXT(on.device(), host_allocation, pages.begin(), &possible),
           "vkGetMemoryHostPointerPropertiesEXT");
  auto info = vulkan_struct<VkImportMemoryHostPointerInfoEXT>(VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
  info.handleType = host_allocation;
  info.pHostPointer = pages.begin();
  return memory_block(on, use, bytes, name, {host_allocation, &info, possible.memoryTypeBits, pages.bytes()});
}

}  // namespace levada::detail
