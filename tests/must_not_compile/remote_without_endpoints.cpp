// SPDX-License-Identifier: Apache-2.0
// error: part_on_another_machine_needs_the_endpoints_of_its_device
// place: "hall"
//
// Two machines, and the addresses of one.

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>, lv::remote<"hall", lv::cpu<2>>>;
  const auto by = std::make_shared<lv::in_process>();
  auto twice = [](int v) { return 2 * v; };
  auto p = lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"first">(twice)) |
           lv::on<lv::remote<"hall">>(lv::stage<"last">(twice));
  const lv::endpoints<"edge"> edge{by, {"a"}};
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::version<"1">>(p, edge, lv::endpoints<"hall">{by, {"b"}});
#else
  auto app = lv::deploy<box, lv::version<"1">>(p, edge);
#endif
  return app(21);
}
