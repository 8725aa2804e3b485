// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "mean"
// place: "round"
//
// No arithmetic conversion between stages.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<float> | lv::stage<"mean">([](float x) { return x * 0.5f; }) |
           lv::stage<"round">([](float x) { return x; });
#else
  auto p = lv::input<float> | lv::stage<"mean">([](float x) { return x * 0.5; }) |
           lv::stage<"round">([](float x) { return x; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
