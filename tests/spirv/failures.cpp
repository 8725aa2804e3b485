// SPDX-License-Identifier: Apache-2.0
// What goes wrong on a Vulkan device: before an item is pushed it is an exception of `deploy` or `open`, later one at
// each item it concerns.

#include <atomic>
#include <cstdlib>

#include <levada/backend/spirv.hpp>

#include "device.hpp"

namespace spirv_failures {

using namespace spirv_test;

using item = lv::tensor<float, 100>;

auto doubled() {
  return lv::input<item> | there(lv::transform<"double">([](auto x) { return x + x; }));
}

template <class F>
std::string thrown_by(F f) {
  try {
    f();
  } catch (const lv::device_error& e) {
    return e.what();
  }
  return "nothing";
}

std::string thrown_by_deploy() {
  return thrown_by([] { (void)lv::deploy<box>(doubled()); });
}

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

/// A variable of the environment, set as long as this lasts.
class environment {
 public:
  environment(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before, was_set_ = true;
    setenv(name, value, 1);
  }
  ~environment() { was_set_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};

// ---- a device that fails at its n-th submission, wait or allocation ----

std::atomic<int> until_failure{0};
PFN_vkQueueSubmit real_submit = nullptr;
PFN_vkWaitSemaphores real_wait = nullptr;
PFN_vkAllocateMemory real_allocate = nullptr;
PFN_vkAllocateCommandBuffers real_record = nullptr;

bool fails_now() { return until_failure.fetch_sub(1) <= 0; }

VkResult submit_or_lose(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
  return fails_now() ? VK_ERROR_DEVICE_LOST : real_submit(queue, count, infos, fence);
}
VkResult wait_or_lose(VkDevice device, const VkSemaphoreWaitInfo* info, std::uint64_t timeout) {
  const VkResult result = real_wait(device, info, timeout);  // so that what runs has ended when its memory goes
  return fails_now() ? VK_ERROR_DEVICE_LOST : result;
}
VkResult allocate_or_fail(VkDevice device, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* with,
                          VkDeviceMemory* memory) {
  return fails_now() ? VK_ERROR_OUT_OF_DEVICE_MEMORY : real_allocate(device, info, with, memory);
}
VkResult record_or_fail(VkDevice device, const VkCommandBufferAllocateInfo* info, VkCommandBuffer* commands) {
  return fails_now() ? VK_ERROR_OUT_OF_HOST_MEMORY : real_record(device, info, commands);
}

/// Settings of a device whose functions were changed by `intercept`, from the `good`-th call on.
lv::vulkan_settings failing(void (*intercept)(lv::detail::vulkan_functions&), int good) {
  until_failure = good;
  lv::vulkan_settings s;
  s.intercept = intercept;
  return s;
}

/// All results of `count` items: each a value or the failure, none missing; values come before failures.
template <class App>
void check_failing_stream(const App& app, std::size_t count, const std::string& why) {
  const auto items = random_items<item>(count);
  std::size_t at = 0, failed = 0;
  for (const auto& r : app.stream(items)) {
    if (r.has_value()) {
      CHECK((*r)[7] == items[at][7] + items[at][7]);
    } else {
      ++failed;
      CHECK(begins(thrown_by([&] { r.value(); }), why));
    }
    ++at;
  }
  CHECK(at == count);
  CHECK(failed > 0);
}

TEST_CASE("a machine without a Vulkan driver says so, and only where a stage is to run there") {
  keep_driver_open();
  const environment files("VK_DRIVER_FILES", "/nowhere"), older("VK_ICD_FILENAMES", "/nowhere");
  CHECK(thrown_by_deploy() == "levada: device vulkan<0>: the machine has no Vulkan driver");
  const auto app =
      lv::deploy<box>(lv::input<item> | lv::transform<"double">([](auto x) { return x + x; }));  // on the CPU
  CHECK(app(item{})[0] == 0);
}

TEST_CASE("with cpu_fallback the processor's plan runs where the device's cannot, and where it can it is not used") {
  keep_driver_open();
  // A state that is copied for the plan that does not come about, and a stage behind the device.
  const auto pipeline = [] {
    return doubled() | lv::stage<"sum">([sum = 0.0f](const item& x) mutable { return sum += x[3]; });
  };
  const auto check = [](const auto& app) {
    const auto items = random_items<item>(50);
    float sum = 0;
    std::size_t at = 0;
    for (const auto& r : app.stream(items)) {
      sum += 2 * items[at++][3];
      CHECK(r.value() == sum);
    }
    CHECK(at == items.size());
    CHECK(app(items[0]) == 2 * items[0][3]);
  };
  const char* const line = "the processor takes what was a device's: levada: device vulkan<0>: ";
  {
    const environment files("VK_DRIVER_FILES", "/nowhere"), older("VK_ICD_FILENAMES", "/nowhere");
    kept_log kept;
    check(lv::deploy<box, lv::cpu_fallback, lv::slots<8>>(pipeline()));
    CHECK(kept.count(lv::log_level::warning, std::string(line) + "the machine has no Vulkan driver") == 1);
  }
  LEVADA_NEEDS_DEVICE();
  kept_log kept;
  check(lv::deploy<box, lv::cpu_fallback, lv::slots<8>>(pipeline()));
  CHECK(kept.count(lv::log_level::warning, line) == 0);
  lv::vulkan_settings s;
  s.device = "no such device";
  const device_settings<0> as(s);
  check(lv::deploy<box, lv::cpu_fallback, lv::slots<8>>(pipeline()));
  CHECK(kept.count(lv::log_level::warning, line) == 1);
}

TEST_CASE("a device that the machine lacks is named, and those that it has") {
  LEVADA_NEEDS_DEVICE();
  lv::vulkan_settings s;
  s.device = "no such device";
  {
    const device_settings<0> as(s);
    CHECK(begins(thrown_by_deploy(),
                 "levada: device vulkan<0>: the machine has no device \"no such device\"; it has \""));
  }
  CHECK(begins(thrown_by([] {
                 (void)lv::deploy<lv::target<lv::cpu<1>, lv::vulkan<99>>>(
                     lv::input<item> | lv::on<lv::vulkan<99>>(lv::transform<"same">([](auto x) { return x; })));
               }),
               "levada: device vulkan<99>: the machine has no device of that index; it has \""));
}

TEST_CASE("a limit too small names the stage, the need and the limit") {
  LEVADA_NEEDS_DEVICE();
  const lv::detail::vulkan_context open(0, {});
  lv::dispatch_kernel kernel;
  kernel.dispatches.emplace_back();
  kernel.dispatches[0].name = "wide";
  kernel.dispatches[0].local_size = {1u << 20, 1, 1};
  const lv::detail::device_segment segment(0, 0, kernel);
  const auto no_weights = [](const auto&) { return lv::detail::memory_block(); };
  CHECK(begins(thrown_by([&] { lv::detail::prepared_segment(open, segment, {}, no_weights); }),
               "levada: device vulkan<0>: stage \"wide\" needs 1048576 invocations in a workgroup, and the device \""));
}

TEST_CASE("device memory that runs out is an exception of `open`, and the app goes on with what it has") {
  LEVADA_NEEDS_DEVICE();
  const device_settings<0> as(failing(
      [](lv::detail::vulkan_functions& f) {
        real_allocate = f.vkAllocateMemory;
        f.vkAllocateMemory = &allocate_or_fail;
      },
      1'000'000));
  const auto app = lv::deploy<box>(doubled());
  auto first = app.open();
  until_failure = 0;
  // Which memory is wanted first depends on whether the device has its own.
  CHECK(begins(thrown_by([&] { app.open(); }), "levada: device vulkan<0>: there is no memory left for the "));
  first.push(item{});
  CHECK(first.pop().has_value());
}

TEST_CASE("more memory than the device has") {
  LEVADA_NEEDS_DEVICE();
  using large = lv::tensor<float, 30'000'000>;  // 120 MB, 64 times
  std::uint64_t all = 0;
  {
    const lv::detail::vulkan_context open(0, {});
    for (const VkMemoryHeap& heap : open.memory().memoryHeaps) all += heap.size;
  }
  if (all > 7'000'000'000) return;  // and how much the system would give is not ours to try
  const auto app =
      lv::deploy<box, lv::slots<64>>(lv::input<large> | there(lv::transform<"same">([](auto x) { return x; })));
  CHECK(begins(thrown_by([&] { app.open(); }),
               "levada: device vulkan<0>: there is no memory left for the inputs of a segment, 7680000000 bytes"));
}

TEST_CASE("a device that is lost fails the items it holds, and those that come") {
  LEVADA_NEEDS_DEVICE();
  SUBCASE("when they are submitted") {
    const device_settings<0> as(failing(
        [](lv::detail::vulkan_functions& f) {
          real_submit = f.vkQueueSubmit;
          f.vkQueueSubmit = &submit_or_lose;
        },
        5));
    check_failing_stream(lv::deploy<box, lv::slots<8>>(doubled()), 500,
                         "levada: device vulkan<0>: vkQueueSubmit failed: the device was lost");
  }
  SUBCASE("when they were copied there and are submitted to be computed") {
    auto s = failing(
        [](lv::detail::vulkan_functions& f) {
          real_submit = f.vkQueueSubmit;
          f.vkQueueSubmit = &submit_or_lose;
        },
        7);
    s.staging = s.own_submissions = true;
    const device_settings<0> as(s);
    check_failing_stream(lv::deploy<box, lv::slots<8>>(doubled()), 500,
                         "levada: device vulkan<0>: vkQueueSubmit failed: the device was lost");
  }
  SUBCASE("while they run") {
    const device_settings<0> as(failing(
        [](lv::detail::vulkan_functions& f) {
          real_wait = f.vkWaitSemaphores;
          f.vkWaitSemaphores = &wait_or_lose;
        },
        5));
    check_failing_stream(lv::deploy<box, lv::slots<8>>(doubled()), 500,
                         "levada: device vulkan<0>: waiting for it failed: the device was lost");
  }
}

TEST_CASE("an item whose commands cannot be recorded fails alone") {
  LEVADA_NEEDS_DEVICE();
  constexpr int many = 1'000'000;
  const device_settings<0> as(failing(
      [](lv::detail::vulkan_functions& f) {
        real_record = f.vkAllocateCommandBuffers;
        f.vkAllocateCommandBuffers = &record_or_fail;
      },
      many));
  const auto app = lv::deploy<box, lv::slots<4>>(doubled());
  const auto items = random_items<item>(40);
  for (const auto& r : app.stream(items)) CHECK(r.has_value());
  // A slot has commands for each queue that does something for it.
  const int for_all_slots = many - until_failure;
  until_failure = for_all_slots / 4 * 3;
  std::size_t at = 0;
  for (const auto& r : app.stream(items)) {
    CHECK(r.has_value() == (at % 4 != 3));  // the slot that came last
    ++at;
  }
  CHECK(at == items.size());
}

TEST_CASE("items that fail before the device pass it by") {
  LEVADA_NEEDS_DEVICE();
  const auto app = lv::deploy<box, lv::slots<8>>(lv::input<item> | lv::stage<"odd">([](const item& i) {
                                                   if (i[0] == 13) throw std::runtime_error("thirteen");
                                                   return i;
                                                 }) |
                                                 there(lv::transform<"double">([](auto x) { return x + x; })));
  std::vector<item> items(200);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].fill(static_cast<float>(i % 20));
  std::size_t at = 0;
  for (const auto& r : app.stream(items)) {
    CHECK(r.has_value() == (at % 20 != 13));
    if (r) CHECK((*r)[99] == 2 * static_cast<float>(at % 20));
    ++at;
  }
  CHECK(at == items.size());
}

}  // namespace spirv_failures
