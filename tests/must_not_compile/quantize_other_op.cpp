// SPDX-License-Identifier: Apache-2.0
// error: this_stage_has_no_form_of_integers
// place: "softmax"
//
// A softmax between two layers that are to be computed with integers.

#include <levada/backend/simd/detail/qlinear_dense.hpp>
#include <levada/backend/simd/detail/quantize_linear.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/quantize.hpp>

namespace lv = levada;

int main() {
  const lv::parameter_map weights;
#ifdef LEVADA_CORRECT
  auto part = lv::nn::dense<"a", 5>(weights) | lv::nn::relu | lv::nn::dense<"b", 5>(weights) | lv::nn::softmax;
#else
  auto part = lv::nn::dense<"a", 5>(weights) | lv::nn::softmax | lv::nn::dense<"b", 5>(weights);
#endif
  auto p = lv::input<lv::tensor<float, 20>> | lv::quantize<std::int8_t>(part, lv::to_calibrate);
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  return 0;
}
