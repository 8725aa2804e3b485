// SPDX-License-Identifier: Apache-2.0
// error: deploy_option_is_not_for_a_pipeline_that_changes_its_rate
// place: pinned
//
// A saved plan is that of one rate region.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::repeat<2> | lv::stage<"one">([](const int& x) { return x + 1; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<8>>(p);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::pinned<"levada plan 1">>(p);
#endif
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
}
