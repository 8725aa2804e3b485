// SPDX-License-Identifier: Apache-2.0
// Sessions on a Vulkan device: several at once, cut off in the middle, opened again and again, watched by the
// validation layer, without an allocation an item.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include <levada/backend/spirv.hpp>

#include <files.hpp>
#include <full_disk.hpp>
#include <resident.hpp>
#include <run/watchdog.hpp>
#include <sanitizer.hpp>
#include <soak.hpp>

#include "device.hpp"

using namespace spirv_test;

/// What the leak sanitizer is not to report: the validation layer's own leaks.
extern "C" const char* __lsan_default_suppressions() { return "leak:libVkLayer_khronos_validation"; }

namespace {

using item = lv::tensor<float, 300>;

constexpr auto step = [by = lv::uniform{0.5f}](auto x) { return x * by + 1.0f; };

auto on_device() { return lv::input<item> | there(lv::transform<"a">(step)) | there(lv::transform<"b">(step)); }
auto on_cpu() { return lv::input<item> | lv::transform<"a">(step) | lv::transform<"b">(step); }

/// A pipeline with the device in the middle, through memory that is used in place, copied, or copied by queues of their
/// own.
template <class Settings>
void run_once(Settings settings, std::size_t count) {
  const device_settings<0> as(settings);
  const auto app = lv::deploy<box, lv::slots<6>>(on_device() | lv::stage<"behind">([](item& i) { i[0] += 1.0f; }) |
                                                 there(lv::transform<"c">(step)));
  const auto plain = lv::deploy<lv::target<lv::cpu<1>>>(on_cpu() | lv::stage<"behind">([](item& i) { i[0] += 1.0f; }) |
                                                        lv::transform<"c">(step));
  check_stream(app, random_items<item>(count), [&](const item& i) { return plain(i); });
}

void run_all_ways(std::size_t count) {
  run_once(lv::vulkan_settings{}, count);
  run_once(with_staging(), count);
  run_once(with_own_submissions(), count);
}

bool layer_is_installed() {
  setenv("LEVADA_VULKAN_VALIDATION", "1", 1);
  const std::string why = why_no_device();
  unsetenv("LEVADA_VULKAN_VALIDATION");
  if (!why.empty()) MESSAGE("not tested: ", why);
  return why.empty();
}

}  // namespace

TEST_CASE("two pipelines and several sessions share a device") {
  LEVADA_NEEDS_DEVICE();
  const auto one = lv::deploy<box>(on_device());
  const auto two = lv::deploy<box, lv::slots<4>>(lv::input<item> | there(lv::transform<"b">(step)));
  const auto plain_one = lv::deploy<lv::target<lv::cpu<1>>>(on_cpu());
  const auto plain_two = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<item> | lv::transform<"b">(step));
  std::atomic<int> wrong{0}, results{0};
  const auto stream = [&](const auto& app, const auto& plain, unsigned seed) {
    const auto items = random_items<item>(200, seed);
    std::size_t at = 0;
    for (const auto& r : app.stream(items)) {
      ++results;
      if (!r || !same_bits(*r, plain(items[at++]))) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] { stream(one, plain_one, t); });
    threads.emplace_back([&, t] { stream(two, plain_two, 10 + t); });
  }
  for (std::thread& t : threads) t.join();
  CHECK(results == 800);
  CHECK(wrong == 0);
}

TEST_CASE("a session that measures counts what the device computed") {
  LEVADA_NEEDS_DEVICE();
  const auto app = lv::deploy<box>(on_device() | lv::stage<"behind">([](item& i) { i[0] += 1.0f; }));
  app.measure();
  const std::vector<item> items(300);
  auto results = app.stream(items);
  for (const auto& r : results) CHECK(r.has_value());
  const auto stages = results.statistics().stages;
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].name == "a + b");
  CHECK(stages[0].items == 300);
  CHECK(stages[1].items == 300);
}

TEST_CASE("a session may be closed while its items are on the device") {
  LEVADA_NEEDS_DEVICE();
  const auto app = lv::deploy<box, lv::slots<16>>(on_device());
  const auto items = random_items<item>(16);
  for (int round = 0; round < 30; ++round) {
    auto session = app.open();
    for (int i = 0; i <= round % 16; ++i) session.push(items[static_cast<std::size_t>(i)]);
    if (round % 3 == 0) CHECK(session.pop().has_value());
  }
}

TEST_CASE("a stream that is stopped in the middle gives values and then no more") {
  LEVADA_NEEDS_DEVICE();
  const auto app = lv::deploy<box, lv::slots<8>>(on_device());
  const auto plain = lv::deploy<lv::target<lv::cpu<1>>>(on_cpu());
  const auto items = random_items<item>(2000);
  std::stop_source stop;
  std::size_t values = 0, wrong = 0;
  auto results = app.stream(items, stop.get_token());
  for (const auto& r : results) {
    if (!r) continue;
    wrong += !same_bits(*r, plain(items[values]));
    if (++values == 50) stop.request_stop();
  }
  CHECK(wrong == 0);
  CHECK(values >= 50);
  CHECK(values < items.size());
  const auto counts = results.counts();
  CHECK(counts.delivered + counts.cancelled + counts.failed == counts.pushed);
}

