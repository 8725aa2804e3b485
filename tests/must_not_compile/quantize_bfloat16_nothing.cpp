// SPDX-License-Identifier: Apache-2.0
// error: nothing_to_quantize_there_is_no_conv2d_and_no_dense
//
// A part without weights that is to be computed with bfloat16.

#include <levada/backend/simd/detail/bfloat16_dense.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/quantize_bfloat16.hpp>

namespace lv = levada;

int main() {
  const lv::parameter_map weights;
#ifdef LEVADA_CORRECT
  auto part = lv::nn::dense<"a", 5>(weights) | lv::nn::relu | lv::nn::softmax;
#else
  auto part = lv::nn::relu | lv::nn::softmax;
#endif
  auto p = lv::input<lv::tensor<float, 20>> | lv::quantize<lv::bfloat16>(part);
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  return 0;
}
