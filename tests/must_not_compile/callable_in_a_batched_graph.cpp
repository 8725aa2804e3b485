// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "relu"
// place: batch_tensor
// place: "first"
// place: wants<const levada::tensor<float, 4>
//
// A graph behind `batch` takes a batch of what its port declares. A callable inside takes the batch as one tensor, not
// each of its items.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
using vector = lv::tensor<float, 4>;

int main() {
  const auto model =
      lv::graph(lv::port<"x", vector>, lv::node<"relu", "x">(lv::nn::relu),
                lv::node<"first", "relu">([](const vector& v) { return v(0); }), lv::output<"y", "first">);
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<vector> | model);
#else
  auto app = lv::deploy<box>(lv::input<vector> | lv::batch<2> | model);
#endif
  return decltype(app)::plan.segments == 0;
}
