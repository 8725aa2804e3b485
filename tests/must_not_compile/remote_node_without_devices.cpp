// SPDX-License-Identifier: Apache-2.0
// error: node_needs_a_target_that_says_which_devices_it_has
// place: "edge"
//
// A node plans for its own devices.

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
#else
  using box = lv::target<lv::cpu<2>, lv::remote<"edge">>;
#endif
  const auto by = std::make_shared<lv::in_process>();
  auto p = lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"twice">([](int v) { return 2 * v; }));
  const auto node = lv::serve<box, "edge", lv::version<"1">>(p, {by, "a"});
  return static_cast<int>(node.sessions());
}
