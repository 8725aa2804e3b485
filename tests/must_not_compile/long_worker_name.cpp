// SPDX-License-Identifier: Apache-2.0
// error: name_of_a_worker_has_15_characters_at_most
// place: "detector workers"
//
// The system keeps no more of a thread's name.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::stage<"a">([](const int& x) { return x; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::worker_name<"detector worker">>(p);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::worker_name<"detector workers">>(p);
#endif
  static_assert(decltype(app)::plan.segments == 1);
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
}
