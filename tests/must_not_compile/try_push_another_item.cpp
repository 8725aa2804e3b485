// SPDX-License-Identifier: Apache-2.0
// error: pipeline_takes_another_item
// place: int
// place: char
//
// A session is offered an item of another type.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  auto session = app.open();
#ifdef LEVADA_CORRECT
  const bool taken = session.try_push(4);
#else
  const bool taken = session.try_push("four");
#endif
  session.close();
  return taken ? session.pop()->value() : app(3);
}
