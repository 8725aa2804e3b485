// SPDX-License-Identifier: Apache-2.0
// error: nothing_to_quantize_there_is_no_conv2d_and_no_dense
//
// A graph of sums and relus, without weights, that is to be computed with bfloat16.

#include <levada/backend/simd/quantized.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/quantize_bfloat16.hpp>

namespace lv = levada;

int main() {
  using numbers = lv::tensor<float, 20>;
  const lv::parameter_map weights;
#ifdef LEVADA_CORRECT
  auto first = lv::nn::dense<"a", 20>(weights);
#else
  auto first = lv::nn::relu;
#endif
  auto p = lv::quantize<lv::bfloat16>(lv::graph(lv::port<"x", numbers>, lv::node<"a", "x">(first),
                                                lv::node<"sum", "a", "x">(lv::nn::add), lv::output<"y", "sum">));
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  return 0;
}
