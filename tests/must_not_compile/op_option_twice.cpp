// SPDX-License-Identifier: Apache-2.0
// error: op_takes_each_option_once
// place: "conv1"
// place: groups<1>
// place: groups<3>
//
// Two numbers of groups would be added up; of two paddings the second would hold.

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const lv::parameter_map weights;
#ifdef LEVADA_CORRECT
  auto p = lv::input<lv::tensor<float, 3, 8, 8>> | lv::nn::conv2d<"conv1", 6, lv::size<3>, lv::groups<3>>(weights);
#else
  auto p = lv::input<lv::tensor<float, 3, 8, 8>> |
           lv::nn::conv2d<"conv1", 6, lv::size<3>, lv::groups<1>, lv::groups<3>>(weights);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  return static_cast<int>(session.counts().pushed);
}
