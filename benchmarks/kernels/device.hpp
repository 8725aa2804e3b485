// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dispatches on a Vulkan device, nothing of levada's run time around them: any module, on buffers that are filled and
// read here.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <levada/backend/spirv/detail/prepared.hpp>
#include <levada/kernel/detail/grid_kernel.hpp>
#include <levada/kernel/detail/spirv.hpp>

#include "alternate.hpp"

namespace kernels {

namespace lv = levada;

/// The first device of the machine, or nothing and a line why.
inline lv::detail::vulkan_context* device() {
  static const std::unique_ptr<lv::detail::vulkan_context> opened = [] {
    try {
      return std::make_unique<lv::detail::vulkan_context>(0, lv::vulkan_settings{});
    } catch (const lv::device_error& e) {
      std::fprintf(stderr, "%s: what needs one is left out\n", e.what());
      return std::unique_ptr<lv::detail::vulkan_context>();
    }
  }();
  return opened.get();
}

/// The device is a processor: Mesa's lavapipe, whose work is done by threads of this process.
inline bool is_software() { return device()->properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }

/// `alternate` by the clock that says what the device did.
template <class First, class Second>
compared alternate_on_device(benchmark::State& state, First&& first, Second&& second) {
  return is_software() ? alternate<processor_clock>(state, first, second) : alternate(state, first, second);
}

/// Commands that are recorded once, submitted and waited for.
class submission {
  using pool = lv::detail::vulkan_handle<VkCommandPool>;

 public:
  template <class Record>
  submission(const lv::detail::vulkan_context& on, Record record) : on_(&on) {
    using lv::detail::vulkan_struct, lv::detail::vulkan_roles;
    auto info = vulkan_struct<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    info.queueFamilyIndex = on.family(vulkan_roles::compute);
    pool_ = on.make(on.vk.vkCreateCommandPool, on.vk.vkDestroyCommandPool, info, "vkCreateCommandPool");
    auto type = vulkan_struct<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto timeline = vulkan_struct<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    timeline.pNext = &type;
    timeline_ = on.make(on.vk.vkCreateSemaphore, on.vk.vkDestroySemaphore, timeline, "vkCreateSemaphore");
    auto wanted = vulkan_struct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    wanted.commandPool = pool_.get();
    wanted.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    wanted.commandBufferCount = 1;
    on.check(on.vk.vkAllocateCommandBuffers(on.device(), &wanted, &commands_), "vkAllocateCommandBuffers");
    const auto begin = vulkan_struct<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    on.check(on.vk.vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    record(commands_);
    on.check(on.vk.vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
  }

  /// Returns when the device is done.
  void run() {
    using lv::detail::vulkan_struct;
    const VkSemaphore timeline = timeline_.get();
    on_->submit(lv::detail::vulkan_roles::compute, commands_, timeline, ++value_);
    auto wait = vulkan_struct<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    wait.semaphoreCount = 1;
    wait.pSemaphores = &timeline;
    wait.pValues = &value_;
    on_->check(on_->vk.vkWaitSemaphores(on_->device(), &wait, ~std::uint64_t{0}), "vkWaitSemaphores");
  }

 private:
  const lv::detail::vulkan_context* on_;
  pool pool_;
  lv::detail::vulkan_handle<VkSemaphore> timeline_;
  VkCommandBuffer commands_ = nullptr;
  std::uint64_t value_ = 0;
};

/// One dispatch of a module on buffers of its own, `repeats` times a run.
class on_device {
 public:
  on_device(const lv::detail::vulkan_context& on, const lv::dispatch& what, unsigned repeats) : on_(on) {
    kernel_.dispatches.push_back(what);
    lv::detail::device_segment segment;
    segment.units = lv::detail::fixed_array<lv::detail::device_segment::unit>(1);
    segment.units[0].kernel = &kernel_;
    prepared_.emplace(on, segment, VK_NULL_HANDLE,
                      [](const auto&) { return lv::detail::memory_block(); });  // no weights
    std::uint32_t seed = 1;
    for (const lv::dispatch_buffer& b : what.buffers) {
      buffers_.emplace_back(on, lv::detail::block_use::device, b.bytes, "a buffer");
      if (b.role == lv::buffer_role::input) fill(buffers_.back(), seed++);
    }
    bind();
    record(repeats);
  }

  void run() { commands_->run(); }

  /// What lies in the last buffer.
  std::vector<std::uint32_t> result() {
    const lv::detail::memory_block& from = buffers_.back();
    const lv::detail::memory_block to(on_, lv::detail::block_use::download, from.bytes(), "a result");
    copy(from, to);
    std::vector<std::uint32_t> words(from.bytes() / 4);
    std::memcpy(words.data(), to.mapped(), from.bytes());
    return words;
  }

 private:
  void copy(const lv::detail::memory_block& from, const lv::detail::memory_block& to) {
    const VkBufferCopy all{0, 0, from.bytes()};
    submission(on_, [&](VkCommandBuffer c) { on_.vk.vkCmdCopyBuffer(c, from.buffer(), to.buffer(), 1, &all); }).run();
  }
  /// Floats between -2 and 2.
  void fill(const lv::detail::memory_block& to, std::uint32_t seed) {
    const lv::detail::memory_block from(on_, lv::detail::block_use::upload, to.bytes(), "an input");
    std::mt19937 engine(seed);
    for (std::size_t i = 0; i < to.bytes(); i += 4) {
      const float x = static_cast<float>(engine()) * 0x1p-30f - 2.0f;
      std::memcpy(from.mapped() + i, &x, sizeof x);
    }
    copy(from, to);
  }

  void bind() {
    using lv::detail::vulkan_struct;
    const auto count = static_cast<std::uint32_t>(buffers_.size());
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count};
    auto info = vulkan_struct<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    info.maxSets = 1;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    sets_ = on_.make(on_.vk.vkCreateDescriptorPool, on_.vk.vkDestroyDescriptorPool, info, "vkCreateDescriptorPool");
    const VkDescriptorSetLayout layout = prepared_->dispatches()[0].bindings.get();
    auto wanted = vulkan_struct<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    wanted.descriptorPool = sets_.get();
    wanted.descriptorSetCount = 1;
    wanted.pSetLayouts = &layout;
    on_.check(on_.vk.vkAllocateDescriptorSets(on_.device(), &wanted, &set_), "vkAllocateDescriptorSets");
    for (std::uint32_t b = 0; b < count; ++b) {
      const VkDescriptorBufferInfo place{buffers_[b].buffer(), 0, buffers_[b].bytes()};
      auto write = vulkan_struct<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
      write.dstSet = set_;
      write.dstBinding = b;
      write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      write.pBufferInfo = &place;
      on_.vk.vkUpdateDescriptorSets(on_.device(), 1, &write, 0, nullptr);
    }
  }

  void record(unsigned repeats) {
    commands_.emplace(on_, [&](VkCommandBuffer c) {
      const lv::detail::prepared_dispatch& d = prepared_->dispatches()[0];
      on_.vk.vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, d.pipeline.get());
      on_.vk.vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, d.layout.get(), 0, 1, &set_, 0, nullptr);
      const lv::dispatch& what = *d.what;
      if (what.pushed_bytes != 0)
        on_.vk.vkCmdPushConstants(c, d.layout.get(), VK_SHADER_STAGE_COMPUTE_BIT, 0, what.pushed_bytes,
                                  what.pushed.data());
      auto memory = lv::detail::vulkan_struct<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
      memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
      memory.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
      for (unsigned r = 0; r < repeats; ++r) {
        if (r != 0)
          on_.vk.vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0,
                                      1, &memory, 0, nullptr, 0, nullptr);
        on_.vk.vkCmdDispatch(c, what.groups[0], what.groups[1], what.groups[2]);
      }
    });
  }

  const lv::detail::vulkan_context& on_;
  lv::dispatch_kernel kernel_;
  std::optional<lv::detail::prepared_segment> prepared_;
  std::vector<lv::detail::memory_block> buffers_;
  lv::detail::vulkan_handle<VkDescriptorPool> sets_;
  VkDescriptorSet set_{};
  std::optional<submission> commands_;
};

