// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "cell"
// place: tensor<float, 4>
//
// The initial state is not one of this cell.

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;

int main() {
  using item = lv::tensor<float, 3>;
  const lv::parameter_map weights;
#ifdef LEVADA_CORRECT
  const lv::tensor<float, 8> initial{};
#else
  const lv::tensor<float, 4> initial{};
#endif
  auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<item> | lv::feedback<"h">(lv::nn::gru<"cell", 8>(weights), initial));
  return app(item{})[0] > 0;
}
