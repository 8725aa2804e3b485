// SPDX-License-Identifier: Apache-2.0
// error: generic_stage_returns_nothing_write_in_place_or_sink
// place: "log"
//
// A generic lambda that returns nothing: in place or a sink has to be said.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::sink<"log">([](const auto&) {});
#else
  auto p = lv::input<int> | lv::stage<"log">([](const auto&) {});
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
