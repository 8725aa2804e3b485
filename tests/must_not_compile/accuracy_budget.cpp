// SPDX-License-Identifier: Apache-2.0
// error: quantized_stages_lose_more_accuracy_than_their_budget
// place: "conv"
// place: "fc"
// place: 700, 500
//
// Stages of integers that were measured to lose 0.7 points, where 0.5 are allowed.

#include <levada/backend/simd/detail/qlinear_conv2d.hpp>
#include <levada/backend/simd/detail/qlinear_dense.hpp>
#include <levada/backend/simd/detail/quantize_linear.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/quantize.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::stage_scale stages[] = {{"conv", {0.01f, 128}}, {"fc", {0.05f, 0}}};
#ifdef LEVADA_CORRECT
constexpr lv::scale_table table{"30 items", stages, 1000, 0.9, 0.897};
#else
constexpr lv::scale_table table{"30 items", stages, 1000, 0.9, 0.893};
#endif

int main() {
  const lv::parameter_map weights;
  auto p = lv::input<lv::tensor<float, 1, 8, 8>> |
           lv::quantize<std::int8_t>(lv::nn::conv2d<"conv", 4, lv::size<3>>(weights) | lv::nn::relu | lv::nn::flatten |
                                         lv::nn::dense<"fc", 10>(weights),
                                     lv::scales<table>);
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::budget<lv::memory<1_MiB>, lv::accuracy_loss<0.5_points>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  return 0;
}
