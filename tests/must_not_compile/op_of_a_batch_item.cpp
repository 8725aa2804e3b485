// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "batch"
// place: batch_tensor
// place: "pool"
//
// Behind `batch` an op takes each item as it would without: a pool needs three axes.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto batches = lv::input<lv::tensor<float, 2, 6>> | lv::batch<4>;
  constexpr auto pool = lv::named<"pool">(lv::nn::max_pool2d<2>);
#ifdef LEVADA_CORRECT
  auto p = batches | lv::nn::unsqueeze<0> | pool | lv::unbatch;
#else
  auto p = batches | pool | lv::unbatch;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push({});
  session.close();
  return static_cast<int>((*session.pop())->data()[0]);
}
