// SPDX-License-Identifier: Apache-2.0
// error: plan_needs_more_memory_than_its_budget
// place: slots<64>, levada::bytes_of_a_slot<
// place: slots_that_fit<1>
// place: "grow"
//
// A plan over its memory budget, with the stage that takes most.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"small">([](int v) { return v; }) |
           lv::stage<"grow">([](int) { return lv::tensor<float, 10>{}; });
#else
  auto p = lv::input<int> | lv::stage<"small">([](int v) { return v; }) |
           lv::stage<"grow">([](int) { return lv::tensor<float, 100, 100>{}; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::budget<lv::memory<64 << 10>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
