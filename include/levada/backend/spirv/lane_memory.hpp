// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/lane_memory.hpp: a session's memory on a device for one segment, and the commands of each slot, recorded once.
// A slot's item is copied in, goes through the segment's dispatches and is copied out; without copies where the memory is
// used in place. Which queue does what, the context says.

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include <levada/backend/spirv/prepared.hpp>

namespace levada::detail {

/// The commands of a slot for each role; null where another role does it too, or there is nothing to do.
using slot_commands = std::array<VkCommandBuffer, vulkan_roles::count>;

class lane_memory {
 public:
  lane_memory(const vulkan_context& on, const prepared_segment& of, std::size_t slots, bool staging)
      : on_(on), of_(of), recorded_(slots), sets_(slots * of.dispatches().size()) {
    const bool in_place = !staging && is_in_place(on.memory(), block_use::to_device);
    const bool out_place = !staging && is_in_place(on.memory(), block_use::to_host);
    const std::size_t in = slots * in_stride(), out = slots * out_stride(), inner = slots * inner_stride();
    in_ = memory_block(on, in_place ? block_use::to_device : block_use::device, in, "the inputs of a segment");
    out_ = memory_block(on, out_place ? block_use::to_host : block_use::device, out, "the outputs of a segment");
    if (inner != 0) inner_ = memory_block(on, block_use::device, inner, "the intermediate values of a segment");
    if (!in_place) up_.emplace(on, block_use::upload, in, "the uploads of a segment");
    if (!out_place) down_.emplace(on, block_use::download, out, "the downloads of a segment");
    allocate_sets();
    for (std::size_t role = 0; role < vulkan_roles::count; ++role) pools_[role] = make_pool(role);
  }

  /// Where the host leaves the input and finds the output of a slot.
  std::byte* input(std::size_t slot) const { return (up_ ? *up_ : in_).mapped() + slot * in_stride(); }
  const std::byte* output(std::size_t slot) const { return (down_ ? *down_ : out_).mapped() + slot * out_stride(); }

  bool uploads_by_itself() const { return up_ && on_.has_own_submission(vulkan_roles::upload); }
  bool downloads_by_itself() const { return down_ && on_.has_own_submission(vulkan_roles::download); }

  /// The commands of a slot, recorded when they are first asked for.
  const slot_commands& commands(std::size_t slot) {
    if (!recorded_[slot]) recorded_[slot] = record(slot);
    return *recorded_[slot];
  }

 private:
  std::size_t in_stride() const { return device_aligned(of_.in_bytes()); }
  std::size_t out_stride() const { return device_aligned(of_.out_bytes()); }
  std::size_t inner_stride() const { return device_aligned(of_.segment().inner_bytes); }

  vulkan_handle<VkCommandPool> make_pool(std::size_t role) const {
    auto info = vulkan_struct<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    info.queueFamilyIndex = on_.family(role);
    return on_.make(on_.vk.vkCreateCommandPool, on_.vk.vkDestroyCommandPool, info, "vkCreateCommandPool");
  }

  // ---- what the bindings are ----

  void allocate_sets() {
    std::uint32_t buffers = 0;
    std::vector<VkDescriptorSetLayout> layouts;
    for (std::size_t s = 0; s < recorded_.size(); ++s)
      for (const prepared_dispatch& d : of_.dispatches()) {
        buffers += static_cast<std::uint32_t>(d.what->buffers.size());
        layouts.push_back(d.bindings.get());
      }
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers};
    auto info = vulkan_struct<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    info.maxSets = static_cast<std::uint32_t>(layouts.size());
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    descriptors_ =
        on_.make(on_.vk.vkCreateDescriptorPool, on_.vk.vkDestroyDescriptorPool, info, "vkCreateDescriptorPool");
    auto wanted = vulkan_struct<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    wanted.descriptorPool = descriptors_.get();
    wanted.descriptorSetCount = info.maxSets;
    wanted.pSetLayouts = layouts.data();
    on_.check(on_.vk.vkAllocateDescriptorSets(on_.device(), &wanted, sets_.data()), "vkAllocateDescriptorSets");
  }

  /// What a unit gives lies at the segment's end or among the inner values.
  VkDescriptorBufferInfo given_by(std::size_t unit, std::size_t slot) const {
    const auto& units = of_.segment().units;
    if (unit + 1 == units.size()) return {out_.buffer(), slot * out_stride(), 0};
    return {inner_.buffer(), slot * inner_stride() + units[unit].out_offset, 0};
  }

  VkDescriptorBufferInfo place_of(const prepared_dispatch& d, const dispatch_buffer& buffer, std::size_t slot) const {
    VkDescriptorBufferInfo place{};
    switch (buffer.role) {
      case buffer_role::input:
        place = d.unit == 0 ? VkDescriptorBufferInfo{in_.buffer(), slot * in_stride(), 0} : given_by(d.unit - 1, slot);
        break;
      case buffer_role::output:
        place = given_by(d.unit, slot);
        break;
      case buffer_role::weights:
        place = {of_.weights(), d.weights_offset, 0};
        break;
      case buffer_role::scratch:
        place = {inner_.buffer(), slot * inner_stride() + of_.segment().units[d.unit].scratch_offset, 0};
        break;
    }
    place.offset += buffer.offset;
    place.range = (buffer.bytes + 3) / 4 * 4;  // kernels see words
    return place;
  }

