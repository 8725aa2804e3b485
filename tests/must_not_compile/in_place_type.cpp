// SPDX-License-Identifier: Apache-2.0
// error: in_place_stage_cannot_be_called_with_a_reference_to_the_item
// place: "scale"
//
// An in-place stage for another item.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<double> | lv::in_place<"scale">([](double& x) { x *= 2; });
#else
  auto p = lv::input<float> | lv::in_place<"scale">([](double& x) { x *= 2; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
