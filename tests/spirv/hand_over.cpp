// SPDX-License-Identifier: Apache-2.0
// What one segment on a Vulkan device gives another: it stays where it is if the drivers allow that, and goes through
// the host if not. The plan says what might be done, the log and the statistics say what is.

#include <filesystem>

#include <levada/backend/simd/kernel_stage.hpp>
#include <levada/backend/spirv.hpp>
#include <levada/interop/report.hpp>

#include "device.hpp"

namespace spirv_hand_over {

using namespace spirv_test;

/// What the leak sanitizer is not to report, in none of this program's tests: the validation layer's own leaks.
extern "C" const char* __lsan_default_suppressions() { return "leak:libVkLayer_khronos_validation"; }

using item = lv::tensor<float, 3, 50>;
using two_devices = lv::target<lv::cpu<2>, lv::vulkan<0>, lv::vulkan<1>>;
using lv::hand_over;

constexpr auto scaled = [gain = lv::uniform{1.75f}](auto x) { return x * gain; };
constexpr auto clipped = [](auto x) { return max(min(x - 3.5f, 40.0f), -20.0f); };
constexpr auto curved = [](auto x) { return select(x < 0, x * x, x + x * x * 0.125f); };

template <class Stage>
auto on_second(Stage stage) {
  return lv::on<lv::vulkan<1>>(std::move(stage));
}

/// `vulkan<1>` on the physical device that `vulkan<0>` is on.
lv::vulkan_settings on_the_first(lv::vulkan_settings s = {}) {
  s.device = lv::detail::vulkan_context(0, {}).uuid();
  return s;
}

bool exports_memory() {
  const lv::detail::vulkan_context open(0, {});
  return lv::detail::share_device_memory(open, open);
}
bool takes_host_memory() { return lv::detail::takes_host_memory(lv::detail::vulkan_context(0, {})); }

// ---- drivers that lack the one or the other ----

void without_descriptors(lv::detail::vulkan_functions& f) { f.vkGetMemoryFdKHR = nullptr; }
void without_sharing(lv::detail::vulkan_functions& f) {
  f.vkGetMemoryFdKHR = nullptr;
  f.vkGetMemoryHostPointerPropertiesEXT = nullptr;
}
void with_failing_descriptors(lv::detail::vulkan_functions& f) {
  f.vkGetMemoryFdKHR = [](VkDevice, const VkMemoryGetFdInfoKHR*, int*) { return VK_ERROR_TOO_MANY_OBJECTS; };
}

/// From one device to the other and back, to the host, and to a device again: what the plan says, the bits, and how
/// many items go how, by the log.
void chain(const lv::vulkan_settings& first, const lv::vulkan_settings& second, const std::string& how, bool direct) {
  const device_settings<0> zero(first);
  const device_settings<1> one(on_the_first(second));
  const auto plus_one = [](item& i) { i[0] += 1.0f; };
  const auto app = lv::deploy<two_devices, lv::slots<8>>(
      lv::input<item> | there(lv::transform<"scale">(scaled)) | on_second(lv::transform<"clip">(clipped)) |
      there(lv::transform<"curve">(curved)) | lv::stage<"between">(plus_one) |
      on_second(lv::transform<"again">(clipped)));
  constexpr const auto& plan = decltype(app)::plan;
  static_assert(plan.segments == 5);
  static_assert(plan.segment[0].takes == hand_over::none && plan.segment[0].keeps);
  static_assert(plan.segment[1].takes == hand_over::direct && plan.segment[1].takes_from == 0 && plan.segment[1].keeps);
  static_assert(plan.segment[2].takes == hand_over::direct && plan.segment[2].takes_from == 1 &&
                !plan.segment[2].keeps);
  static_assert(plan.segment[3].takes == hand_over::none && plan.segment[4].takes == hand_over::none);
  const auto plain = lv::deploy<lv::target<lv::cpu<1>>>(
      lv::input<item> | lv::transform<"scale">(scaled) | lv::transform<"clip">(clipped) |
      lv::transform<"curve">(curved) | lv::stage<"between">(plus_one) | lv::transform<"again">(clipped));
  const auto items = random_items<item>(100);
  check_stream(app, items, [&](const item& i) { return plain(i); });
  CHECK(same_bits(app(items[0]), plain(items[0])));

  kept_log log;
  auto session = app.open();
  CHECK(
      log.count(lv::log_level::info, "segment 1 on vulkan<1> takes what segment 0 on vulkan<0> gives " + how) +
          log.count(lv::log_level::warning, "segment 1 on vulkan<1> takes what segment 0 on vulkan<0> gives " + how) ==
      1);
  CHECK(
      log.count(lv::log_level::info, "segment 2 on vulkan<0> takes what segment 1 on vulkan<1> gives " + how) +
          log.count(lv::log_level::warning, "segment 2 on vulkan<0> takes what segment 1 on vulkan<1> gives " + how) ==
      1);
  const auto segments = session.statistics().segments;
  REQUIRE(segments.size() == 5);
  CHECK_FALSE(segments[0].is_direct);
  CHECK(segments[1].is_direct == direct);
  CHECK(segments[2].is_direct == direct);
  CHECK_FALSE(segments[4].is_direct);
}

TEST_CASE("two devices on one physical device hand over in its memory") {
  LEVADA_NEEDS_DEVICE();
  const watched by_the_layer;
  if (!exports_memory()) return;
  chain({}, {}, "in device memory that both see", true);
  chain(with_staging(), {}, "in device memory that both see", true);
  chain(with_own_submissions(), with_own_submissions(), "in device memory that both see", true);
}

TEST_CASE("sessions that share memory give back its file descriptors") {
  LEVADA_NEEDS_DEVICE();
  if (!exports_memory()) return;
  const device_settings<1> one(on_the_first());
  const auto app = lv::deploy<two_devices, lv::slots<4>>(lv::input<item> | there(lv::transform<"scale">(scaled)) |
                                                         on_second(lv::transform<"clip">(clipped)));
  const auto open_descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto open_and_close = [&] {
    auto session = app.open();
    CHECK(session.statistics().segments[1].is_direct);
  };
  open_and_close();
  const auto before = open_descriptors();
  for (int i = 0; i < 20; ++i) open_and_close();
  CHECK(open_descriptors() == before);
}

TEST_CASE("devices that cannot see each other's memory hand over in the host's, which both see") {
  LEVADA_NEEDS_DEVICE();
  const watched by_the_layer;
  if (!takes_host_memory()) return;
  lv::vulkan_settings lacking;
  lacking.intercept = without_descriptors;
  chain(lacking, {}, "in host memory that both see", true);
  lv::vulkan_settings copies = with_own_submissions();
  copies.intercept = without_descriptors;
  chain(with_staging(), copies, "in host memory that both see", true);
  chain(copies, with_own_submissions(), "in host memory that both see", true);
}

TEST_CASE("where the drivers allow neither, the host carries what devices give each other") {
  LEVADA_NEEDS_DEVICE();
  const watched by_the_layer;
  lv::vulkan_settings lacking;
  lacking.intercept = without_sharing;
  chain(lacking, {}, "through the host", false);
  chain({}, lacking, "through the host", false);
  if (!exports_memory()) return;
  lv::vulkan_settings failing = with_staging();
  failing.intercept = with_failing_descriptors;
  chain(failing, failing, "through the host: levada: device vulkan<", false);
}

TEST_CASE("segments on one device hand over where the item lies") {
  LEVADA_NEEDS_DEVICE();
  const watched by_the_layer;
  for (const lv::vulkan_settings& settings : {lv::vulkan_settings{}, with_staging(), with_own_submissions()}) {
    const device_settings<0> as(settings);
    const auto app = lv::deploy<box, lv::slots<4>>(lv::input<item> | there(lv::transform<"scale">(scaled)) |
                                                   lv::split_here | there(lv::transform<"clip">(clipped)));
    static_assert(decltype(app)::plan.segment[0].keeps);
    static_assert(decltype(app)::plan.segment[1].takes == hand_over::direct);
    CHECK(lv::report(app).find("items are taken where segment 0 left them, if the drivers allow it") !=
          std::string::npos);
    const auto plain = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<item> | lv::transform<"scale">(scaled) |
                                                          lv::transform<"clip">(clipped));
    check_stream(app, random_items<item>(100), [&](const item& i) { return plain(i); });
    const auto session = app.open();
    CHECK(session.statistics().segments[1].is_direct);
    CHECK(lv::report(session.statistics()).find("segment 1 takes items where the device before it left them") !=
          std::string::npos);
  }
}

