// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/pipeline_cache.hpp: compiled kernels kept in a file, where the deployment names one. A driver
// refuses what another one wrote, so that a stale file costs nothing but its reading.

#include <unistd.h>
#include <cstddef>
#include <string>
#include <vector>

#include <levada/backend/spirv/detail/device.hpp>
#include <levada/core/detail/log.hpp>
#include <levada/core/detail/whole_file.hpp>

namespace levada::detail {

class pipeline_cache {
 public:
  pipeline_cache(const vulkan_context& on, const std::string& path) : on_(on), path_(path) {
    if (path_.empty()) return;
    const std::string kept = read();
    auto info = vulkan_struct<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
    info.initialDataSize = kept.size();
    info.pInitialData = kept.data();
    cache_ = on.make(on.vk.vkCreatePipelineCache, on.vk.vkDestroyPipelineCache, info, "vkCreatePipelineCache");
  }

  /// Null where nothing is kept.
  VkPipelineCache get() const { return cache_.get(); }

  /// Writes the file. A cache that cannot be written is no error.
  void keep() const {
    if (path_.empty()) return;
    std::size_t bytes = 0;
    on_.check(on_.vk.vkGetPipelineCacheData(on_.device(), get(), &bytes, nullptr), "vkGetPipelineCacheData");
    std::vector<char> data(bytes);
    on_.check(on_.vk.vkGetPipelineCacheData(on_.device(), get(), &bytes, data.data()), "vkGetPipelineCacheData");
    if (!written_whole(path_, {data.data(), bytes}))
      log(log_level::warning, "the pipeline cache " + path_ + " cannot be written");
  }

 private:
  std::string read() const {
    if (::access(path_.c_str(), F_OK) != 0) return {};
    constexpr std::size_t largest = std::size_t{1} << 30;
    try {
      return read_whole(path_, largest, "vulkan");
    } catch (const error&) {
      log(log_level::warning, "the pipeline cache " + path_ + " cannot be read");
      return {};
    }
  }

  const vulkan_context& on_;
  const std::string path_;
  vulkan_handle<VkPipelineCache> cache_;
};

}  // namespace levada::detail
