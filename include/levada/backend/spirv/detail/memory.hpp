// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/memory.hpp: blocks of memory that a device sees, each one buffer; what lies where in them was
// planned.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <levada/backend/spirv/detail/device.hpp>

namespace levada::detail {

/// What a block is for.
enum class block_use : std::uint8_t {
  device,     ///< kernels compute in it
  to_host,    ///< kernels compute in it, and the host reads it where it is
  to_device,  ///< kernels compute in it, and the host writes it where it is
  upload,     ///< the host writes it, copies read it
  download,   ///< copies write it, the host reads it
};

/// The first kind of memory among `allowed` that has all of `wanted`.
inline std::optional<std::uint32_t> find_memory(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed,
                                                VkMemoryPropertyFlags wanted) {
  for (std::uint32_t t = 0; t < memory.memoryTypeCount; ++t)
    if ((allowed >> t & 1) != 0 && (memory.memoryTypes[t].propertyFlags & wanted) == wanted) return t;
  return std::nullopt;
}

/// What memory for that use has to be; the first list entry that the device has is taken.
inline std::vector<VkMemoryPropertyFlags> memory_for(block_use use) {
  constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  constexpr VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkMemoryPropertyFlags cached = mapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  switch (use) {
    case block_use::device:
      return {local, 0};
    case block_use::to_host:  // the host reads memory that it does not cache a hundred times slower
      return {local | cached};
    case block_use::to_device:
      return {local | mapped};
    case block_use::upload:
      return {mapped};
    case block_use::download:
      return {cached, mapped};
  }
  return {};
}

/// The device has memory that both sides use in place: `to_host` or `to_device`. Of the small window through which a
/// host sees a larger device memory, 256 MiB, nothing is taken.
inline bool is_in_place(const VkPhysicalDeviceMemoryProperties& memory, block_use use) {
  constexpr VkDeviceSize window = 256u << 20;
  const std::optional<std::uint32_t> type = find_memory(memory, ~0u, memory_for(use).front());
  if (!type) return false;
  const VkDeviceSize there = memory.memoryHeaps[memory.memoryTypes[*type].heapIndex].size;
  for (std::uint32_t h = 0; h < memory.memoryHeapCount; ++h)
    if ((memory.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 && memory.memoryHeaps[h].size > there)
      return there > window;
  return true;
}

inline constexpr VkBufferUsageFlags block_usage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

/// Memory that others see too; see external_memory.hpp.
struct shared_memory {
  VkExternalMemoryHandleTypeFlagBits kind{};
  const void* made_how = nullptr;    ///< what vkAllocateMemory has to know besides
  std::uint32_t memory_types = ~0u;  ///< that it may be of, a bit each
  std::size_t allocated = 0;         ///< where it is there already
};

/// A buffer with memory of its own.
class memory_block {
 public:
  memory_block() = default;
  memory_block(const vulkan_context& on, block_use use, std::size_t bytes, const std::string& name,
               const shared_memory& shared = {})
      : bytes_(bytes) {
    const std::vector<std::uint32_t> families = on.all_families();
    auto info = vulkan_struct<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = bytes;
    info.usage = block_usage;
    info.sharingMode = families.size() > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE;
    info.queueFamilyIndexCount = static_cast<std::uint32_t>(families.size());
    info.pQueueFamilyIndices = families.data();
    auto external =
        vulkan_struct<VkExternalMemoryBufferCreateInfo>(VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    external.handleTypes = shared.kind;
    if (shared.made_how != nullptr) info.pNext = &external;
    const auto take = [&](VkResult result, const char* function) {
      if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY)
        throw vulkan_error(on.index(), "there is no memory left for " + name + ", " + std::to_string(bytes) + " bytes");
      on.check(result, function);
    };
    VkBuffer buffer{};
    take(on.vk.vkCreateBuffer(on.device(), &info, nullptr, &buffer), "vkCreateBuffer");
    buffer_ = {on.device(), on.vk.vkDestroyBuffer, buffer};
    on.name(VK_OBJECT_TYPE_BUFFER, buffer_.get(), name);

    VkMemoryRequirements needs{};
    on.vk.vkGetBufferMemoryRequirements(on.device(), buffer_.get(), &needs);
    std::optional<std::uint32_t> type;
    for (const VkMemoryPropertyFlags wanted : memory_for(use))
      if (!type) type = find_memory(on.memory(), needs.memoryTypeBits & shared.memory_types, wanted);
    if (!type || (shared.allocated != 0 && shared.allocated < needs.size))
      throw vulkan_error(on.index(), "the device has no memory for " + name);
    auto allocation = vulkan_struct<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocated_ = shared.allocated != 0 ? shared.allocated : static_cast<std::size_t>(needs.size);
    type_ = *type;
    allocation.pNext = shared.made_how;
    allocation.allocationSize = allocated_;
    allocation.memoryTypeIndex = type_;
    VkDeviceMemory memory{};
    take(on.vk.vkAllocateMemory(on.device(), &allocation, nullptr, &memory), "vkAllocateMemory");
    memory_ = {on.device(), on.vk.vkFreeMemory, memory};
    on.check(on.vk.vkBindBufferMemory(on.device(), buffer_.get(), memory, 0), "vkBindBufferMemory");
    if (use == block_use::device) return;
    void* mapped = nullptr;
    on.check(on.vk.vkMapMemory(on.device(), memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    mapped_ = static_cast<std::byte*>(mapped);
  }

  VkBuffer buffer() const { return buffer_.get(); }
  std::size_t bytes() const { return bytes_; }
  std::byte* mapped() const { return mapped_; }

  VkDeviceMemory memory() const { return memory_.get(); }
  std::uint32_t memory_type() const { return type_; }
  std::size_t allocated() const { return allocated_; }

 private:
  std::size_t bytes_ = 0, allocated_ = 0;
  std::uint32_t type_ = 0;
  std::byte* mapped_ = nullptr;
  vulkan_handle<VkDeviceMemory> memory_;  // freed behind its buffer
  vulkan_handle<VkBuffer> buffer_;
};

constexpr std::size_t device_aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace levada::detail
