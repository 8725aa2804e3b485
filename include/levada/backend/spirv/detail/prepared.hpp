// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/prepared.hpp: what all sessions of a deployment share on a device: the compiled modules of a
// segment's dispatches, and its weights.

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <levada/backend/spirv/detail/dispatch.hpp>
#include <levada/backend/spirv/detail/float_controls.hpp>
#include <levada/backend/spirv/detail/memory.hpp>

namespace levada::detail {

/// Weights on a device; those of the kernels as they were prepared have the number 0.
struct resident_weights final : device_parameters {
  std::shared_ptr<const vulkan_context> on;  ///< freed behind them
  std::uint64_t number = 0;
  memory_block block;
};

/// A dispatch as a compiled pipeline.
struct prepared_dispatch {
  const dispatch* what = nullptr;
  std::size_t unit = 0;
  std::size_t weights_offset = 0;  ///< of its kernel's, in the segment's block
  vulkan_handle<VkDescriptorSetLayout> bindings;
  vulkan_handle<VkPipelineLayout> layout;
  vulkan_handle<VkPipeline> pipeline;
};

class prepared_segment {
 public:
  /// `bring(bytes)` gives a block of the device with these bytes.
  template <class Bring>
  prepared_segment(const vulkan_context& on, const device_segment& of, VkPipelineCache cache, Bring bring)
      : segment_(of) {
    std::vector<std::byte> weights;
    for (std::size_t u = 0; u < of.units.size(); ++u) {
      const auto& kernel = static_cast<const dispatch_kernel&>(*of.units[u].kernel);
      for (const dispatch& d : of.units[u].inputs > 1 ? kernel.dispatches_apart : kernel.dispatches) {
        check_limits(on, d);
        dispatches_.push_back(prepare(on, d, cache));
        dispatches_.back().unit = u;
        dispatches_.back().weights_offset = weights.size();
      }
      weights.insert(weights.end(), kernel.weights.begin(), kernel.weights.end());
      weights.resize(device_aligned(weights.size()));
    }
    if (!weights.empty()) weights_ = bring(weights);
  }

  const device_segment& segment() const { return segment_; }
  const std::vector<prepared_dispatch>& dispatches() const { return dispatches_; }
  VkBuffer weights() const { return weights_.buffer(); }
  /// It takes one value, and its kernels read that as it is.
  bool takes_item_as_it_is() const { return segment_.inputs.size() == 1 && segment_.inputs[0].pack == nullptr; }
  bool gives_one_value() const { return segment_.outputs.size() == 1; }
  /// What comes in, one value behind the other; likewise what goes out.
  std::size_t in_bytes() const { return begin_of(segment_.inputs, segment_.inputs.size()); }
  std::size_t out_bytes() const { return begin_of(segment_.outputs, segment_.outputs.size()); }
  std::size_t input_offset(std::size_t which) const { return begin_of(segment_.inputs, which); }
  std::size_t output_offset(std::size_t which) const { return begin_of(segment_.outputs, which); }
  /// An input as the segment's kernels read it.
  void write_input(std::size_t which, const void* item, std::byte* to) const {
    const device_segment::value& input = segment_.inputs[which];
    if (input.pack != nullptr)
      input.pack(item, to + input_offset(which));
    else
      std::memcpy(to + input_offset(which), item, input.bytes);
  }

 private:
  static std::size_t begin_of(const fixed_array<device_segment::value>& values, std::size_t which) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < which; ++i)
      at += i + 1 < values.size() ? device_aligned(values[i].bytes) : values[i].bytes;
    return at;
  }
  static void check_limits(const vulkan_context& on, const dispatch& d) {
    const VkPhysicalDeviceLimits& most = on.limits();
    const auto refuse = [&](const char* what, std::uint64_t needs, std::uint64_t has) {
      if (needs > has)
        throw vulkan_error(on.index(), "stage \"" + std::string(d.name) + "\" needs " + std::to_string(needs) + " " +
                                           what + ", and the device \"" + on.properties().deviceName +
                                           "\" has at most " + std::to_string(has));
    };
    for (const dispatch_buffer& b : d.buffers)
      refuse("bytes in one storage buffer", b.bytes, most.maxStorageBufferRange);
    refuse("storage buffers in a kernel", d.buffers.size(), most.maxPerStageDescriptorStorageBuffers);
    refuse("bytes of push constants", d.pushed_bytes, most.maxPushConstantsSize);
    refuse("bytes of shared memory", d.shared_bytes, most.maxComputeSharedMemorySize);
    refuse("invocations in a workgroup", std::uint64_t{d.local_size[0]} * d.local_size[1] * d.local_size[2],
           most.maxComputeWorkGroupInvocations);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      refuse("workgroups along an axis", d.groups[axis], most.maxComputeWorkGroupCount[axis]);
      refuse("invocations along an axis of a workgroup", d.local_size[axis], most.maxComputeWorkGroupSize[axis]);
    }
  }

  static prepared_dispatch prepare(const vulkan_context& on, const dispatch& d, VkPipelineCache cache) {
    prepared_dispatch made;
    made.what = &d;
    std::array<VkDescriptorSetLayoutBinding, dispatch::most_buffers> bindings{};
    for (std::size_t b = 0; b < d.buffers.size(); ++b) {
      bindings[b].binding = static_cast<std::uint32_t>(b);
      bindings[b].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      bindings[b].descriptorCount = 1;
      bindings[b].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    auto set = vulkan_struct<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set.bindingCount = static_cast<std::uint32_t>(d.buffers.size());
    set.pBindings = bindings.data();
    made.bindings = on.make(on.vk.vkCreateDescriptorSetLayout, on.vk.vkDestroyDescriptorSetLayout, set,
                            "vkCreateDescriptorSetLayout");

    const VkDescriptorSetLayout sets[] = {made.bindings.get()};
    const VkPushConstantRange pushed{VK_SHADER_STAGE_COMPUTE_BIT, 0, d.pushed_bytes};
    auto layout = vulkan_struct<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.setLayoutCount = 1;
    layout.pSetLayouts = sets;
    layout.pushConstantRangeCount = d.pushed_bytes != 0 ? 1 : 0;
    layout.pPushConstantRanges = &pushed;
    made.layout =
        on.make(on.vk.vkCreatePipelineLayout, on.vk.vkDestroyPipelineLayout, layout, "vkCreatePipelineLayout");

    auto module_info = vulkan_struct<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    const std::vector<std::uint32_t> words = with_float_controls(d.module, on.controls());
    module_info.codeSize = words.size() * sizeof(std::uint32_t);
    module_info.pCode = words.data();
    const auto module =
        on.make(on.vk.vkCreateShaderModule, on.vk.vkDestroyShaderModule, module_info, "vkCreateShaderModule");
    auto pipeline = vulkan_struct<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    pipeline.stage =
        vulkan_struct<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline.stage.module = module.get();
    pipeline.stage.pName = "main";
    pipeline.layout = made.layout.get();
    VkPipeline compiled{};
    on.check(on.vk.vkCreateComputePipelines(on.device(), cache, 1, &pipeline, nullptr, &compiled),
             "vkCreateComputePipelines");
    made.pipeline = {on.device(), on.vk.vkDestroyPipeline, compiled};
    on.name(VK_OBJECT_TYPE_PIPELINE, compiled, std::string(d.name));
    return made;
  }

  device_segment segment_;
  std::vector<prepared_dispatch> dispatches_;
  memory_block weights_;
};

}  // namespace levada::detail
