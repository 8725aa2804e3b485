// SPDX-License-Identifier: Apache-2.0
// error: op_takes_each_option_once
// place: "max_pool2d"
// place: stride<1>
// place: stride<2>
//
// The number of a pool is its size where no option says one: that is no second size.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<lv::tensor<float, 3, 8, 8>> | lv::nn::max_pool2d<2, lv::size<2, 3>, lv::stride<2>>;
#else
  auto p = lv::input<lv::tensor<float, 3, 8, 8>> | lv::nn::max_pool2d<2, lv::stride<1>, lv::stride<2>>;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  return static_cast<int>(session.counts().pushed);
}
