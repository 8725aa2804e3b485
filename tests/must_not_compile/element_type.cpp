// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "decode"
// place: "scale"
// place: gives<levada::tensor<double, 4>
// place: wants<const levada::tensor<float, 4>
//
// Element type mismatch: a double picture into a float stage (TVM computes garbage).

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"decode">([](int) { return lv::tensor<float, 4>{}; }) |
           lv::stage<"scale">([](const lv::tensor<float, 4>& t) { return t[0]; });
#else
  auto p = lv::input<int> | lv::stage<"decode">([](int) { return lv::tensor<double, 4>{}; }) |
           lv::stage<"scale">([](const lv::tensor<float, 4>& t) { return t[0]; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
