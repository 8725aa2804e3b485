// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "batch"
// place: batch_tensor
// place: "fc"
//
// Behind `batch` an op takes each item as it would without: a dense layer needs them flat.

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  lv::parameter_map weights;
  lv::tensor<float, 2, 6> w;
  lv::tensor<float, 2> b;
  w.fill(1), b.fill(0);
  weights.set("fc.weight", w);
  weights.set("fc.bias", b);
  auto batches = lv::input<lv::tensor<float, 2, 3>> | lv::batch<4>;
#ifdef LEVADA_CORRECT
  auto p = batches | lv::nn::flatten | lv::nn::dense<"fc", 2>(weights) | lv::unbatch;
#else
  auto p = batches | lv::nn::dense<"fc", 2>(weights) | lv::unbatch;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push({});
  session.close();
  return static_cast<int>((*session.pop())->data()[0]);
}
