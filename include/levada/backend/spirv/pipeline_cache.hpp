// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/pipeline_cache.hpp: compiled kernels kept in a file, where the deployment names one. A driver refuses what
// another one wrote, so that a stale file costs nothing but its reading.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <levada/backend/spirv/device.hpp>
#include <levada/core/log.hpp>

namespace levada::detail {

class pipeline_cache {
 public:
  pipeline_cache(const vulkan_context& on, const std::string& path) : on_(on), path_(path) {
    if (path_.empty()) return;
    const std::vector<char> kept = read();
    auto info = vulkan_struct<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
    info.initialDataSize = kept.size();
    info.pInitialData = kept.data();
    cache_ = on.make(on.vk.vkCreatePipelineCache, on.vk.vkDestroyPipelineCache, info, "vkCreatePipelineCache");
  }

  /// Null where nothing is kept.
  VkPipelineCache get() const { return cache_.get(); }

  /// Writes the file, under another name first: who reads it finds the old one or the new one. A cache that cannot be written
  /// is no error.
  void keep() const {
    if (path_.empty()) return;
    std::size_t bytes = 0;
    on_.check(on_.vk.vkGetPipelineCacheData(on_.device(), get(), &bytes, nullptr), "vkGetPipelineCacheData");
    std::vector<char> data(bytes);
    on_.check(on_.vk.vkGetPipelineCacheData(on_.device(), get(), &bytes, data.data()), "vkGetPipelineCacheData");
    const std::string fresh = path_ + ".new";
    const file out(std::fopen(fresh.c_str(), "wb"));
    const bool whole = out.handle && std::fwrite(data.data(), 1, bytes, out.handle.get()) == bytes &&
                       std::fflush(out.handle.get()) == 0;
    if (!whole || std::rename(fresh.c_str(), path_.c_str()) != 0)
      log(log_level::warning, "the pipeline cache " + path_ + " cannot be written");
  }

 private:
  struct file {
    struct close {
      void operator()(std::FILE* f) const { std::fclose(f); }
    };
    explicit file(std::FILE* f) : handle(f) {}
    std::unique_ptr<std::FILE, close> handle;
  };

  std::vector<char> read() const {
    std::vector<char> data;
    const file in(std::fopen(path_.c_str(), "rb"));
    char part[4096];
    for (std::size_t n; in.handle && (n = std::fread(part, 1, sizeof part, in.handle.get())) != 0;)
      data.insert(data.end(), part, part + n);
    return data;
  }

  const vulkan_context& on_;
  const std::string path_;
  vulkan_handle<VkPipelineCache> cache_;
};

}  // namespace levada::detail