TEST_CASE(
    "branches on two devices, joined on the processor: one device takes the value where it lies, the other by the "
    "host") {
  LEVADA_NEEDS_DEVICE();
  const watched by_the_layer;
  using line = lv::tensor<float, 60>;
  const auto subtract = lv::join<"subtract", line>([](const line& a, const line& b, line& out) {
    for (std::size_t i = 0; i < line::elements; ++i) out[i] = a[i] - b[i];
  });
  const auto plain = lv::deploy<lv::target<lv::cpu<1>>>(
      lv::input<line> | lv::transform<"scale">(scaled) |
      lv::fork(lv::transform<"curve">(curved), lv::transform<"clip">(clipped)) | subtract);
  for (const bool shares : {true, false}) {
    lv::vulkan_settings second = on_the_first();
    if (!shares) second.intercept = without_sharing;
    const device_settings<1> as(second);
    const auto app = lv::deploy<two_devices, lv::slots<8>>(
        lv::input<line> | there(lv::transform<"scale">(scaled)) | lv::split_here |
        lv::fork(there(lv::transform<"curve">(curved)), on_second(lv::transform<"clip">(clipped))) | subtract);
    constexpr const auto& plan = decltype(app)::plan;
    for (std::size_t s = 1; s < plan.segments; ++s)
      if (plan.segment[s].device != lv::cpu<1>::id) CHECK(plan.segment[s].takes == hand_over::direct);
    CHECK(plan.segment[0].keeps);
    check_stream(app, random_items<line>(100), [&](const line& i) { return plain(i); });
  }
}

