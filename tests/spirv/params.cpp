// SPDX-License-Identifier: Apache-2.0
// Parameters replaced while an app runs whose model is computed by a Vulkan device, in part: every item is of one
// version at all its stages, wherever they are.

#include <atomic>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include <run/watchdog.hpp>
#include <soak.hpp>

#include "device.hpp"

namespace spirv_params {

using namespace spirv_test;

using vec = lv::tensor<float, 4>;
using square = lv::tensor<float, 4, 4>;

square diagonal(float value) {
  square w{};
  for (std::size_t i = 0; i < 4; ++i) w(i, i) = value;
  return w;
}
/// `value` at one place, zeros at the others.
vec at_place(std::size_t i, float value) {
  vec v{};
  v[i] = value;
  return v;
}

/// At first the identity, and zeros.
struct first_weights {
  square weight = diagonal(1);
  vec bias{};
  std::optional<lv::stored_tensor> find(std::string_view name) const {
    if (name.ends_with(".weight")) return lv::stored_tensor{lv::element::f32, lv::shape(4, 4), weight.data()};
    return lv::stored_tensor{lv::element::f32, lv::shape(4), bias.data()};
  }
};
const first_weights weights;

/// Each layer may add to the numbers before it: two on the processor, three on the device in two segments, two of them
/// in one.
auto model() {
  return lv::input<vec> |
         lv::params<"model">(lv::nn::dense<"a", 4>(weights) | there(lv::nn::dense<"b", 4>(weights) | lv::nn::relu) |
                             there(lv::nn::dense<"c", 4>(weights)) | lv::stage<"same">([](const vec& v) { return v; }) |
                             there(lv::nn::dense<"d", 4>(weights)));
}

/// Of version `v`: every layer adds it at a place of its own.
void replace_all(const auto& app, float v) {
  app.template params<"model">().template set<"a.bias", "b.bias", "c.bias", "d.bias">(at_place(0, v), at_place(1, v),
                                                                                      at_place(2, v), at_place(3, v));
}

/// All layers were of one version: which; else -1.
float version_of(const vec& v) {
  for (const float x : v)
    if (x != v[0]) return -1;
  return v[0];
}

/// Items of alternating versions in flight, with and without timestamps: each is of the version that was current when
/// it was pushed.
void push_and_replace(const lv::vulkan_settings& settings) {
  const device_settings<0> as(settings);
  const auto app = lv::deploy<box, lv::slots<4>>(model());
  auto session = app.open();
  float pushed = 0, popped = 0;
  for (int round = 0; round < 6; ++round) {
    session.measure(round % 3 == 1);
    for (int i = 0; i < 4; ++i) {
      session.push(vec{});
      if (i % 2 == 0) replace_all(app, ++pushed);
    }
    for (int i = 0; i < 4; ++i) {
      CHECK(version_of(**session.pop()) == popped);
      if (i % 2 == 0) ++popped;
    }
  }
}

void push_and_replace_all_ways() {
  push_and_replace({});
  push_and_replace(with_staging());
  push_and_replace(with_own_submissions());
}

TEST_CASE("items are of the version that was current when they were pushed, on a device too") {
  LEVADA_NEEDS_DEVICE();
  push_and_replace_all_ways();
}

TEST_CASE("what was replaced on a device is read back, called, and the same for all sessions") {
  LEVADA_NEEDS_DEVICE();
  const auto app = lv::deploy<box>(model());
  app.params<"model">().set<"b.weight", "d.bias">(diagonal(3), at_place(2, 5));
  square weight;
  app.params<"model">().get<"b.weight">(weight);
  CHECK(weight == diagonal(3));
  vec bias;
  app.params<"model">().get<"c.bias">(bias);
  CHECK(bias == vec{});
  vec one;
  one.fill(1);
  vec expected;
  expected.fill(3);
  expected[2] = 8;
  CHECK(app(one) == expected);
  for (const auto& r : app.stream(std::vector<vec>(5, one))) CHECK(*r == expected);
}

TEST_CASE("replaced under load, each item sees exactly one version on all its stages, on both sides") {
  LEVADA_NEEDS_DEVICE();
  const int versions = 100 * lv::test::soak_scale();
  const auto app = lv::deploy<box, lv::slots<16>>(model());
  auto session = app.open();
  std::atomic<bool> over{false};
  std::jthread changer([&] {
    for (int v = 1; v <= versions; ++v) replace_all(app, static_cast<float>(v));
    over.store(true);
  });
  std::jthread pusher([&] {
    while (!over.load()) session.push(vec{});
    session.push(vec{});
    session.close();
  });
  float last = 0;
  std::size_t mixed = 0, backwards = 0;
  while (auto r = session.pop()) {
    REQUIRE(r->has_value());
    const float v = version_of(**r);
    mixed += v < 0;
    backwards += v < last;
    last = v;
  }
  CHECK(mixed == 0);
  CHECK(backwards == 0);
  CHECK(last == static_cast<float>(versions));
}

TEST_CASE("where the processor takes the device's place its parameters are replaced") {
  const device_settings<0> as([] {
    lv::vulkan_settings s;
    s.device = "a device of another name";
    return s;
  }());
  const auto app = lv::deploy<box, lv::cpu_fallback>(model());
  replace_all(app, 7);
  CHECK(version_of(app(vec{})) == 7);
}

TEST_CASE("the validation layer has nothing to say of it") {
  LEVADA_NEEDS_DEVICE();
  setenv("LEVADA_VULKAN_VALIDATION", "1", 1);
  if (const std::string why = why_no_device(); why.empty()) {
    const std::uint64_t before = lv::vulkan_complaints();
    push_and_replace_all_ways();
    CHECK(lv::vulkan_complaints() == before);
  } else {
    MESSAGE("not tested: ", why);
  }
  unsetenv("LEVADA_VULKAN_VALIDATION");
}

}  // namespace spirv_params
