// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "crop"
// place: "classify"
// place: tensor<float, 3, 8, 9>
//
// Shape mismatch between two stages.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"crop">([](int) { return lv::tensor<float, 3, 8, 8>{}; }) |
           lv::stage<"classify">([](const lv::tensor<float, 3, 8, 8>& t) { return t[0]; });
#else
  auto p = lv::input<int> | lv::stage<"crop">([](int) { return lv::tensor<float, 3, 8, 9>{}; }) |
           lv::stage<"classify">([](const lv::tensor<float, 3, 8, 8>& t) { return t[0]; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
