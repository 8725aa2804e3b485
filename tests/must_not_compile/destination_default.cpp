// SPDX-License-Identifier: Apache-2.0
// error: output_of_a_destination_stage_has_no_default_constructor
// place: "make"
//
// A destination stage has to construct its output first.

#include <levada/levada.hpp>

namespace lv = levada;

struct number {
  explicit number(int v) : value(v) {}
  int value;
};

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"make">([](int v) { return number(v); });
#else
  auto p = lv::input<int> | lv::stage<"make", number>([](int v, number& out) { out = number(v); });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
