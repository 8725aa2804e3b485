// SPDX-License-Identifier: Apache-2.0
// error: programs_on_several_machines_say_their_version
// place: version<\"1\">
//
// Both ends of a remote device compare the versions of their programs, and this one has none.

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  const auto by = std::make_shared<lv::in_process>();
  auto p = lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"twice">([](int v) { return 2 * v; }));
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box, lv::version<"1">>(p, lv::endpoints<"edge">{by, {"a"}});
#else
  auto app = lv::deploy<box>(p, lv::endpoints<"edge">{by, {"a"}});
#endif
  return app(21);
}