/// As pipelines do where they know the number of elements; and as one does for any number.
inline constexpr lv::module_options whole{.one_row = true, .whole_groups = true}, guarded{.one_row = true};

/// An element-wise kernel on `elements` floats.
template <lv::module_options Options, class F>
lv::dispatch transform_dispatch(const F& f, std::size_t elements) {
  lv::dispatch d;
  d.name = "transform";
  d.module = lv::spirv_module<lv::program_of<F, float>, Options>;
  d.buffers.push_back({lv::buffer_role::input, elements * 4, 0});
  d.buffers.push_back({lv::buffer_role::output, elements * 4, 0});
  if constexpr (!lv::kernel_detail::captures_nothing<F>) d.push(f);
  d.push(static_cast<std::uint32_t>(elements));
  d.local_size = {lv::module_options{}.local_size, 1, 1};
  d.groups = {static_cast<std::uint32_t>((elements + d.local_size[0] - 1) / d.local_size[0]), 1, 1};
  return d;
}

template <lv::fixed_string Name, class In, class Out, class Grid, class F>
lv::dispatch grid_dispatch(const lv::traced_kernel<Name, In, Out, Grid, F>& kernel) {
  lv::dispatch d;
  d.name = Name.view();
  d.module = kernel.module();
  for (const lv::ir::buffer_info& b : kernel.buffers())
    d.buffers.push_back({b.is_output ? lv::buffer_role::output : lv::buffer_role::input, b.words() * 4, 0});
  d.groups = kernel.group_counts();
  d.local_size = kernel.workgroup_size();
  for (const lv::ir::shared_info& s : kernel.program().shared) d.shared_bytes += s.elements * 4;
  return d;
}

}  // namespace kernels
