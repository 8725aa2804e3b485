// SPDX-License-Identifier: Apache-2.0
// error: destination_stage_cannot_be_called_with_input_and_output
// place: "resize"
//
// A destination stage whose output is another than stated.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"resize", double>([](int v, double& out) { out = v; });
#else
  auto p = lv::input<int> | lv::stage<"resize", float>([](int v, double& out) { out = v; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
