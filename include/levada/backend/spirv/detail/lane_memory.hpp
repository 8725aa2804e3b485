// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/lane_memory.hpp: the commands of each slot of a session's memory on a device, recorded once,
// and again where other weights take the place of those before.
// A slot's item is copied in, goes through the segment's dispatches and is copied out; without copies where the memory
// is used in place. Which queue does what, the context says.

#include <array>
#include <optional>
#include <vector>

#include <levada/backend/spirv/detail/lane_blocks.hpp>

namespace levada::detail {

/// The commands of a slot for each role; null where another role does it too, or there is nothing to do.
using slot_commands = std::array<VkCommandBuffer, vulkan_roles::count>;

class lane_memory : public lane_blocks {
 public:
  lane_memory(const vulkan_context& on, const prepared_segment& of, std::size_t slots, bool staging)
      : lane_blocks(on, of, slots, staging),
        recorded_(slots),
        recorded_timed_(slots),
        weights_(slots * of.segment().units.size()),
        sets_(slots * of.dispatches().size()) {
    allocate_sets();
    for (std::size_t role = 0; role < vulkan_roles::count; ++role) pools_[role] = make_pool(role);
  }

  bool uploads_by_itself() const { return up_ && on_.has_own_submission(vulkan_roles::upload); }
  bool downloads_by_itself() const { return down_ && on_.has_own_submission(vulkan_roles::download); }

  /// The weights of the next item in the slot, for each unit, null where they are those that were prepared. Nothing of
  /// the slot is on the device any more.
  void take_weights(std::size_t slot, void* const* kept) {
    if (kept == nullptr) return;
    const std::size_t count = of_.segment().units.size();
    bool same = true;
    for (std::size_t u = 0; u < count; ++u) {
      const auto* const now = static_cast<const resident_weights*>(static_cast<device_parameters*>(kept[u]));
      bound_weights& bound = weights_[slot * count + u];
      if (bound.number == (now != nullptr ? now->number : 0)) continue;
      bound = now != nullptr ? bound_weights{now->number, now->block.buffer()} : bound_weights{};
      same = false;
    }
    if (!same) recorded_[slot].is_there = recorded_timed_[slot].is_there = false;
  }

  /// The commands of a slot, with timestamps or without, recorded when they are first asked for, and again for other
  /// weights.
  const slot_commands& commands(std::size_t slot, bool timed) {
    if (timed && queries_.get() == VkQueryPool{}) queries_ = make_queries();
    recording& recorded = (timed ? recorded_timed_ : recorded_)[slot];
    if (!recorded.is_there) {
      bind_all(slot);
      record(recorded.commands, slot, timed);
      recorded.is_there = true;
    }
    return recorded.commands;
  }

  /// Whether the timestamps of any part can be had.
  bool can_be_timed() const { return on_.timestamp_bits(vulkan_roles::compute) != 0; }
  /// Before timed commands go to the device once more.
  void reset_timestamps(std::size_t slot) const {
    on_.vk.vkResetQueryPool(on_.device(), queries_.get(), query(slot, device_part::upload), per_slot);
  }
  /// Which queue a part of an item runs on; none: there is nothing to do, or the queue has no timestamps.
  std::optional<std::size_t> role_of(device_part part) const {
    const bool there = part == device_part::compute || (part == device_part::upload ? up_ : down_).has_value();
    const bool own =
        part == device_part::upload ? uploads_by_itself() : part == device_part::download && downloads_by_itself();
    const std::size_t role = !own                          ? vulkan_roles::compute
                             : part == device_part::upload ? vulkan_roles::upload
                                                           : vulkan_roles::download;
    if (!there || on_.timestamp_bits(role) == 0) return std::nullopt;
    return role;
  }
  /// The two timestamps of a part, when the item is done.
  bool read_timestamps(std::size_t slot, device_part part, std::uint64_t (&ticks)[2]) const {
    return on_.vk.vkGetQueryPoolResults(on_.device(), queries_.get(), query(slot, part), 2, sizeof ticks, ticks,
                                        sizeof ticks[0], VK_QUERY_RESULT_64_BIT) == VK_SUCCESS;
  }

 private:
  struct recording {
    slot_commands commands{};
    bool is_there = false;
  };
  /// The weights of a unit that a slot's bindings refer to.
  struct bound_weights {
    std::uint64_t number = 0;
    VkBuffer buffer{};
  };

