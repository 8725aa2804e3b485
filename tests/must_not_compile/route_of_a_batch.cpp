// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "batch"
// place: "parity"
// place: "items, but no batch of tensors"
//
// The items of a batch may not go different ways.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
using vector = lv::tensor<float, 4>;
constexpr auto is_positive = [](const vector& v) { return v(0) > 0; };

int main() {
#ifdef LEVADA_CORRECT
  auto app =
      lv::deploy<box>(lv::input<vector> | lv::route<"parity">(is_positive, lv::nn::relu, lv::identity) | lv::batch<2>);
#else
  auto app =
      lv::deploy<box>(lv::input<vector> | lv::batch<2> | lv::route<"parity">(is_positive, lv::nn::relu, lv::identity));
#endif
  return 0;
}
