// SPDX-License-Identifier: Apache-2.0
// error: stage_on_another_machine_loses_its_state_with_it_say_state_restarts
// place: "edge"
// place: "sum"
//
// The sum begins anew where its node is lost.

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  const auto by = std::make_shared<lv::in_process>();
  auto p = lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"twice">([](int v) { return 2 * v; }) |
                                                       lv::stage<"sum">([n = 0](int v) mutable { return n += v; }));
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::version<"1">, lv::state_restarts>(p, lv::endpoints<"edge">{by, {"a"}});
#else
  auto app = lv::deploy<box, lv::version<"1">>(p, lv::endpoints<"edge">{by, {"a"}});
#endif
  return app(21);
}
