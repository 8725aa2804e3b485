// SPDX-License-Identifier: Apache-2.0
// error: source_does_not_return_an_optional_item
// place: "camera"
//
// A source without an end.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"work">([](int v) { return v; });
#else
  auto p = lv::source<"camera">([] { return 1; }) | lv::stage<"work">([](int v) { return v; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
