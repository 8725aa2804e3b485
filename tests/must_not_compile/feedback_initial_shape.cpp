// SPDX-License-Identifier: Apache-2.0
// error: feedback_body_takes_another_state_than_the_initial_one
// place: "h"
// place-gcc: wants<tensor<float, 4>
// place-gcc: gives<tensor<float, 5>
// place-clang: wants<levada::tensor<float, 4>
// place-clang: gives<levada::tensor<float, 5>
//
// A port states what the state is.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  using hidden = lv::tensor<float, 4>;
  const auto cell = lv::join<"cell">([](const float& x, const hidden& h) { return x > 0 ? h : hidden{}; });
  const auto body =
      lv::graph(lv::port<"x", float>, lv::port<"h", hidden>, lv::node<"a", "x", "h">(cell), lv::output<"y", "a">);
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<float> | lv::feedback<"h">(body, hidden{}));
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<float> | lv::feedback<"h">(body, lv::tensor<float, 5>{}));
#endif
  return app(1)[0] > 0;
}
