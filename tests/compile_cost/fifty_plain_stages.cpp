// SPDX-License-Identifier: Apache-2.0
// The plainest pipeline of fifty stages, deployed, called and streamed: what tools/compile_cost.py --report times.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

float run(const std::vector<float>& items) {
  // clang-format off
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<float>
      | lv::stage<"scale 1">([](const float& x) { return x * 1.0f + 1; })
      | lv::stage<"scale 2">([](const float& x) { return x * 2.0f + 1; })
      | lv::stage<"scale 3">([](const float& x) { return x * 3.0f + 1; })
      | lv::stage<"scale 4">([](const float& x) { return x * 4.0f + 1; })
      | lv::stage<"scale 5">([](const float& x) { return x * 5.0f + 1; })
      | lv::stage<"scale 6">([](const float& x) { return x * 6.0f + 1; })
      | lv::stage<"scale 7">([](const float& x) { return x * 7.0f + 1; })
      | lv::stage<"scale 8">([](const float& x) { return x * 8.0f + 1; })
      | lv::stage<"scale 9">([](const float& x) { return x * 9.0f + 1; })
      | lv::stage<"scale 10">([](const float& x) { return x * 10.0f + 1; })
      | lv::stage<"scale 11">([](const float& x) { return x * 11.0f + 1; })
      | lv::stage<"scale 12">([](const float& x) { return x * 12.0f + 1; })
      | lv::stage<"scale 13">([](const float& x) { return x * 13.0f + 1; })
      | lv::stage<"scale 14">([](const float& x) { return x * 14.0f + 1; })
      | lv::stage<"scale 15">([](const float& x) { return x * 15.0f + 1; })
      | lv::stage<"scale 16">([](const float& x) { return x * 16.0f + 1; })
      | lv::stage<"scale 17">([](const float& x) { return x * 17.0f + 1; })
      | lv::stage<"scale 18">([](const float& x) { return x * 18.0f + 1; })
      | lv::stage<"scale 19">([](const float& x) { return x * 19.0f + 1; })
      | lv::stage<"scale 20">([](const float& x) { return x * 20.0f + 1; })
      | lv::stage<"scale 21">([](const float& x) { return x * 21.0f + 1; })
      | lv::stage<"scale 22">([](const float& x) { return x * 22.0f + 1; })
      | lv::stage<"scale 23">([](const float& x) { return x * 23.0f + 1; })
      | lv::stage<"scale 24">([](const float& x) { return x * 24.0f + 1; })
      | lv::stage<"scale 25">([](const float& x) { return x * 25.0f + 1; })
      | lv::stage<"scale 26">([](const float& x) { return x * 26.0f + 1; })
      | lv::stage<"scale 27">([](const float& x) { return x * 27.0f + 1; })
      | lv::stage<"scale 28">([](const float& x) { return x * 28.0f + 1; })
      | lv::stage<"scale 29">([](const float& x) { return x * 29.0f + 1; })
      | lv::stage<"scale 30">([](const float& x) { return x * 30.0f + 1; })
      | lv::stage<"scale 31">([](const float& x) { return x * 31.0f + 1; })
      | lv::stage<"scale 32">([](const float& x) { return x * 32.0f + 1; })
      | lv::stage<"scale 33">([](const float& x) { return x * 33.0f + 1; })
      | lv::stage<"scale 34">([](const float& x) { return x * 34.0f + 1; })
      | lv::stage<"scale 35">([](const float& x) { return x * 35.0f + 1; })
      | lv::stage<"scale 36">([](const float& x) { return x * 36.0f + 1; })
      | lv::stage<"scale 37">([](const float& x) { return x * 37.0f + 1; })
      | lv::stage<"scale 38">([](const float& x) { return x * 38.0f + 1; })
      | lv::stage<"scale 39">([](const float& x) { return x * 39.0f + 1; })
      | lv::stage<"scale 40">([](const float& x) { return x * 40.0f + 1; })
      | lv::stage<"scale 41">([](const float& x) { return x * 41.0f + 1; })
      | lv::stage<"scale 42">([](const float& x) { return x * 42.0f + 1; })
      | lv::stage<"scale 43">([](const float& x) { return x * 43.0f + 1; })
      | lv::stage<"scale 44">([](const float& x) { return x * 44.0f + 1; })
      | lv::stage<"scale 45">([](const float& x) { return x * 45.0f + 1; })
      | lv::stage<"scale 46">([](const float& x) { return x * 46.0f + 1; })
      | lv::stage<"scale 47">([](const float& x) { return x * 47.0f + 1; })
      | lv::stage<"scale 48">([](const float& x) { return x * 48.0f + 1; })
      | lv::stage<"scale 49">([](const float& x) { return x * 49.0f + 1; })
      | lv::stage<"scale 50">([](const float& x) { return x * 50.0f + 1; }));
  // clang-format on
  float sum = app(items[0]);
  for (auto&& r : app.stream(items)) sum += *r;
  return sum;
}
