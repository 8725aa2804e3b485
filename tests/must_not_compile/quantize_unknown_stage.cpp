// SPDX-License-Identifier: Apache-2.0
// error: scales_are_of_another_pipeline_calibrate_again
// place: "b"
//
// Scales in which a layer is missing.

#include <levada/backend/simd/detail/qlinear_dense.hpp>
#include <levada/backend/simd/detail/quantize_linear.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/quantize.hpp>

namespace lv = levada;

#ifdef LEVADA_CORRECT
constexpr lv::stage_scale stages[] = {{"a", {0.05f, 0}}, {"b", {0.05f, 0}}};
#else
constexpr lv::stage_scale stages[] = {{"a", {0.05f, 0}}, {"c", {0.05f, 0}}};
#endif
constexpr lv::scale_table table{"30 items", stages};

int main() {
  const lv::parameter_map weights;
  auto p = lv::input<lv::tensor<float, 20>> |
           lv::quantize<std::int8_t>(lv::nn::dense<"a", 5>(weights) | lv::nn::relu | lv::nn::dense<"b", 5>(weights),
                                     lv::scales<table>);
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  return 0;
}
