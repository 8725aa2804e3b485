// SPDX-License-Identifier: Apache-2.0
// error: session_has_no_such_option
// place: slots<4>
//
// A session has options of its own: its slots were decided with the plan.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  static_assert(decltype(app)::plan.segments == 1);
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::latest_only>();
#else
  auto session = app.open<lv::slots<4>>();
#endif
  session.push(1);
  return session.pop()->value();
}
