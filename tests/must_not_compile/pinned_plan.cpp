// SPDX-License-Identifier: Apache-2.0
// error: pinned_plan_names_another_stage
// place: "b"
// place: "c"
//
// A saved plan whose pipeline has changed since.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"a">([](int v) { return v; }) | lv::stage<"c">([](int v) { return v; });
#else
  auto p = lv::input<int> | lv::stage<"a">([](int v) { return v; }) | lv::stage<"b">([](int v) { return v; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::pinned<R"(levada plan 1: 64 slots | cpu: "a" "c")">>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
