// SPDX-License-Identifier: Apache-2.0
// error: nothing_can_follow_a_sink
// place: "print"
// place: "more"
//
// Module output <- nothing: a stage behind a sink.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"more">([](int v) { return v; }) | lv::sink<"print">([](int) {});
#else
  auto p = lv::input<int> | lv::sink<"print">([](int) {}) | lv::stage<"more">([](int v) { return v; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
