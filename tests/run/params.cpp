// SPDX-License-Identifier: Apache-2.0
// Parameters replaced while an app runs: every item is of one version at all its stages, and of the one current when it
// was pushed.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>
#include <levada/run/simulated.hpp>

namespace run_params {

namespace lv = levada;

using box = lv::target<lv::cpu<2>, lv::simulated<0>>;
using vec = lv::tensor<float, 4>;
using square = lv::tensor<float, 4, 4>;

square diagonal(float value) {
  square w{};
  for (std::size_t i = 0; i < 4; ++i) w(i, i) = value;
  return w;
}
vec all_of(float value) {
  vec v;
  v.fill(value);
  return v;
}

/// The weights at first: the identity, and zeros.
struct first_weights {
  square weight = diagonal(1);
  vec bias = all_of(0);
  std::optional<lv::stored_tensor> find(std::string_view name) const {
    if (name.ends_with(".weight")) return lv::stored_tensor{lv::element::f32, lv::shape(4, 4), weight.data()};
    if (name.ends_with(".bias")) return lv::stored_tensor{lv::element::f32, lv::shape(4), bias.data()};
    return std::nullopt;
  }
};
const first_weights weights;

const auto scaled = [](const vec& v, const float& scale) {
  vec r = v;
  for (float& x : r) x *= scale;
  return r;
};

/// x -> (x * weight + bias) twice, then scaled; in segments, on a device, with stages of no group between.
auto pipeline() {
  return lv::input<vec> | lv::params<"head">(lv::nn::dense<"fc1", 4>(weights) | lv::nn::relu) | lv::split_here |
         lv::stage<"same">(+[](const vec& v) { return v; }) |
         lv::params<"head">(lv::on<lv::simulated<0>>(lv::nn::dense<"fc2", 4>(weights))) |
         lv::params<"output">(lv::stage<"scale">(lv::adjustable<"scale">(scaled, 1.0f)));
}

TEST_CASE("parameters are replaced, checked by name, and read back") {
  const auto app = lv::deploy<box>(pipeline());
  CHECK(app.stream(std::vector<vec>{all_of(3)}).begin()->value() == all_of(3));
  app.params<"head">().set<"fc1.weight", "fc2.bias">(diagonal(2), all_of(5));
  app.params<"output">().set<"scale">(10.0f);
  CHECK(app.stream(std::vector<vec>{all_of(3)}).begin()->value() == all_of(110));
  square weight;
  app.params<"head">().get<"fc1.weight">(weight);
  CHECK(weight == diagonal(2));
  app.params<"head">().get<"fc2.weight">(weight);
  CHECK(weight == diagonal(1));
  float scale = 0;
  app.params<"output">().get<"scale">(scale);
  CHECK(scale == 10.0f);
}

TEST_CASE("a call on the calling thread takes what is current; names without a stage where they are unique") {
  const auto app = lv::deploy<box>(lv::input<vec> | lv::params<"head">(lv::nn::dense<"fc", 4>(weights)) | lv::nn::relu |
                                   lv::params<"cut">(lv::stage<"cut">(lv::adjustable<"low", "high">(
                                       +[](const vec& v, const float& low, const float& high) {
                                         vec r = v;
                                         for (float& x : r) x = x < low ? low : x > high ? high : x;
                                         return r;
                                       },
                                       0.0f, 100.0f))));
  CHECK(app(all_of(7)) == all_of(7));
  app.params<"head">().set<"weight", "bias">(diagonal(3), all_of(1));
  CHECK(app(all_of(7)) == all_of(22));
  app.params<"cut">().set<"high">(20.0f);
  CHECK(app(all_of(7)) == all_of(20));
  app.params<"head">().set<"weight">(diagonal(-1));
  CHECK(app(all_of(7)) == all_of(0));
}

TEST_CASE("replaced under load, each item sees exactly one version on all its stages") {
  const auto app = lv::deploy<box, lv::slots<16>>(pipeline());
  constexpr int versions = 300;
  std::atomic<bool> over{false};
  std::atomic<int> set_to{0};
  std::jthread changer([&] {
    // Version v: the result of 1 is (v * 1 + 0) * 1 + v, times (v + 1): v * 2 * (v + 1).
    for (int v = 1; v <= versions; ++v) {
      const auto f = static_cast<float>(v);
      // All groups of a version have to change at once: that is what one `set` is for; the scale follows in another
      // version.
      app.params<"head">().set<"fc1.weight", "fc2.bias">(diagonal(f), all_of(f));
      set_to.store(v);
      std::this_thread::yield();
    }
    over.store(true);
  });
  auto session = app.open();
  std::jthread pusher([&] {
    while (!over.load()) session.push(all_of(1));
    session.push(all_of(1));
    session.close();
  });
  float last = 0;
  std::uint64_t items = 0;
  while (auto r = session.pop()) {
    const float y = (**r)[0];
    CHECK(**r == all_of(y));
    if (y != 1.0f) {  // before the first version: 1 * 1 + 0
      const float v = y / 2;
      CHECK(v == static_cast<float>(static_cast<int>(v)));
      CHECK(v >= last);
      last = v;
    }
    ++items;
  }
  CHECK(last == static_cast<float>(versions));
  CHECK(items > 0);
}

TEST_CASE("behind a change of the rate") {
  const auto app =
      lv::deploy<box>(lv::input<float> | lv::batch<4> | lv::stage<"tensor">(+[](const std::array<float, 4>& a) {
                        vec v;
                        for (std::size_t i = 0; i < 4; ++i) v[i] = a[i];
                        return v;
                      }) |
                      lv::params<"head">(lv::nn::dense<"fc", 4>(weights)));
  auto session = app.open();
  for (int i = 0; i < 4; ++i) session.push(1.0f);
  CHECK(**session.pop() == all_of(1));
  app.params<"head">().set<"bias">(all_of(4));
  for (int i = 0; i < 4; ++i) session.push(1.0f);
  CHECK(**session.pop() == all_of(5));
}

}  // namespace run_params