TEST_CASE("apps and sessions come and go, and leave nothing behind") {
  LEVADA_NEEDS_DEVICE();
  const auto rounds = [](int count) {
    for (int i = 0; i < count; ++i) {
      const auto app = lv::deploy<box, lv::slots<2>>(on_device());
      CHECK(app(item{})[0] == 1.5f);
      for (int s = 0; s < 10; ++s) {
        auto session = app.open();
        session.push(item{});
      }
    }
  };
  rounds(20);
  const std::size_t before = lv::test::resident();
  rounds(40 * lv::test::soak_scale());
  const std::size_t after = lv::test::resident(), grown = after > before ? after - before : 0;
  MESSAGE(grown, " bytes more");
  // The sanitizer keeps freed memory, and finds leaks itself.
  if (!lv::test::under_sanitizer) CHECK(grown < 16u << 20);
}

TEST_CASE("a cache of compiled kernels is written and read where it is asked for") {
  LEVADA_NEEDS_DEVICE();
  lv::vulkan_settings s;
  s.pipeline_cache = "levada_pipeline_cache_" + std::to_string(std::random_device{}()) + ".bin";
  const device_settings<0> as(s);
  for (int round = 0; round < 2; ++round) {
    const auto app = lv::deploy<box, lv::slots<2>>(on_device());
    CHECK(app(item{})[0] == 1.5f);
    CHECK(std::ifstream(s.pipeline_cache, std::ios::ate | std::ios::binary).tellg() > 16);
  }
  std::remove(s.pipeline_cache.c_str());
}

TEST_CASE("the log names the device that is opened") {
  LEVADA_NEEDS_DEVICE();
  std::string name;
  {
    const lv::detail::vulkan_context open(0, {});
    name = open.properties().deviceName;
  }
  kept_log kept;
  (void)lv::deploy<box>(on_device());
  CHECK(kept.count(lv::log_level::info, "vulkan<0> is " + name) == 1);
  CHECK(kept.count(lv::log_level::warning, "") == 0);
}

TEST_CASE("a cache that cannot be written is a warning, and nothing else") {
  LEVADA_NEEDS_DEVICE();
  lv::vulkan_settings s;
  s.pipeline_cache = "no folder of this name/cache.bin";
  const device_settings<0> as(s);
  kept_log kept;
  CHECK(lv::deploy<box>(on_device())(item{})[0] == 1.5f);
  CHECK(kept.count(lv::log_level::warning, "the pipeline cache no folder of this name/cache.bin cannot be written") ==
        1);
}

TEST_CASE("a cache on a full disk is the old one, and what is no file is not waited for") {
  LEVADA_NEEDS_DEVICE();
  const auto warnings = [](const std::string& path, const char* what) {
    lv::vulkan_settings s;
    s.pipeline_cache = path;
    const device_settings<0> as(s);
    kept_log kept;
    CHECK(lv::deploy<box>(on_device())(item{})[0] == 1.5f);
    return kept.count(lv::log_level::warning, "the pipeline cache " + path + " cannot be " + what);
  };
  const std::string why = lv::test::with_small_disk("64k", [&](const lv::test::small_disk& disk) {
    const std::string path = disk.file("cache.bin");
    std::ofstream(path) << "old";
    disk.fill();
    const auto names = disk.names();
    CHECK(warnings(path, "written") == 1);
    CHECK(lv::test::contents_of(path) == "old");
    CHECK(disk.names() == names);
  });
  if (!why.empty()) MESSAGE(why);
  const lv::test::temporary_file folder("cache.bin");
  std::filesystem::create_directory(folder.path);
  CHECK(warnings(folder.path, "read") == 1);
}

TEST_CASE("the validation layer has nothing to say, and would") {
  LEVADA_NEEDS_DEVICE();
  if (!layer_is_installed()) return;
  setenv("LEVADA_VULKAN_VALIDATION", "1", 1);
  const std::uint64_t before = lv::vulkan_complaints();
  run_all_ways(40);
  CHECK(lv::vulkan_complaints() == before);

  unsetenv("LEVADA_VULKAN_VALIDATION");
  if (lv::detail::vulkan_context(0, {}).has_own_submission(lv::detail::vulkan_roles::download)) {
    MESSAGE("not tested: what the layer says of a missing barrier; the queues of this device wait for each other");
    return;
  }
  setenv("LEVADA_VULKAN_VALIDATION", "1", 1);

  // Without its barriers the copy behind the kernel reads what may not be written yet.
  auto s = with_staging();
  s.intercept = [](lv::detail::vulkan_functions& f) {
    f.vkCmdPipelineBarrier = [](VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags, VkDependencyFlags,
                                std::uint32_t, const VkMemoryBarrier*, std::uint32_t, const VkBufferMemoryBarrier*,
                                std::uint32_t, const VkImageMemoryBarrier*) {};
  };
  {
    const device_settings<0> as(s);
    kept_log kept;
    (void)lv::deploy<box, lv::slots<2>>(on_device())(item{});
    CHECK(kept.count(lv::log_level::warning, "Vulkan validation: ") == lv::vulkan_complaints() - before);
  }
  CHECK(lv::vulkan_complaints() > before);
  unsetenv("LEVADA_VULKAN_VALIDATION");
}
