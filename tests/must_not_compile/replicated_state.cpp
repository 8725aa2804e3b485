// SPDX-License-Identifier: Apache-2.0
// error: stage_that_takes_its_items_in_order_cannot_run_on_several_devices_at_once
// place: "count"
// place: equal_devices<2>
//
// A stage with a state, which takes its items in order, on two devices that take them in turn.

#include <levada/levada.hpp>

#include <levada/run/any_of.hpp>
#include <levada/run/simulated.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::replicate<2>(lv::stage<"plain">([](int v) { return v; })) |
           lv::stage<"count">([n = 0](int v) mutable { return v + ++n; });
#else
  auto p = lv::input<int> | lv::replicate<2>(lv::stage<"plain">([](int v) { return v; }) |
                                             lv::stage<"count">([n = 0](int v) mutable { return v + ++n; }));
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>, lv::any_of<lv::simulated<0>, lv::simulated<1>>>>(p);
  static_assert(decltype(app)::plan.segments >= 1);
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
}