  void bind(const prepared_dispatch& d, VkDescriptorSet set, std::size_t slot) const {
    std::array<VkDescriptorBufferInfo, dispatch::most_buffers> places{};
    std::array<VkWriteDescriptorSet, dispatch::most_buffers> writes{};
    const std::size_t count = d.what->buffers.size();
    for (std::size_t b = 0; b < count; ++b) {
      places[b] = place_of(d, d.what->buffers[b], slot);
      writes[b] = vulkan_struct<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
      writes[b].dstSet = set;
      writes[b].dstBinding = static_cast<std::uint32_t>(b);
      writes[b].descriptorCount = 1;
      writes[b].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      writes[b].pBufferInfo = &places[b];
    }
    on_.vk.vkUpdateDescriptorSets(on_.device(), static_cast<std::uint32_t>(count), writes.data(), 0, nullptr);
  }

  // ---- recording ----

  VkCommandBuffer begin(std::size_t role) const {
    auto wanted = vulkan_struct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    wanted.commandPool = pools_[role].get();
    wanted.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    wanted.commandBufferCount = 1;
    VkCommandBuffer commands = nullptr;
    on_.check(on_.vk.vkAllocateCommandBuffers(on_.device(), &wanted, &commands), "vkAllocateCommandBuffers");
    const auto info = vulkan_struct<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    on_.check(on_.vk.vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
    return commands;
  }
  void end(VkCommandBuffer commands) const { on_.check(on_.vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer"); }

  struct access {
    VkPipelineStageFlags stage;
    VkAccessFlags what;
  };
  static constexpr access copied{VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT};
  static constexpr access copies{VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT};
  static constexpr access computed{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT};
  static constexpr access computes{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                   VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
  static constexpr access host_reads{VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT};

  void barrier(VkCommandBuffer commands, access before, access behind) const {
    auto memory = vulkan_struct<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    memory.srcAccessMask = before.what;
    memory.dstAccessMask = behind.what;
    on_.vk.vkCmdPipelineBarrier(commands, before.stage, behind.stage, 0, 1, &memory, 0, nullptr, 0, nullptr);
  }

  void copy(VkCommandBuffer commands, const memory_block& from, const memory_block& to, std::size_t offset,
            std::size_t bytes) const {
    const VkBufferCopy region{offset, offset, bytes};
    on_.vk.vkCmdCopyBuffer(commands, from.buffer(), to.buffer(), 1, &region);
  }

  void dispatch_all(VkCommandBuffer commands, std::size_t slot) const {
    const std::size_t count = of_.dispatches().size();
    for (std::size_t i = 0; i < count; ++i) {
      const prepared_dispatch& d = of_.dispatches()[i];
      const VkDescriptorSet set = sets_[slot * count + i];
      bind(d, set, slot);
      if (i != 0) barrier(commands, computed, computes);
      on_.vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.pipeline.get());
      on_.vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.layout.get(), 0, 1, &set, 0, nullptr);
      if (d.what->pushed_bytes != 0)
        on_.vk.vkCmdPushConstants(commands, d.layout.get(), VK_SHADER_STAGE_COMPUTE_BIT, 0, d.what->pushed_bytes,
                                  d.what->pushed.data());
      on_.vk.vkCmdDispatch(commands, d.what->groups[0], d.what->groups[1], d.what->groups[2]);
    }
  }

  slot_commands record(std::size_t slot) const {
    const std::size_t in_at = slot * in_stride(), out_at = slot * out_stride();
    slot_commands made{};
    if (uploads_by_itself()) {
      made[vulkan_roles::upload] = begin(vulkan_roles::upload);
      copy(made[vulkan_roles::upload], *up_, in_, in_at, of_.in_bytes());
      end(made[vulkan_roles::upload]);
    }
    const VkCommandBuffer computing = made[vulkan_roles::compute] = begin(vulkan_roles::compute);
    if (up_ && !uploads_by_itself()) {
      copy(computing, *up_, in_, in_at, of_.in_bytes());
      barrier(computing, copied, computes);
    }
    dispatch_all(computing, slot);
    if (!down_) {
      barrier(computing, computed, host_reads);
    } else if (!downloads_by_itself()) {
      barrier(computing, computed, copies);
      copy(computing, out_, *down_, out_at, of_.out_bytes());
      barrier(computing, copied, host_reads);
    }
    end(computing);
    if (downloads_by_itself()) {
      const VkCommandBuffer downloading = made[vulkan_roles::download] = begin(vulkan_roles::download);
      copy(downloading, out_, *down_, out_at, of_.out_bytes());
      barrier(downloading, copied, host_reads);
      end(downloading);
    }
    return made;
  }

  const vulkan_context& on_;
  const prepared_segment& of_;
  memory_block in_, out_, inner_;
  std::optional<memory_block> up_, down_;
  vulkan_handle<VkDescriptorPool> descriptors_;
  vulkan_handle<VkCommandPool> pools_[vulkan_roles::count];
  std::vector<std::optional<slot_commands>> recorded_;
  std::vector<VkDescriptorSet> sets_;
};

}  // namespace levada::detail
