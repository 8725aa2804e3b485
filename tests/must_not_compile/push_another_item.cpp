// SPDX-License-Identifier: Apache-2.0
// error: pipeline_takes_another_item
// place: wants<int>
// place-gcc: gives<char [5]>
// place-clang: gives<char[5]>
//
// A session is given an item of another type. Re-enacts "module input <- something else" at run time.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  auto session = app.open();
#ifdef LEVADA_CORRECT
  session.push(4);
#else
  session.push("four");
#endif
  session.close();
  return session.pop()->value() + app(3);
}
