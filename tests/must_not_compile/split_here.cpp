// SPDX-License-Identifier: Apache-2.0
// error: split_here_has_no_stage_on_one_side
//
// A split behind the last stage.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"a">([](int v) { return v; }) | lv::split_here |
           lv::stage<"b">([](int v) { return v; });
#else
  auto p = lv::input<int> | lv::stage<"a">([](int v) { return v; }) | lv::split_here;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
