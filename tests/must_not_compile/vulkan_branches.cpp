// SPDX-License-Identifier: Apache-2.0
// error: stages_on_this_device_have_to_be_in_a_line
// place: "left"
// place: vulkan<0>
//
// Branches on a device that computes by itself, where a plan pins them.

#include <levada/backend/spirv.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<lv::tensor<float, 64>> | lv::nn::relu | lv::fork(lv::named<"left">(lv::nn::relu), lv::identity) |
           lv::join<"sum">([](const lv::tensor<float, 64>& a, const lv::tensor<float, 64>& b) { return a[0] + b[0]; });
#ifdef LEVADA_CORRECT
  using plan = lv::pinned<R"(levada plan 1: 8 slots | vulkan<0>: spirv("relu") | cpu: simd("left") "sum")">;
#else
  using plan = lv::pinned<R"(levada plan 1: 8 slots | vulkan<0>: spirv("relu") spirv("left") | cpu: "sum")">;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>, lv::vulkan<0>>, plan>(p);
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(app.open().counts().pushed);
}
