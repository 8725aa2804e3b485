// SPDX-License-Identifier: Apache-2.0
#pragma once
// spirv/device.hpp: what the tests of pipelines on Vulkan devices share.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <levada/backend/spirv.hpp>
#include <levada/levada.hpp>

#include "needs_device.hpp"

namespace spirv_test {

namespace lv = levada;

/// Settings of `vulkan<Index>` that last as long as this.
template <int Index>
struct device_settings {
  explicit device_settings(lv::vulkan_settings s) { lv::vulkan_device<Index>() = std::move(s); }
  ~device_settings() { lv::vulkan_device<Index>() = {}; }
  device_settings(const device_settings&) = delete;
  device_settings& operator=(const device_settings&) = delete;
};

/// Keeps the lines of the library as long as it lasts.
class kept_log final : lv::log_sink {
 public:
  kept_log() : before_(lv::log_to(this)) {}
  ~kept_log() { lv::log_to(before_); }
  kept_log(const kept_log&) = delete;
  kept_log& operator=(const kept_log&) = delete;

  /// How many lines of that level begin like that.
  std::size_t count(lv::log_level level, const std::string& beginning) {
    const std::lock_guard lock(mutex_);
    std::size_t found = 0;
    for (const auto& [l, line] : lines_) found += l == level && line.rfind(beginning, 0) == 0;
    return found;
  }

 private:
  void write(lv::log_level level, std::string_view line) noexcept override {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(level, line);
  }

  lv::log_sink* const before_;
  std::mutex mutex_;
  std::vector<std::pair<lv::log_level, std::string>> lines_;
};

/// The validation layer watches as long as this lasts, where it is installed, and has nothing to say.
class watched {
 public:
  watched() {
    setenv("LEVADA_VULKAN_VALIDATION", "1", 1);
    if (!why_no_device().empty()) unsetenv("LEVADA_VULKAN_VALIDATION");
  }
  ~watched() {
    unsetenv("LEVADA_VULKAN_VALIDATION");
    CHECK(lv::vulkan_complaints() == before_);
  }
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;

 private:
  const std::uint64_t before_ = lv::vulkan_complaints();
};

/// Copies items, as a device with memory of its own needs.
inline lv::vulkan_settings with_staging() {
  lv::vulkan_settings s;
  s.staging = true;
  return s;
}
/// The same through three queues, or as if there were three.
inline lv::vulkan_settings with_own_submissions() {
  lv::vulkan_settings s = with_staging();
  s.own_submissions = true;
  return s;
}

using box = lv::target<lv::cpu<2>, lv::vulkan<0>>;

/// The stage on the device.
template <class Stage>
auto there(Stage stage) {
  return lv::on<lv::vulkan<0>>(std::move(stage));
}

template <class T>
std::vector<T> random_items(std::size_t count, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::vector<T> items(count);
  for (T& item : items)
    for (auto& v : item)
      if constexpr (std::is_floating_point_v<typename T::value_type>)
        v = std::uniform_real_distribution<float>(-100, 100)(engine);
      else
        v = static_cast<typename T::value_type>(engine());
  return items;
}

/// The elements; what lies behind them in a tensor's last cache line means nothing.
template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(a.data(), b.data(), T::elements * sizeof(typename T::value_type)) == 0;
}

/// Every result is there, in order, with the bits of what `expected` says of its item.
template <class App, class Item, class Expected>
void check_stream(const App& app, const std::vector<Item>& items, Expected expected) {
  std::size_t at = 0, wrong = 0;
  for (const auto& r : app.stream(items)) {
    REQUIRE(r.has_value());
    wrong += !same_bits(*r, expected(items[at]));
    ++at;
  }
  CHECK(at == items.size());
  CHECK(wrong == 0);
}

}  // namespace spirv_test
