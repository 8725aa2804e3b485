// SPDX-License-Identifier: Apache-2.0
// error: pipeline_starts_without_input_or_source
// place: "work"
//
// An input left undriven: neither an input nor a source feeds the first stage.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"work">([](int v) { return v; }) | lv::stage<"more">([](int v) { return v; });
#else
  auto p = lv::stage<"work">([](int v) { return v; }) | lv::stage<"more">([](int v) { return v; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