  vulkan_handle<VkCommandPool> make_pool(std::size_t role) const {
    auto info = vulkan_struct<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
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

  VkDescriptorBufferInfo place_of(const device_place& place, std::size_t slot) const {
    switch (place.where) {
      case device_place::part::input:
        return {taken(), slot * in_stride() + of_.input_offset(place.at), 0};
      case device_place::part::output:
        return {out_.buffer(), slot * out_stride() + of_.output_offset(place.at), 0};
      case device_place::part::inner:
        break;
    }
    return {inner_.buffer(), slot * inner_stride() + place.at, 0};
  }

  VkDescriptorBufferInfo place_of(const prepared_dispatch& d, const dispatch_buffer& buffer, std::size_t slot) const {
    const device_segment::unit& unit = of_.segment().units[d.unit];
    VkDescriptorBufferInfo place{};
    switch (buffer.role) {
      case buffer_role::input:
        place = place_of(unit.takes[buffer.which], slot);
        break;
      case buffer_role::output:
        place = place_of(unit.gives, slot);
        break;
      case buffer_role::weights:
        if (const bound_weights& w = weights_[slot * of_.segment().units.size() + d.unit]; w.number != 0)
          place = {w.buffer, 0, 0};
        else
          place = {of_.weights(), d.weights_offset, 0};
        break;
      case buffer_role::scratch:
        place = {inner_.buffer(), slot * inner_stride() + unit.scratch_offset, 0};
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

  /// Begins commands, over those that are there.
  VkCommandBuffer begin(VkCommandBuffer& commands, std::size_t role) const {
    auto wanted = vulkan_struct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    wanted.commandPool = pools_[role].get();
    wanted.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    wanted.commandBufferCount = 1;
    if (commands == nullptr)
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
  static constexpr access nothing{VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0};

  void barrier(VkCommandBuffer commands, access before, access behind) const {
    auto memory = vulkan_struct<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    memory.srcAccessMask = before.what;
    memory.dstAccessMask = behind.what;
    on_.vk.vkCmdPipelineBarrier(commands, before.stage, behind.stage, 0, 1, &memory, 0, nullptr, 0, nullptr);
  }

  /// Memory that devices share belongs to the queues of one of them at a time.
  void pass(VkCommandBuffer commands, const memory_block& block, std::size_t offset, std::size_t bytes, access before,
            access behind, bool gives) const {
    auto memory = vulkan_struct<VkBufferMemoryBarrier>(VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER);
    const std::uint32_t own =
        on_.all_families().size() > 1 ? VK_QUEUE_FAMILY_IGNORED : on_.family(vulkan_roles::compute);
    memory.srcAccessMask = before.what;
    memory.dstAccessMask = behind.what;
    memory.srcQueueFamilyIndex = gives ? own : VK_QUEUE_FAMILY_EXTERNAL;
    memory.dstQueueFamilyIndex = gives ? VK_QUEUE_FAMILY_EXTERNAL : own;
    memory.buffer = block.buffer();
    memory.offset = offset;
    memory.size = bytes;
    on_.vk.vkCmdPipelineBarrier(commands, before.stage, behind.stage, 0, 0, nullptr, 1, &memory, 0, nullptr);
  }

  void copy(VkCommandBuffer commands, const memory_block& from, const memory_block& to, std::size_t offset,
            std::size_t bytes) const {
    const VkBufferCopy region{offset, offset, bytes};
    on_.vk.vkCmdCopyBuffer(commands, from.buffer(), to.buffer(), 1, &region);
  }

  /// Once: a set in use by commands stays as it is.
  void bind_all(std::size_t slot) const {
    if (recorded_[slot].is_there || recorded_timed_[slot].is_there) return;
    const std::size_t count = of_.dispatches().size();
    for (std::size_t i = 0; i < count; ++i) bind(of_.dispatches()[i], sets_[slot * count + i], slot);
  }

  /// A dispatch waits for those before it where one of them writes what it reads or writes, or reads what it writes;
  /// others may overlap.
  void dispatch_all(VkCommandBuffer commands, std::size_t slot) const {
    const std::size_t count = of_.dispatches().size();
    memory_uses uses;
    for (std::size_t i = 0; i < count; ++i) {
      const prepared_dispatch& d = of_.dispatches()[i];
      const VkDescriptorSet set = sets_[slot * count + i];
      if (meets(uses, d, slot)) {
        barrier(commands, computed, computes);
        uses.clear();
      }
      note(uses, d, slot);
      on_.vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.pipeline.get());
      on_.vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.layout.get(), 0, 1, &set, 0, nullptr);
      if (d.what->pushed_bytes != 0)
        on_.vk.vkCmdPushConstants(commands, d.layout.get(), VK_SHADER_STAGE_COMPUTE_BIT, 0, d.what->pushed_bytes,
                                  d.what->pushed.data());
      on_.vk.vkCmdDispatch(commands, d.what->groups[0], d.what->groups[1], d.what->groups[2]);
    }
  }

  /// Memory that dispatches use since the last barrier.
  struct memory_use {
    VkBuffer buffer{};
    VkDeviceSize begin = 0, end = 0;
    bool writes = false;

    bool meets(const memory_use& other) const {
      return (writes || other.writes) && buffer == other.buffer && begin < other.end && other.begin < end;
    }
  };
  using memory_uses = std::vector<memory_use>;

  memory_use use_of(const prepared_dispatch& d, const dispatch_buffer& buffer, std::size_t slot) const {
    const VkDescriptorBufferInfo place = place_of(d, buffer, slot);
    const bool writes = buffer.role == buffer_role::output || buffer.role == buffer_role::scratch;
    return {place.buffer, place.offset, place.offset + place.range, writes};
  }
  bool meets(const memory_uses& uses, const prepared_dispatch& d, std::size_t slot) const {
    for (const dispatch_buffer& buffer : d.what->buffers) {
      const memory_use own = use_of(d, buffer, slot);
      for (const memory_use& use : uses)
        if (own.meets(use)) return true;
    }
    return false;
  }
  void note(memory_uses& uses, const prepared_dispatch& d, std::size_t slot) const {
    for (const dispatch_buffer& buffer : d.what->buffers) uses.push_back(use_of(d, buffer, slot));
  }

  // ---- timestamps: two for each part of each slot ----

  static constexpr std::uint32_t per_slot = 2 * device_parts;
  static std::uint32_t query(std::size_t slot, device_part part) {
    return static_cast<std::uint32_t>(slot) * per_slot + 2 * static_cast<std::uint32_t>(part);
  }

  vulkan_handle<VkQueryPool> make_queries() const {
    auto info = vulkan_struct<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = static_cast<std::uint32_t>(recorded_.size()) * per_slot;
    return on_.make(on_.vk.vkCreateQueryPool, on_.vk.vkDestroyQueryPool, info, "vkCreateQueryPool");
  }

  /// Records a part of the item's way; its timestamps are those at which all commands before them are done.
  template <class Record>
  void record_part(VkCommandBuffer commands, std::size_t slot, device_part part, bool timed, Record commands_of) const {
    const auto stamp = [&](std::uint32_t which) {
      if (timed && role_of(part))
        on_.vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_.get(),
                                   query(slot, part) + which);
    };
    stamp(0);
    commands_of(commands);
    stamp(1);
  }

  void record(slot_commands& made, std::size_t slot, bool timed) const {
    const std::size_t in_at = slot * in_stride(), out_at = slot * out_stride();
    const auto upload = [&](VkCommandBuffer commands) {
      record_part(commands, slot, device_part::upload, timed,
                  [&](VkCommandBuffer c) { copy(c, *up_, in_, in_at, of_.in_bytes()); });
    };
    const auto download = [&](VkCommandBuffer commands) {
      record_part(commands, slot, device_part::download, timed,
                  [&](VkCommandBuffer c) { copy(c, out_, *down_, out_at, of_.out_bytes()); });
      barrier(commands, copied, host_reads);
    };
    const auto begun = [&](std::size_t role) { return begin(made[role], role); };
    if (uploads_by_itself()) {
      const VkCommandBuffer first = begun(vulkan_roles::upload);
      upload(first);
      end(first);
    }
    const VkCommandBuffer computing = begun(vulkan_roles::compute);
    if (way_ == hand_over_way::same_memory) barrier(computing, computed, computes);
    if (way_ == hand_over_way::device_memory) pass(computing, in_, in_at, in_stride(), nothing, computes, false);
    if (up_ && !uploads_by_itself()) {
      upload(computing);
      barrier(computing, copied, computes);
    }
    record_part(computing, slot, device_part::compute, timed, [&](VkCommandBuffer c) { dispatch_all(c, slot); });
    if (!down_) {
      barrier(computing, computed, host_reads);
    } else if (!downloads_by_itself()) {
      barrier(computing, computed, copies);
      download(computing);
    }
    const bool passes = given_ == hand_over_way::device_memory;
    if (passes && !downloads_by_itself()) pass(computing, out_, out_at, out_stride(), computed, nothing, true);
    end(computing);
    if (downloads_by_itself()) {
      const VkCommandBuffer last = begun(vulkan_roles::download);
      download(last);
      if (passes) pass(last, out_, out_at, out_stride(), copies, nothing, true);
      end(last);
    }
  }

  vulkan_handle<VkDescriptorPool> descriptors_;
  vulkan_handle<VkCommandPool> pools_[vulkan_roles::count];
  std::vector<recording> recorded_, recorded_timed_;
  std::vector<bound_weights> weights_;  ///< of each unit in each slot
  vulkan_handle<VkQueryPool> queries_;
  std::vector<VkDescriptorSet> sets_;
};

}  // namespace levada::detail
