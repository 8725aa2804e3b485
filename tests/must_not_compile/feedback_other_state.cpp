// SPDX-License-Identifier: Apache-2.0
// error: feedback_body_gives_another_state_than_the_initial_one
// place: "h"
// place: "cell"
// place: gives<levada::tensor<float, 8>
// place: wants<levada::tensor<float, 4>
//
// The body takes the state that it begins with, and gives another.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  using small = lv::tensor<float, 4>;
  using large = lv::tensor<float, 8>;
#ifdef LEVADA_CORRECT
  const auto cell = lv::join<"cell">([](const float& x, const small& h) { return x > 0 ? h : small{}; });
#else
  const auto cell = lv::join<"cell">([](const float& x, const small& h) { return x > h[0] ? large{} : large{}; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<float> | lv::feedback<"h">(cell, small{}));
  return app(1)[0] > 0;
}
