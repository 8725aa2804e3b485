// SPDX-License-Identifier: Apache-2.0
// error: stage_of_a_fleet_keeps_no_state_since_items_go_to_any_worker
// place: "edge"
// place: "sum"
//
// Each worker would have a sum of its own.

#include <levada/fleet/detail/device.hpp>
#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  using edge = lv::remote<"edge", lv::cpu<2>>;
#else
  using edge = lv::fleet<"edge", lv::cpu<2>>;
#endif
  const auto by = std::make_shared<lv::in_process>();
  auto p = lv::input<int> | lv::on<edge>(lv::stage<"twice">([](int v) { return 2 * v; }) |
                                         lv::stage<"sum">([n = 0](int v) mutable { return n += v; }));
  auto app = lv::deploy<lv::target<lv::cpu<2>, edge>, lv::version<"1">, lv::state_restarts>(
      p, lv::endpoints<"edge">{by, {"a"}});
  return app(21);
}
