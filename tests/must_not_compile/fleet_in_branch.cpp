// SPDX-License-Identifier: Apache-2.0
// error: part_on_another_machine_stands_in_the_line_itself_not_in_a_branch_or_a_node
// place: "hall"
// place: "first"
//
// A part of a fleet in a branch of a fork.

#include <levada/fleet/detail/device.hpp>
#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  using hall = lv::cpu<2>;
#else
  using hall = lv::fleet<"hall", lv::cpu<2>>;
#endif
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  const auto by = std::make_shared<lv::in_process>();
  auto twice = [](int v) { return 2 * v; };
  auto p = lv::input<int> | lv::fork(lv::on<hall>(lv::stage<"first">(twice)), lv::identity) |
           lv::join<"sum">([](int a, int b) { return a + b; }) | lv::on<lv::remote<"edge">>(lv::stage<"last">(twice));
  auto app = lv::deploy<box, lv::version<"1">>(p, lv::endpoints<"edge">{by, {"a"}});
  return app(21);
}
