// SPDX-License-Identifier: Apache-2.0
// error: split_after_names_no_stage
// place: <7, 2>
//
// An unknown node: a split after a stage that is not there.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::split_after<0> | lv::stage<"a">([](int v) { return v; }) |
           lv::stage<"b">([](int v) { return v; });
#else
  auto p = lv::input<int> | lv::split_after<0, 7> | lv::stage<"a">([](int v) { return v; }) |
           lv::stage<"b">([](int v) { return v; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
