// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "max_pool2d"
// place: gives<levada::tensor<float, 3, 8, 8>
// place: wants<levada::expects<
//
// An op that does not take the shape it gets: a pool wider than the picture.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<lv::tensor<float, 3, 8, 8>> | lv::nn::relu | lv::nn::max_pool2d<8>;
#else
  auto p = lv::input<lv::tensor<float, 3, 8, 8>> | lv::nn::relu | lv::nn::max_pool2d<9>;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
