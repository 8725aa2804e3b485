// SPDX-License-Identifier: Apache-2.0
// error: only_a_stage_that_leaves_its_item_as_it_is_can_be_retried
// place: "add"
//
// A stage that changes its item in place may have changed it before it threw.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"add">(lv::retry<2>([](const int& v) { return v + 1; }));
#else
  auto p = lv::input<int> | lv::stage<"add">(lv::retry<2>([](int& v) { ++v; }));
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
