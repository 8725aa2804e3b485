// SPDX-License-Identifier: Apache-2.0
// error: quantized_stages_have_no_measured_accuracy_calibrate_with_labelled_items
// place: "fc"
//
// A bound on what nobody has measured.

#include <levada/backend/simd/detail/qlinear_dense.hpp>
#include <levada/backend/simd/detail/quantize_linear.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/quantize.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::stage_scale stages[] = {{"fc", {0.05f, 0}}};
#ifdef LEVADA_CORRECT
constexpr lv::scale_table table{"30 items", stages, 1000, 0.9, 0.9};
#else
constexpr lv::scale_table table{"30 items", stages};
#endif

int main() {
  const lv::parameter_map weights;
  auto p =
      lv::input<lv::tensor<float, 20>> | lv::quantize<std::int8_t>(lv::nn::dense<"fc", 10>(weights), lv::scales<table>);
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::budget<lv::accuracy_loss<1_points>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  return 0;
}