TEST_CASE("what the processor takes as well comes to the host besides") {
  LEVADA_NEEDS_DEVICE();
  const watched by_the_layer;
  using line = lv::tensor<float, 60>;
  const auto turned = lv::stage<"turn", line>([](const line& in, line& out) {
    for (std::size_t i = 0; i < line::elements; ++i) out[i] = in[line::elements - 1 - i];
  });
  const auto add = lv::join<"add", line>([](const line& a, const line& b, line& out) {
    for (std::size_t i = 0; i < line::elements; ++i) out[i] = a[i] + b[i];
  });
  const auto plain = lv::deploy<lv::target<lv::cpu<1>>>(lv::input<line> | lv::transform<"scale">(scaled) |
                                                        lv::fork(lv::transform<"clip">(clipped), turned) | add);
  for (const lv::vulkan_settings& settings : {lv::vulkan_settings{}, with_own_submissions()}) {
    const device_settings<0> zero(settings);
    const device_settings<1> one(on_the_first());
    const auto app =
        lv::deploy<two_devices, lv::slots<8>>(lv::input<line> | there(lv::transform<"scale">(scaled)) |
                                              lv::fork(on_second(lv::transform<"clip">(clipped)), turned) | add);
    static_assert(!decltype(app)::plan.segment[0].keeps);
    check_stream(app, random_items<line>(100), [&](const line& i) { return plain(i); });
  }
}

}  // namespace spirv_hand_over
